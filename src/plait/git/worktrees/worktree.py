"""The worktrees that plait makes of a repository, and where they are. A worktree's place says what it is used for:

batch-<batch>/task-<task>/   leased to a task: complete, and perhaps worked in
batch-<batch>/task-<task>+<name>/  beside it, at the base commit, for a process of the task's attempt; never holds work
batch-<batch>/gate/          the batch's own, for its gate
making/<id>/                 being made; its maker holds a lock on the folder until it is done or dead
pool/<id>/                   given back, waiting for the next task
trash/<id>/                  no longer needed; deleted when there is time

Each change of place is one rename. `gitdir` is git's own folder for a worktree (.git/worktrees/<id>).
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from plait.config.config import Config
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git
from plait.git.location import RepoLocation
from plait.git.worktrees.metadata import (
    LeaseMetadata,
    is_real_folder,
    read_gitdir_link,
    read_head,
    read_lease,
    read_small_file,
    read_worktree_path,
    write_gitdir_link,
    write_worktree_path,
)
from plait.system import flock
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.disk import remove_tree
from plait.system.state_paths import safe_filename

WORKTREE_ID_PREFIX = "plait-"
_BATCH_PREFIX = "batch-"
SIDE_MARK = "+"  # in no safe file name


def new_worktree_id() -> str:
    """Return a folder name that was never used: git names the gitdir after the folder."""
    return f"{WORKTREE_ID_PREFIX}{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True, slots=True)
class WorkspaceLayout:
    root: Path

    @property
    def making(self) -> Path:
        return self.root / "making"

    @property
    def pool(self) -> Path:
        return self.root / "pool"

    @property
    def trash(self) -> Path:
        return self.root / "trash"

    @property
    def setups(self) -> Path:
        """Return the cache folder for what setup commands made."""
        return self.root / "setups"

    def batch(self, batch: str) -> Path:
        return self.root / f"{_BATCH_PREFIX}{safe_filename(batch)}"

    @staticmethod
    def batch_folder_name(folder: Path) -> str:
        """Return the batch's part of the name of its folder: its id as a safe file name."""
        return folder.name.removeprefix(_BATCH_PREFIX)

    def list_batches(self) -> list[Path]:
        """List the folders of batches that have worktrees, or had some."""
        return [folder for folder in list_children(self.root) if folder.name.startswith(_BATCH_PREFIX)]

    def task(self, batch: str, task: str) -> Path:
        return self.batch(batch) / f"task-{safe_filename(task)}"

    def list_side_checkouts(self, batch: str, task: str | None = None) -> list[Path]:
        """List the checkouts beside the task's workspace, or beside those of all tasks."""
        own = "" if task is None else f"{self.task(batch, task).name}{SIDE_MARK}"
        folders = list_children(self.batch(batch))
        return [folder for folder in folders if SIDE_MARK in folder.name and folder.name.startswith(own)]

    def gate(self, batch: str) -> Path:
        return self.batch(batch) / "gate"

    def workspace(self, batch: str, task: str) -> Path:
        return self.task(batch, task) if task else self.gate(batch)

    def list_all(self) -> list[Path]:
        """List every worktree folder, whatever it is used for."""
        parents = [self.making, self.pool, self.trash, *self.list_batches()]
        return [folder for parent in parents for folder in list_children(parent)]


def list_children(folder: Path) -> list[Path]:
    """List what is in a folder, sorted; empty if the folder is missing."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


PIN_FILE = "worktrees"  # in the state folder: where they were last


def find_worktrees_folder(location: RepoLocation, config: Config) -> Path:
    """Find the folder of this repository's worktrees, named by the repository and a hash of its path.

    As long as batches have worktrees in an earlier place, that is used, whatever the settings are now; unless they
    belong to the repository that this one was copied from.
    """
    common = location.git_dir.resolve()
    name = common.parent.name if common.name == ".git" else common.name.removesuffix(".git")
    digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:8]
    configured = _find_location(common, config) / f"{name or 'repository'}-{digest}"
    with suppress(OSError):
        pinned = Path(os.fsdecode((location.state / PIN_FILE).read_bytes()))
        batches = WorkspaceLayout(pinned).list_batches() if pinned != configured else []
        if batches and not any(
            find_other_owner(common, folder) for batch in batches for folder in list_children(batch)
        ):
            return pinned
    return configured


def _find_location(common: Path, config: Config) -> Path:
    """Find the folder in which worktrees are put. A relative one starts at the repository, which all its checkouts
    share.
    """
    if config.workspace.location:
        repository_folder = common.parent if common.name == ".git" else common
        return repository_folder / Path(config.workspace.location).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("plait", appauthor=False) / "worktrees"


CHECKOUT_WORKERS = 8  # a checkout waits for the disk more than for a core
_SETTINGS = (
    "worktree.useRelativePaths=false",  # otherwise adding one changes the shared configuration
    "submodule.recurse=false",  # they are checked out one by one, and may stay empty
    "core.trustctime=true",  # otherwise an edit that keeps size and time is not noticed
    "core.checkStat=default",
    "core.safecrlf=false",  # what is saved is saved as it is
    "filter.lfs.required=false",  # without the content, the pointer
    "lfs.transfer.maxretries=1",
    f"checkout.workers={CHECKOUT_WORKERS}",
)


class Repository:
    """A repository, given by its common git folder, which all its worktrees share."""

    def __init__(self, git_dir: Path, environment: Mapping[str, str] | None = None) -> None:
        self.common = Path(os.path.realpath(git_dir))
        self.environment = environment
        # A work tree of its own, since the configuration may name one that no longer exists.
        self.git = self.git_at(self.common, self.common)

    @property
    def plait_folder(self) -> Path:
        return self.common / "plait"

    @property
    def trash(self) -> Path:
        return self.plait_folder / "trash"

    @property
    def worktree_gitdirs(self) -> list[Path]:
        """List the gitdirs of the worktrees that plait made."""
        return [path for path in list_children(self.common / "worktrees") if path.name.startswith(WORKTREE_ID_PREFIX)]

    def worktree_gitdir(self, name: str) -> Path:
        return self.common / "worktrees" / name

    def git_at(
        self,
        git_dir: Path,
        folder: Path,
        *,
        variables: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
    ) -> Git:
        """Open git with explicit paths, so that it never finds another repository above the folder."""
        all_variables = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(folder), **(variables or {})}
        return Git(folder, environment=self.environment, variables=all_variables, settings=(*_SETTINGS, *settings))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold a lock while a worktree is made or moved, because git can't make two at once. It is held briefly."""
        path = self.plait_folder / "workspaces.lock"
        with ExitStack() as stack:
            try:
                stack.enter_context(flock.hold_lock(path))
            except OSError as error:
                raise WorldError(f"cannot lock {path}: {error.strerror}") from error
            yield


