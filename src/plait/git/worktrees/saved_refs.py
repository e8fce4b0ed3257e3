"""The refs under refs/plait/saved: work that would have been lost, by the batch and the task that made it."""

from __future__ import annotations

from collections.abc import Sequence

from plait.git.command import PLAIT_IDENTITY, Git, GitError
from plait.git.refs import saved_ref
from plait.git.worktrees.worktree import Repository, list_children

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
        """The saved ref that holds this commit: an existing one, or a new one."""
        for left in reversed(range(_MAX_TRIES)):
            held = self._list()
            if commit in held:
                return held[commit]
            ref = self._next_ref()
            try:
                self._git.run("update-ref", ref, commit, "0" * len(commit))
            except GitError as error:  # another process may have taken the number just now
                if not left or "reference already exists" not in error.stderr:
                    raise
            else:
                return ref
        raise AssertionError

    def keep_unreachable(self, commit: str, moving_ref: str = "") -> None:
        """Keep a commit unless some ref reaches it; `moving_ref` is about to move, so it does not count."""
        if not self._is_reachable(commit, moving_ref):
            self.keep(commit)

    def find_equal(self, tree: str, parents: Sequence[str]) -> str | None:
        """A saved ref whose commit has this tree, and parents with the same trees as these."""
        trees = [self._tree(each) for each in parents]
        return next((ref for commit, ref in self._list().items() if self._is_equal(commit, tree, trees)), None)

    def save_tree(self, git: Git, tree: str, head: str) -> None:
        """Save a tree as a commit on `head`, once however often it is done."""
        if self.find_equal(tree, [head]) is None:
            self.keep_unreachable(self.make_commit(git, tree, head))

    def fetch_commit(self, source: str, commit: str) -> None:
        """Save a commit of another repository on this machine."""
        if self.repository.resolve_commit(commit) is None or not self._is_reachable(commit):
            options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
            self._git.run("fetch", *options, source, f"{commit}:{self._next_ref()}")

    def make_commit(self, git: Git, tree: str, head: str) -> str:
        batch, task = " ".join(self.batch.split()), " ".join(self.task.split())
        message = f"What was in the workspace\n\nPlait-Batch: {batch}\nPlait-Task: {task}\n"
        own = git.with_options(variables=PLAIT_IDENTITY)
        return own.commit_tree(tree, [head], message.encode("utf-8", "surrogateescape"))

    def _is_equal(self, commit: str, tree: str, parent_trees: Sequence[str]) -> bool:
        # What was staged is a commit of its own, with a new date each time: so the parents' trees are compared.
        if self._tree(commit) != tree:
            return False
        parents = self._git.text("rev-parse", f"{commit}^@").split()
        return [self._tree(each) for each in parents] == list(parent_trees)

    def _tree(self, commit: str) -> str:
        return self._git.text("rev-parse", "--verify", f"{commit}^{{tree}}")

    def _is_reachable(self, commit: str, moving_ref: str = "") -> bool:
        excluded = (f"--exclude={moving_ref}",) if moving_ref else ()
        return not self._git.text("rev-list", "-1", commit, "--not", *excluded, "--glob=refs/*")

    def _list(self) -> dict[str, str]:
        """The refs by the commits that they hold."""
        rows = self._git.text("for-each-ref", "--format=%(objectname) %(refname)", self._prefix).splitlines()
        return {commit: ref for commit, ref in (row.split(" ", 1) for row in rows) if _number(ref) is not None}

    def _next_ref(self) -> str:
        """The number after all that are in use, or locked by a git that may have died."""
        names = self._git.text("for-each-ref", "--format=%(refname)", self._prefix).splitlines()
        names += [each.name.removesuffix(".lock") for each in list_children(self.repository.common / self._prefix)]
        return saved_ref(self.batch, self.task, 1 + max((_number(each) or 0 for each in names), default=0))


def _number(ref: str) -> int | None:
    last = ref.rpartition("/")[2]
    return int(last) if last.isdecimal() else None
