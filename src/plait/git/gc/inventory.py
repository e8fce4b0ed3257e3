"""Lists what plait left in a repository and on disk: worktrees, batch folders, locks, trash, setup caches, branches and refs.

Changes nothing.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.gc.broken_refs import find_broken_refs
from plait.git.gc.removal_rules import (
    BranchItem,
    BrokenRefItem,
    GcBatch,
    PathItem,
    PathKind,
    RefItem,
    WorktreeItem,
    WorktreeUse,
)
from plait.git.refs import is_plait_branch, parse_batch_branch, ref_component, task_branch
from plait.git.worktrees.metadata import (
    is_real_folder,
    read_gitdir_link,
    read_lease,
    read_small_file,
    read_worktree_path,
)
from plait.git.worktrees.worktree import SIDE_MARK, Repository, WorkspaceLayout, find_other_owner, list_children
from plait.system.disk import tree_size
from plait.system.flock import is_folder_locked
from plait.system.state_paths import StateFolder

BRANCH_PREFIX = "refs/heads/"
REMOTE_PREFIX = "refs/remotes/"
PLAIT_PREFIX = "refs/plait/"


def seconds_since_change(path: Path) -> float:
    """Return the seconds since a path was changed; 0 for a path that does not exist."""
    try:
        return max(0.0, time.time() - path.lstat().st_mtime)
    except OSError:
        return 0.0


ProcessFinder = Callable[[Path], tuple[int, ...]]


def make_process_finder() -> ProcessFinder:
    """Make a function that finds the processes whose current folder is inside a given one, as far as this user may see."""
    processes = [(pid, cwd) for pid, cwd in _list_process_folders() if pid != os.getpid()]

    def find_processes(folder: Path) -> tuple[int, ...]:
        real = os.path.realpath(folder)
        return tuple(pid for pid, cwd in processes if cwd == real or cwd.startswith(f"{real}{os.sep}"))

    return find_processes


def _list_process_folders() -> Iterator[tuple[int, str]]:
    """Yield every process id with its current folder."""
    if sys.platform == "linux":
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal():
                with suppress(OSError):
                    yield int(entry.name), os.readlink(f"/proc/{entry.name}/cwd")  # noqa: PTH115 - a string is wanted
    else:
        import psutil  # costs a moment, and only where there is no /proc

        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                yield process.pid, process.cwd()


_JUST_MADE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class InventoryContext:
    """What the inventory reads from. `names` are the ids of the batches by the names of their folders."""

    repository: Repository
    layout: WorkspaceLayout
    batches: Mapping[str, GcBatch]
    names: Mapping[str, str]
    find_processes: ProcessFinder


def list_worktrees(context: InventoryContext) -> list[WorktreeItem]:
    """List the worktree folders, and those that only their gitdirs name."""
    recorded = {
        path: gitdir
        for gitdir in context.repository.worktree_gitdirs
        if (path := read_worktree_path(gitdir)) is not None
    }
    trash = context.layout.trash
    worktrees = {folder: recorded.get(folder) for folder in context.layout.list_all() if folder.parent != trash}
    worktrees |= recorded
    return [_inspect_worktree(context, folder, gitdir) for folder, gitdir in worktrees.items()]


def inspect_again(context: InventoryContext, item: WorktreeItem) -> WorktreeItem | None:
    """Return the same item as it is now; None if it no longer exists."""
    folder, entry = Path(item.path), context.repository.worktree_gitdir(item.entry)
    gitdir = entry if item.entry and read_worktree_path(entry) == folder else None
    if gitdir is None and not os.path.lexists(folder):
        return None
    return _inspect_worktree(context, folder, gitdir)


def _inspect_worktree(context: InventoryContext, folder: Path, gitdir: Path | None) -> WorktreeItem:
    # What is in the trash counts as removed, deleted or not.
    exists = os.path.lexists(folder) and folder.parent != context.layout.trash
    use, batch, task = _find_lease(context, folder, gitdir)
    return WorktreeItem(
        str(folder),
        use,
        batch,
        task,
        entry=gitdir.name if gitdir is not None else "",
        exists=exists,
        size=sum(tree_size(path) for path in (folder if exists else None, gitdir) if path is not None),
        locked=_read_lock_reason(gitdir),
        pids=context.find_processes(folder) if exists else (),
        making=use is WorktreeUse.MAKING and exists and _is_being_made(folder),
        unsaved=use in {WorktreeUse.TASK, WorktreeUse.POOL} and _is_unsaved(context.repository, folder, gitdir),
        parent_missing=not exists and not folder.parent.parent.is_dir(),
        age=seconds_since_change(folder) if exists else seconds_since_change(gitdir or folder),
        owner=find_other_owner(context.repository.common, folder),
    )


def _find_lease(context: InventoryContext, folder: Path, gitdir: Path | None) -> tuple[WorktreeUse, str, str]:
    """Return a worktree's use, batch and task, judged by its path; if its lease names another batch that is not over,
    the lease counts.
    """
    lease = read_lease(gitdir) if gitdir is not None else None
    parent = folder.parent.name
    if parent == context.layout.pool.name:
        return WorktreeUse.POOL, "", ""
    if parent in {context.layout.making.name, context.layout.trash.name}:
        return WorktreeUse.MAKING, "", ""
    name = context.layout.batch_folder_name(folder.parent)
    batch = context.names.get(name, name)
    if lease is not None and (leased_by := context.batches.get(lease.batch)) is not None and not leased_by.is_over:
        batch = lease.batch
    if folder.name == "gate":
        return WorktreeUse.GATE, batch, ""
    if SIDE_MARK in folder.name:
        return WorktreeUse.SIDE, batch, ""
    return WorktreeUse.TASK, batch, lease.task if lease is not None else folder.name.removeprefix("task-")


def _read_lock_reason(gitdir: Path | None) -> str | None:
    if gitdir is None or not os.path.lexists(gitdir / "locked"):
        return None
    return read_small_file(gitdir / "locked").strip()


def _is_being_made(folder: Path) -> bool:
    """Whether the worktree's maker holds a lock on it. In the first minute the lock is not tested but assumed, so as
    not to take it from the maker.
    """
    if seconds_since_change(folder) < _JUST_MADE_SECONDS:
        return True
    try:
        return is_folder_locked(folder)
    except OSError:
        return True


def _is_unsaved(repository: Repository, folder: Path, gitdir: Path | None) -> bool:
    """Whether a worktree may have unsaved work. True when in doubt: saving before removal finds out."""
    if gitdir is None:
        return any(list_children(folder)) if is_real_folder(folder) else False
    try:
        git = repository.git_at(gitdir, folder if is_real_folder(folder) else gitdir)
        head = git.resolve_commit("HEAD")
        if head and git.text("rev-list", "--ignore-missing", "-1", head, "--not", "--glob=refs/*"):
            return True
        if not is_real_folder(folder):
            return False
        return bool(git.run("status", "--porcelain", "-z", "--ignore-submodules=none").out)
    except (GitError, OSError):
        return True


TRASH_FOLDER = "trash"
_ABANDONED_SECONDS = 3600.0  # temporary folders are in use for moments only


def list_batch_folders(folder: StateFolder, names: Mapping[str, str]) -> Iterator[PathItem]:
    """Yield the batch folders and their transcripts. `names` are the ids of the batches by the names of their folders."""
    for path in list_children(folder.batches):
        batch, tasks_folder = names.get(path.name, path.name), path / "tasks"
        has_transcripts, tasks_size = tasks_folder.is_dir(), tree_size(tasks_folder)
        if has_transcripts:
            yield PathItem(PathKind.TRANSCRIPTS, str(tasks_folder), batch, tasks_size)
        size, age = max(0, tree_size(path) - tasks_size), seconds_since_change(path)
        yield PathItem(PathKind.BATCH_FOLDER, str(path), batch, size, age, has_transcripts)


def list_locks(repository: Repository, names: RefNames) -> Iterator[PathItem]:
    common = repository.common
    for path in chain((common / "refs/heads/plait").rglob("*.lock"), (common / "refs/plait").rglob("*.lock")):
        name = path.relative_to(common).as_posix().removesuffix(".lock")
        batch, _ = names.branches.get(name.removeprefix(BRANCH_PREFIX), ("", ""))
        batch = batch or names.find_batch(name)
        yield PathItem(PathKind.LOCK, str(path), batch, age=seconds_since_change(path))
    for gitdir in repository.worktree_gitdirs:
        lease = read_lease(gitdir)
        for path in gitdir.glob("*.lock"):
            batch = lease.batch if lease is not None else ""
            yield PathItem(PathKind.LOCK, str(path), batch, age=seconds_since_change(path))


def list_trash(trash: Path, parent: Path, prefix: str) -> Iterator[PathItem]:
    """Yield what is in a trash folder, and folders called `prefix`… that a killed process left."""
    leftovers = (path for path in list_children(parent) if path.name.startswith(prefix))
    abandoned = (path for path in leftovers if seconds_since_change(path) > _ABANDONED_SECONDS)
    for path in (*list_children(trash), *abandoned):
        yield PathItem(PathKind.TRASH, str(path), size=tree_size(path))


def list_setup_caches(layout: WorkspaceLayout) -> Iterator[PathItem]:
    caches = [cache for cache in list_children(layout.setups) if cache.is_dir()]
    if caches:
        age = min(seconds_since_change(cache) for cache in caches)
        yield PathItem(PathKind.SETUPS, str(layout.setups), size=tree_size(layout.setups), age=age)


def list_lost_repositories(location: Path) -> Iterator[PathItem]:
    """Yield the folders in which every worktree names a repository that no longer exists."""
    for root in filter(is_real_folder, list_children(location)):
        found = (_find_repository(each) for each in WorkspaceLayout(root).list_all() if is_real_folder(each))
        repositories = {each for each in found if each is not None}
        if repositories and not any(os.path.lexists(each) for each in repositories):
            size = tree_size(root)
            yield PathItem(PathKind.LOST_WORKSPACES, str(root), size=size, repository=str(min(repositories)))


def _find_repository(folder: Path) -> Path | None:
    """Return the repository that the folder's `.git` names by <common>/worktrees/<id>; None if it names none."""
    gitdir = read_gitdir_link(folder)
    return gitdir.parent.parent if gitdir is not None and gitdir.parent.name == "worktrees" else None


