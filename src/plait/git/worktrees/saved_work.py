"""Work that no ref reaches, put under refs/plait/saved before anything becomes of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.refs import saved_ref, task_branch
from plait.git.worktrees.agent_worktree import AgentWorktree, open_worktree
from plait.git.worktrees.agent_worktree__scratch import scratch_folder
from plait.git.worktrees.attempt_commit__words import PLAIT_IDENTITY, format_identity
from plait.git.worktrees.result_checks import read_merge_heads, read_stashed_commits
from plait.git.worktrees.tree_snapshot import Snapshot, snapshot_worktree


def save_workspace(
    workspace: Path,
    batch: str,
    task: str,
    *,
    environment: Mapping[str, str] | None = None,
    common: Path | None = None,
) -> str | None:
    """Put whatever no ref reaches into a commit under refs/plait/saved: its name, or None if there is nothing.

    Files, new ones too; the index, where it has something else; commits on no branch. Index and files stay as they are.
    """
    worktree = open_worktree(workspace, task_branch(batch, task), common, environment)
    with scratch_folder(worktree.admin) as room:
        return save_unreachable(worktree, WorktreeSavedRefs(worktree, batch, task), room)


@dataclass(frozen=True, slots=True)
class WorktreeSavedRefs:
    """The saved refs of one task."""

    worktree: AgentWorktree
    batch: str
    task: str

    def keep(self, commit: str) -> str:
        """The ref that holds this commit: one that does so already, or the next free one."""
        held = self._list()
        if commit in held:
            return held[commit]
        n = 1 + max((int(name.rpartition("/")[2]) for name in held.values()), default=0)
        ref = saved_ref(self.batch, self.task, n)
        self.worktree.update_refs({ref: (commit, None)})
        return ref

    def find_equal(self, tree: str, parents: Sequence[str]) -> str | None:
        """A ref that holds the same already."""
        trees = self.worktree
        alike = (
            ref for commit, ref in self._list().items() if _has_same_content(trees, commit, tree, parents)
        )
        return next(alike, None)

    def _list(self) -> dict[str, str]:
        refs = self.worktree.read_refs(saved_ref(self.batch, self.task, 0).removesuffix("0"))
        return {commit: ref for ref, commit in refs.items() if ref.rpartition("/")[2].isdecimal()}


def save_unreachable(
    worktree: AgentWorktree, saved_refs: WorktreeSavedRefs, scratch: Path, taken: Snapshot | None = None
) -> str | None:
    head = worktree.resolve_commit("HEAD")
    now = worktree.tree_of(head) if head else worktree.git.text("mktree")  # without a file
    snapshot = taken or snapshot_worktree(worktree, scratch, head or now)
    parents = [head] if head else []
    staged = _write_staged_tree(worktree, scratch, {now, snapshot.tree})
    if staged is not None:
        parents.append(_make_commit(worktree.git, staged, parents, "What was staged"))
    lost = [commit for commit in _find_loose_commits(worktree, head) if commit not in parents]
    if staged is None and snapshot.tree == now and not _has_unreachable(worktree, [*parents, *lost]):
        return None
    parents += lost
    return saved_refs.find_equal(snapshot.tree, parents) or saved_refs.keep(
        _commit_snapshot(worktree.git, snapshot, parents)
    )


def fetch_replaced_repositories(worktree: AgentWorktree) -> dict[Path, str]:
    """The repositories that an agent made in the place of this one's, and where each was: those commits, brought over."""
    found: dict[Path, str] = {}
    for left in worktree.admin.glob("plait-left-*"):
        own = worktree.git.with_options(variables={"GIT_DIR": str(left), "GIT_COMMON_DIR": str(left)})
        with suppress(GitError):
            commit = own.text("rev-parse", "--verify", "HEAD^{commit}")
            worktree.git.run("fetch", "--no-tags", "--no-write-fetch-head", "--quiet", str(left), "HEAD")
            found[left] = commit
    return found


def _has_same_content(worktree: AgentWorktree, commit: str, tree: str, parents: Sequence[str]) -> bool:
    """What was staged is a commit of its own, made anew each time: its tree counts."""
    if worktree.tree_of(commit) != tree:
        return False
    held = worktree.parents_of(commit)
    return [worktree.tree_of(each) for each in held] == [worktree.tree_of(each) for each in parents]


def _find_loose_commits(worktree: AgentWorktree, head: str | None) -> Iterator[str]:
    """The commits that only this worktree's own records name."""
    for commit in dict.fromkeys(
        [
            *read_merge_heads(worktree),
            *read_stashed_commits(worktree),
            *fetch_replaced_repositories(worktree).values(),
        ]
    ):
        if commit != head and _has_unreachable(worktree, [commit]):
            yield commit


def _has_unreachable(worktree: AgentWorktree, commits: Sequence[str]) -> bool:
    """Whether one of them is in the history of no ref but saved ones; HEAD is none."""
    words = ("rev-list", "--max-count=1", *commits, "--not", "--exclude=refs/plait/saved/*", "--glob=refs/*")
    return bool(commits) and bool(worktree.git.text(*words))


def _write_staged_tree(worktree: AgentWorktree, scratch: Path, known: set[str]) -> str | None:
    """The index as a tree, if that is nowhere else. One with conflicts holds nothing but what its commits hold."""
    copy = scratch / "staged"
    with suppress(OSError):
        shutil.copyfile(worktree.admin / "index", copy)
        git = worktree.git.with_options(variables={"GIT_INDEX_FILE": str(copy)})
        said = git.run("write-tree", codes=(0, 128))
        return said.text if said.code == 0 and said.text not in known else None
    return None


def _commit_snapshot(git: Git, snapshot: Snapshot, parents: Sequence[str]) -> str:
    return _make_commit(git, snapshot.tree, parents, "What was in the workspace")


def _make_commit(git: Git, tree: str, parents: Sequence[str], words: str) -> str:
    above = [word for parent in parents for word in ("-p", parent)]
    return git.with_options(variables=format_identity(PLAIT_IDENTITY, PLAIT_IDENTITY)).text(
        "commit-tree", tree, *above, stdin=f"{words}\n".encode()
    )