VALID_HEAD = re.compile(r"(?:ref: refs/[^\x00-\x20\x7f]+|[0-9a-f]{40,64})\n?\Z")
# What stays of the gitdir when a worktree goes to another task.
_KEPT_GITDIR_FILES = frozenset({"HEAD", "commondir", "gitdir", "index", "reftable", "plait.json", "plait-outfit"})


@dataclass(frozen=True, slots=True)
class Worktree:
    """A worktree's folder and gitdir; either may be missing."""

    folder: Path
    gitdir: Path | None

    @property
    def valid_gitdir(self) -> Path | None:
        """Return the worktree's gitdir if git can work in it: folder and gitdir are intact and name each other. None
        otherwise.
        """
        if self.gitdir is None or not is_real_folder(self.folder) or read_gitdir_link(self.folder) != self.gitdir:
            return None
        head, index = (read_small_file(self.gitdir / name) for name in ("HEAD", "index"))
        return self.gitdir if VALID_HEAD.match(head) and index.startswith("DIRC") else None

    def read_lease(self) -> LeaseMetadata | None:
        return read_lease(self.gitdir) if self.gitdir is not None else None

    def read_head(self) -> str:
        """Return what HEAD holds: a ref, or a commit; empty if neither."""
        return read_head(self.gitdir.parent.parent, self.gitdir) if self.gitdir is not None else ""

    def remove_stale_locks(self) -> None:
        """Remove the locks that a killed git left, in a worktree that no process works in."""
        if self.gitdir is not None:
            for name in ("index.lock", "HEAD.lock"):
                (self.gitdir / name).unlink(missing_ok=True)

    def move(self, to: Path) -> Worktree:
        """Move the worktree as `git worktree move` does, which refuses worktrees with submodules. The caller holds the
        repository's lock.

        The gitdir is changed first: if plait dies before the rename, find_worktree still finds the folder by its link.
        """
        make_private_folder(to.parent)
        if self.gitdir is not None:
            write_worktree_path(self.gitdir, to)
        self.folder.rename(to)
        return Worktree(to, self.gitdir)

    def reset_gitdir(self) -> None:
        """Remove what the last task left in the gitdir (merges, reflogs, locks)."""
        assert self.gitdir is not None
        for path in list_children(self.gitdir):
            if path.name not in _KEPT_GITDIR_FILES:
                remove_tree(path)


def find_worktree(repository: Repository, folder: Path, *, repair: bool = True) -> Worktree | None:
    """Find the worktree in this place, or what is left of one; None if there is nothing.

    Git's records decide. The folder's own `.git` may have been written by an agent: it only breaks ties, and identifies
    a worktree that a crash left between recording a new place and moving the folder there.
    """
    gitdirs = repository.worktree_gitdirs
    recorded = [candidate for candidate in gitdirs if _is_same_folder(read_worktree_path(candidate), folder)]
    linked = read_gitdir_link(folder)
    gitdir = linked if linked in recorded else next(iter(recorded), None)
    if repair and gitdir is None and linked in gitdirs and _was_moving(linked):
        write_worktree_path(linked, folder)
        gitdir = linked
    if gitdir is None:
        return Worktree(folder, None) if os.path.lexists(folder) else None
    if repair:
        _repair(gitdir, folder)
    return Worktree(folder, gitdir)


def find_other_owner(common: Path, folder: Path) -> str:
    """Return the git folder of the repository that this one was copied from, if that has the worktree in this folder;
    "" otherwise. The copy names the worktree, too.
    """
    linked = read_gitdir_link(folder)
    if linked is None or not _is_same_folder(read_worktree_path(linked), folder):
        return ""
    is_own = os.path.realpath(linked.parent) == os.path.realpath(common / "worktrees")
    return "" if is_own else str(linked.parent.parent)


def _is_same_folder(recorded: Path | None, folder: Path) -> bool:
    """Whether both are one folder. The folder of all worktrees may have been moved, with a link in its place."""
    return recorded is not None and os.path.realpath(recorded) == os.path.realpath(folder)


def _was_moving(gitdir: Path) -> bool:
    """Whether the gitdir names a folder that does not have its worktree."""
    folder = read_worktree_path(gitdir)
    return folder is not None and not os.path.lexists(folder / ".git")


def _repair(gitdir: Path, folder: Path) -> None:
    """Restore two small files, without content of their own, that a dying git or agent may lose."""
    if not read_small_file(gitdir / "commondir"):
        replace_file(gitdir / "commondir", b"../..\n", mode=0o666)
    link = folder / ".git"
    if is_real_folder(folder) and (not os.path.lexists(link) or (link.is_file() and not link.stat().st_size)):
        write_gitdir_link(folder, gitdir)