_USER_PREFIXES = (BRANCH_PREFIX, REMOTE_PREFIX, "refs/tags/")  # without stashes


@dataclass(frozen=True, slots=True)
class RefNames:
    """Finds the batch and task of a ref name. An unknown batch is read from the name."""

    branches: Mapping[str, tuple[str, str]]
    components: Mapping[str, str]
    batches: Mapping[str, GcBatch]

    @classmethod
    def from_batches(cls, batches: Mapping[str, GcBatch]) -> RefNames:
        branches = {batch.branch: (batch.id, "") for batch in batches.values() if batch.branch}
        for batch in batches.values():
            branches |= {task_branch(batch.id, task): (batch.id, task) for task in batch.tasks}
        return cls(branches, {ref_component(batch): batch for batch in batches}, batches)

    def find_batch(self, ref: str) -> str:
        """Return the batch in refs/plait/attempts/<batch>/…; if it is unknown, its part of the name."""
        parts = ref.split("/")
        part = parts[3] if ref.startswith(PLAIT_PREFIX) and len(parts) > 3 else ""
        return self.components.get(part, part)

    def find_batch_and_task_of_ref(self, ref: str) -> tuple[str, str]:
        """Return the batch and task of a branch or of a ref under refs/plait; if the task is unknown, its part of the
        name.
        """
        if ref.startswith(BRANCH_PREFIX):
            return self.find_batch_and_task(ref.removeprefix(BRANCH_PREFIX))
        return self.find_batch(ref), (ref.split("/")[4:5] or [""])[0]

    def find_batch_and_task(self, name: str) -> tuple[str, str]:
        """Return the batch and task of a branch; both are empty for an unknown task branch."""
        return self.branches.get(name) or (parse_batch_branch(name), "")


