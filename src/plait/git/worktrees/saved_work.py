"""Saves work that no ref reaches under refs/plait/saved, before a worktree is reset or given back."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.text import defuse_references
from plait.git.command import Git, GitError
from plait.git.kept_objects import keep_objects
from plait.git.refs import saved_ref, task_branch
from plait.git.worktrees.agent_worktree import VIEW_FOLDER, AgentWorktree, open_worktree, scratch_folder
from plait.git.worktrees.checkout import SUBMODULE_BASE_REF
from plait.git.worktrees.metadata import is_real_folder, read_small_file
from plait.git.worktrees.result_checks import read_recorded_commits
from plait.git.worktrees.tree_snapshot import Snapshot, snapshot_worktree
from plait.git.worktrees.worktree import Repository, Worktree, list_children

_MAX_TRIES = 50


class SavedRefs:
    """The saved refs of one task."""

    def __init__(self, repository: Repository, batch: str, task: str) -> None:
        self.repository = repository
        self.batch = batch
        self.task = task
        # An agent may have set up replacements, which would hide what its commits hold.
        self._git = repository.git.with_options(variables={"GIT_NO_REPLACE_OBJECTS": "1"})
        self._prefix = saved_ref(batch, task, 0).removesuffix("0")

    def keep(self, commit: str) -> str:
        """Save a commit; return the saved ref that holds it, an existing or a new one. Raises GitError if objects are
        missing.
        """
        if commit in (refs := self._list()):
            return refs[commit]
        with keep_objects(self._git, self.repository.common, [commit], self._find_reachable_edge(commit)):
            return self._make_ref(commit)

    def _make_ref(self, commit: str) -> str:
        for remaining in reversed(range(_MAX_TRIES)):
            ref = self._next_ref()
            try:
                self._git.create_ref(ref, commit)
            except GitError as error:  # another process may have taken the number just now
                if not remaining or "reference already exists" not in error.stderr:
                    raise
                if commit in (refs := self._list()):
                    return refs[commit]
            else:
                return ref
        raise AssertionError

    def keep_unreachable(self, commit: str, moving_ref: str = "") -> None:
        """Save a commit unless some ref reaches it; `moving_ref` is about to move, so it does not count."""
        if not self._is_reachable(commit, moving_ref):
            self.keep(commit)

    def find_equal(self, tree: str, parents: Sequence[str]) -> str | None:
        """Find a saved ref whose commit has this tree, and parents with the same trees as these."""
        # The staged files become a commit of their own with a new date each time, so the parents' trees are compared.
        trees = [self._git.tree_of(parent) for parent in parents]
        for commit, ref in self._list().items():
            if self._git.tree_of(commit) == tree and trees == [
                self._git.tree_of(parent) for parent in self._git.parents_of(commit)
            ]:
                return ref
        return None

    def fetch_commit(self, source: str, commit: str) -> None:
        """Save a commit of another repository on this machine."""
        if self.repository.git.resolve_commit(commit) is None or not self._is_reachable(commit):
            options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
            self._git.run("fetch", *options, source, f"{commit}:{self._next_ref()}")

    def make_commit(self, git: Git, tree: str, head: str) -> str:
        batch, task = (defuse_references(" ".join(name.split())) for name in (self.batch, self.task))
        message = f"What was in the workspace\n\nPlait-Batch: {batch}\nPlait-Task: {task}\n"
        return git.commit_as_plait(tree, [head], message.encode("utf-8", "surrogateescape"))

    def _is_reachable(self, commit: str, moving_ref: str = "") -> bool:
        excluded = (f"--exclude={moving_ref}",) if moving_ref else ()
        # Refs whose commits are missing hold nothing, and are ignored.
        return not self._git.text("rev-list", "--ignore-missing", "-1", commit, "--not", *excluded, "--glob=refs/*")

    def _find_reachable_edge(self, commit: str) -> list[str]:
        """List the nearest commits in its history that refs hold."""
        args = ("rev-list", "--ignore-missing", "--boundary", commit, "--not", "--glob=refs/*")
        listed = self._git.text(*args).splitlines()
        return [line[1:] for line in listed if line.startswith("-")] if listed else [commit]

    def _list(self) -> dict[str, str]:
        """List the saved refs by the commits that they hold."""
        rows = self._git.text("for-each-ref", "--format=%(objectname) %(refname)", self._prefix).splitlines()
        return {commit: ref for commit, ref in (row.split(" ", 1) for row in rows) if _number(ref) is not None}

    def _next_ref(self) -> str:
        """Return the ref with the number after all that are in use, or locked by a git that may have died."""
        names = self._git.text("for-each-ref", "--format=%(refname)", self._prefix).splitlines()
        names += [name.name.removesuffix(".lock") for name in list_children(self.repository.common / self._prefix)]
        return saved_ref(self.batch, self.task, 1 + max((_number(name) or 0 for name in names), default=0))


def _number(ref: str) -> int | None:
    last = ref.rpartition("/")[2]
    return int(last) if last.isdecimal() else None


def save_worktree(saved_refs: SavedRefs, worktree: Worktree) -> bool:
    """Save a worktree's work; whether there was any. Raises WorldError if something can't be saved: nothing may be
    removed then.
    """
    gitdir, has_changes = worktree.gitdir, True
    try:
        if gitdir is not None and (gitdir / VIEW_FOLDER).exists() and is_real_folder(worktree.folder):
            # First: git looks into submodules, where a sandboxed agent may have put repositories of its own.
            open_worktree(saved_refs.repository, worktree.folder, task_branch(saved_refs.batch, saved_refs.task))
        for module in list_submodule_dirs(gitdir) if gitdir is not None else ():
            save_submodule(saved_refs, module)
        if is_real_folder(worktree.folder):
            has_changes = save_workspace(saved_refs, worktree.folder) is not None
        elif gitdir is not None:
            _save_gitdir(saved_refs, worktree, gitdir)
    except OSError as error:
        raise WorldError(f"what is in {worktree.folder} can't be saved: {error}") from error
    return has_changes


def list_submodule_dirs(folder: Path, subfolder: str = "modules") -> Iterator[Path]:
    """Yield the git folders of submodules, recursively. Their names may contain slashes."""
    for path in list_children(folder / subfolder):
        if (path / "HEAD").is_file():
            yield path
            yield from list_submodule_dirs(path)
        elif is_real_folder(path):
            yield from list_submodule_dirs(path, "")


def _save_gitdir(saved_refs: SavedRefs, worktree: Worktree, gitdir: Path) -> None:
    """Save what was committed or staged in a worktree whose folder was removed."""
    branch = f"refs/heads/{task_branch(saved_refs.batch, saved_refs.task)}"
    head = saved_refs.repository.git.resolve_commit(worktree.read_head() or branch)
    if head is None:
        return
    git = saved_refs.repository.git_at(gitdir, gitdir)
    output = git.run("write-tree", codes=(0, 128)) if os.path.lexists(gitdir / "index") else None
    if output is None or output.code or output.text == git.tree_of(head):
        saved_refs.keep_unreachable(head)
    elif saved_refs.find_equal(output.text, [head]) is None:  # once, however often it is done
        saved_refs.keep_unreachable(saved_refs.make_commit(git, output.text, head))


def save_workspace(saved_refs: SavedRefs, workspace: Path) -> str | None:
    """Save whatever no ref reaches as a commit under refs/plait/saved; return that ref, or None if there is nothing.

    This covers files, also untracked ones; the index, where it differs; and commits on no branch. Index and files are
    not changed.
    """
    branch = task_branch(saved_refs.batch, saved_refs.task)
    worktree = open_worktree(saved_refs.repository, workspace, branch)
    with scratch_folder(worktree.gitdir) as scratch:
        return save_unreachable(worktree, saved_refs, scratch)


def save_unreachable(
    worktree: AgentWorktree, saved_refs: SavedRefs, scratch: Path, taken: Snapshot | None = None
) -> str | None:
    head = worktree.git.resolve_commit("HEAD")
    head_tree = worktree.git.tree_of(head) if head else worktree.git.text("mktree")  # without a file
    snapshot = taken or snapshot_worktree(worktree, scratch, head or head_tree)
    parents = [head] if head else []
    staged = _write_staged_tree(worktree, scratch, {head_tree, snapshot.tree})
    if staged is not None:
        parents.append(worktree.git.commit_as_plait(staged, parents, b"What was staged\n"))
    lost = [commit for commit in _find_loose_commits(worktree, head) if commit not in parents]
    if staged is None and snapshot.tree == head_tree and not _has_unreachable(worktree, [*parents, *lost]):
        return None
    parents += lost
    existing = saved_refs.find_equal(snapshot.tree, parents)
    return existing or saved_refs.keep(
        worktree.git.commit_as_plait(snapshot.tree, parents, b"What was in the workspace\n")
    )


def fetch_replaced_repositories(worktree: AgentWorktree) -> dict[Path, str]:
    """Fetch the commits of repositories that an agent made in place of the worktree's; return each HEAD by the moved
    git folder.
    """
    heads: dict[Path, str] = {}
    for git_dir in worktree.gitdir.glob("plait-left-*"):
        git = worktree.git.with_options(variables={"GIT_DIR": str(git_dir), "GIT_COMMON_DIR": str(git_dir)})
        with suppress(GitError):
            commit = git.text("rev-parse", "--verify", "HEAD^{commit}")
            worktree.git.run("fetch", "--no-tags", "--no-write-fetch-head", "--quiet", str(git_dir), "HEAD")
            heads[git_dir] = commit
    return heads


def _find_loose_commits(worktree: AgentWorktree, head: str | None) -> Iterator[str]:
    """Yield the commits that only this worktree's own records name."""
    fetched = fetch_replaced_repositories(worktree).values()
    for commit in dict.fromkeys([*read_recorded_commits(worktree), *fetched]):
        if commit != head and _has_unreachable(worktree, [commit]):
            yield commit


