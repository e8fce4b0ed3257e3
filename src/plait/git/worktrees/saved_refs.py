"""The refs under refs/plait/saved: work that would have been lost, by the batch and the task that made it."""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.fast_dataclass import dataclass
from plait.git import refs
from plait.git.command import Git, GitError
from plait.git.refs import saved_ref
from plait.git.worktrees.agent_worktree import AgentWorktree
from plait.git.worktrees.worktree import Repository

_MAX_TRIES = 50


_PLAIT_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "plait"), ("EMAIL", "plait@localhost"))
}


class SavedRefs:
    def __init__(self, repository: Repository, batch: str, task: str) -> None:
        self.repository = repository
        self.batch = batch
        self.task = task
        self._git = repository.git

    def keep(self, commit: str, moving_ref: str = "") -> None:
        """Unless some ref holds it. `leaving` is a ref that is about to move: what it alone holds would be lost."""
        if not self._is_reachable(commit, moving_ref):
            self._add(commit)

    def save_tree(self, git: Git, tree: str, head: str) -> None:
        """A tree as a commit; once, however often it is done."""
        told = self._git.text("for-each-ref", "--format=%(tree) %(parent)", self._prefix)
        if f"{tree} {head}" not in told.splitlines():
            self.keep(self.make_commit(git, tree, head))

    def fetch_commit(self, source: str, commit: str) -> None:
        """A commit of another repository on this machine."""
        if self.repository.resolve_commit(commit) is None or not self._is_reachable(commit):
            how = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
            self._git.run("fetch", *how, source, f"{commit}:{self._next_ref()}")

    def make_commit(self, git: Git, tree: str, head: str) -> str:
        words = f"What was in the workspace\n\nPlait-Batch: {_single_line(self.batch)}\nPlait-Task: {_single_line(self.task)}\n"
        feed = words.encode("utf-8", "surrogateescape")
        return git.with_options(variables=_PLAIT_IDENTITY).text("commit-tree", tree, "-p", head, stdin=feed)

    @property
    def _prefix(self) -> str:
        return refs.saved_ref(self.batch, self.task, 0).removesuffix("0")

    def _is_reachable(self, commit: str, moving_ref: str = "") -> bool:
        but = (f"--exclude={moving_ref}",) if moving_ref else ()
        return not self._git.text("rev-list", "-1", commit, "--not", *but, "--glob=refs/*")

    def _next_ref(self) -> str:
        names = self._git.text("for-each-ref", "--format=%(refname)", self._prefix).splitlines()
        numbers = [int(last) for name in names if (last := name.rpartition("/")[2]).isdecimal()]
        return refs.saved_ref(self.batch, self.task, max(numbers, default=0) + 1)

    def _add(self, commit: str) -> None:
        """Somebody else may take the number at the same moment."""
        for left in reversed(range(_MAX_TRIES)):
            try:
                self._git.run("update-ref", self._next_ref(), commit, "0" * len(commit))
            except GitError as error:
                if not left or "reference already exists" not in error.stderr:
                    raise
            else:
                return


def _single_line(words: str) -> str:
    return " ".join(words.split())


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
        alike = (ref for commit, ref in self._list().items() if _has_same_content(trees, commit, tree, parents))
        return next(alike, None)

    def _list(self) -> dict[str, str]:
        refs = self.worktree.read_refs(saved_ref(self.batch, self.task, 0).removesuffix("0"))
        return {commit: ref for ref, commit in refs.items() if ref.rpartition("/")[2].isdecimal()}


def _has_same_content(worktree: AgentWorktree, commit: str, tree: str, parents: Sequence[str]) -> bool:
    """What was staged is a commit of its own, made anew each time: its tree counts."""
    if worktree.tree_of(commit) != tree:
        return False
    held = worktree.parents_of(commit)
    return [worktree.tree_of(each) for each in held] == [worktree.tree_of(each) for each in parents]