def list_refs(git: Git) -> dict[str, str]:
    """Return every ref of the repository that leads to a commit, with that commit. Refs whose commits are missing are
    left out.
    """
    names = [name for name in git.text("for-each-ref", "--format=%(refname)").split("\n") if name]
    # for-each-ref fails if it has to read an object that is missing.
    feed = "".join(f"{name}^{{commit}}\n" for name in names).encode()
    rows = git.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=feed).text.splitlines()
    return {name: row.removesuffix(" commit") for name, row in zip(names, rows, strict=True) if row.endswith(" commit")}


def find_unreachable(git: Git, tips: Collection[str], others: Iterable[str]) -> set[str]:
    """Return the tips that none of the others contains."""
    if not tips:
        return set()
    revisions = "\n".join([*sorted(tips), *(f"^{other}" for other in sorted(set(others)))])
    # One walk for all tips: rev-list prints only what the others do not reach.
    listed = git.run("rev-list", "--stdin", stdin=f"{revisions}\n".encode()).text.split()
    return set(tips) & set(listed)


def list_branches_and_refs(repository: Repository, names: RefNames) -> Iterator[BranchItem | RefItem | BrokenRefItem]:
    """Yield broken refs and branches first, then plait's branches, then the refs under refs/plait."""
    git = repository.git
    broken = {ref.name: ref for ref in find_broken_refs(repository)}
    checkouts = find_checkouts(git)
    for each in broken.values():
        batch, task = names.find_batch_and_task_of_ref(each.name)
        yield BrokenRefItem(each.name, each.tip, batch, task, each.missing, checkouts.get(each.name, ""))
    all_tips = {name: tip for name, tip in list_refs(git).items() if name not in broken}
    branches = {name: tip for name, tip in all_tips.items() if _is_local_plait_branch(name)}
    refs = {name: tip for name, tip in all_tips.items() if name.startswith(PLAIT_PREFIX)}
    pushed_tips = [tip for name, tip in all_tips.items() if _is_pushed(name)]
    user_tips = [
        tip for name, tip in all_tips.items() if name.startswith(_USER_PREFIXES) and not _is_in_plait_namespace(name)
    ]
    unmerged = find_unreachable(git, set(branches.values()), user_tips)
    unpushed = find_unreachable(git, unmerged, pushed_tips)
    unsaved = find_unreachable(git, unmerged, refs.values())
    in_batch_branch = _find_in_batch_branch(git, names, branches)
    for ref, tip in branches.items():
        yield BranchItem(
            ref.removeprefix(BRANCH_PREFIX),
            tip,
            *names.find_batch_and_task(ref.removeprefix(BRANCH_PREFIX)),
            merged=tip not in unmerged,
            pushed=tip not in unpushed,
            in_batch_branch=ref in in_batch_branch,
            saved=tip not in unsaved,
            checked_out_in=checkouts.get(ref, ""),
        )
    only_here = find_unreachable(git, set(refs.values()), [*user_tips, *pushed_tips])
    for name, tip in refs.items():
        yield RefItem(name, tip, names.find_batch(name), elsewhere=tip not in only_here)