def _has_unreachable(worktree: AgentWorktree, commits: Sequence[str]) -> bool:
    """Whether one of the commits is reachable from no ref except saved ones (HEAD does not count)."""
    args = ("rev-list", "--ignore-missing", "--max-count=1", *commits)
    args += ("--not", "--exclude=refs/plait/saved/*", "--glob=refs/*")
    return bool(commits) and bool(worktree.git.text(*args))


def _write_staged_tree(worktree: AgentWorktree, scratch: Path, known_trees: set[str]) -> str | None:
    """Write the index as a tree; None if that tree is known already. An index with conflicts adds nothing to its
    commits.
    """
    copy = scratch / "staged"
    with suppress(OSError):
        shutil.copyfile(worktree.gitdir / "index", copy)
        git = worktree.git.with_options(variables={"GIT_INDEX_FILE": str(copy)})
        output = git.run("write-tree", codes=(0, 128))
        return output.text if output.code == 0 and output.text not in known_trees else None
    return None


def save_submodule(saved_refs: SavedRefs, module: Path) -> None:
    """Save a submodule's commits and changes that its remote does not have, as refs of the superproject."""
    git = saved_refs.repository.git_at(module, module)
    head = git.resolve_commit("HEAD") or ""
    base = (SUBMODULE_BASE_REF,) if read_small_file(module / SUBMODULE_BASE_REF) else ()
    branches = git.text("for-each-ref", "--format=%(objectname)", "refs/heads/").splitlines()
    for tip in dict.fromkeys((_commit_work(saved_refs, git, module, head), *branches)):
        if tip and git.text("rev-list", "-1", tip, "--not", *base, "--remotes", "--tags"):
            saved_refs.fetch_commit(str(module), tip)


def _commit_work(saved_refs: SavedRefs, git: Git, module: Path, head: str) -> str:
    """Commit everything in the submodule's folder on its head; return the head itself if nothing changed."""
    worktree_path = git.run("config", "core.worktree", codes=(0, 1)).text
    folder = Path(os.path.normpath(module / worktree_path))
    if not head or not worktree_path or not is_real_folder(folder):
        return head
    with tempfile.TemporaryDirectory(dir=module) as scratch:
        tree = _write_tree(saved_refs.repository, module, folder, Path(scratch) / "index")
    return head if tree == git.tree_of(head) else saved_refs.make_commit(git, tree, head)


def _write_tree(repository: Repository, module: Path, folder: Path, index: Path) -> str:
    """Write the folder as a tree with a copy of the index that keeps its time, which git compares with the files'."""
    if (module / "index").is_file():
        shutil.copy2(module / "index", index)
    git = repository.git_at(module, folder, variables={"GIT_INDEX_FILE": str(index)})
    git.run("add", "--all")
    return git.text("write-tree")