def _is_local_plait_branch(ref: str) -> bool:
    return ref.startswith(BRANCH_PREFIX) and is_plait_branch(ref.removeprefix(BRANCH_PREFIX))


def _is_in_plait_namespace(name: str) -> bool:
    return name.startswith(f"{BRANCH_PREFIX}plait/") or _is_pushed(name)


def _is_pushed(name: str) -> bool:
    """Whether the ref is a branch of plait's on a remote."""
    return name.startswith(REMOTE_PREFIX) and "/plait/" in name.removeprefix(REMOTE_PREFIX)


def _find_in_batch_branch(git: Git, names: RefNames, branches: Mapping[str, str]) -> set[str]:
    """Return the task branches that their batch's branch contains."""
    tasks: dict[str, dict[str, str]] = {}
    for ref, tip in branches.items():
        batch, task = names.find_batch_and_task(ref.removeprefix(BRANCH_PREFIX))
        if task:
            tasks.setdefault(batch, {})[ref] = tip
    contained = set[str]()
    for batch, task_tips in tasks.items():
        branch = branches.get(f"{BRANCH_PREFIX}{names.batches[batch].branch}")
        if branch is not None:
            outside = find_unreachable(git, set(task_tips.values()), [branch])
            contained |= {ref for ref, tip in task_tips.items() if tip not in outside}
    return contained


def find_checkouts(git: Git) -> dict[str, str]:
    """Return the folders in which branches are checked out, by ref."""
    checkouts, folder = {}, ""
    for line in git.run("worktree", "list", "--porcelain", "-z").fields:
        key, _, value = line.partition(" ")
        if key == "worktree":
            folder = value
        elif key == "branch":
            checkouts[value] = folder
    return checkouts
