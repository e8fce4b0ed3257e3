"""The refs under refs/plait/saved: work that would have been lost, by the batch and the task that made it."""

from __future__ import annotations

from plait.site import refs
from plait.site.git import Git, GitError
from plait.site.workspaces.repository import Repository

_TRIES = 50
_PLAIT = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "plait"), ("EMAIL", "plait@localhost"))
}


class Shelf:
    def __init__(self, repository: Repository, batch: str, task: str) -> None:
        self.repository = repository
        self.batch = batch
        self.task = task
        self._git = repository.git

    def keep(self, commit: str, leaving: str = "") -> None:
        """Unless some ref holds it. `leaving` is a ref that is about to move: what it alone holds would be lost."""
        if not self._held(commit, leaving):
            self._put(commit)

    def put_away(self, git: Git, tree: str, head: str) -> None:
        """A tree as a commit; once, however often it is done."""
        told = self._git.text("for-each-ref", "--format=%(tree) %(parent)", self._under)
        if f"{tree} {head}" not in told.splitlines():
            self.keep(self.commit(git, tree, head))

    def bring(self, source: str, commit: str) -> None:
        """A commit of another repository on this machine."""
        if self.repository.commit(commit) is None or not self._held(commit):
            how = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
            self._git.run("fetch", *how, source, f"{commit}:{self._next()}")

    def commit(self, git: Git, tree: str, head: str) -> str:
        words = (
            f"What was in the workspace\n\nPlait-Batch: {_line(self.batch)}\nPlait-Task: {_line(self.task)}\n"
        )
        feed = words.encode("utf-8", "surrogateescape")
        return git.with_(variables=_PLAIT).text("commit-tree", tree, "-p", head, feed=feed)

    @property
    def _under(self) -> str:
        return refs.saved_ref(self.batch, self.task, 0).removesuffix("0")

    def _held(self, commit: str, leaving: str = "") -> bool:
        but = (f"--exclude={leaving}",) if leaving else ()
        return not self._git.text("rev-list", "-1", commit, "--not", *but, "--glob=refs/*")

    def _next(self) -> str:
        names = self._git.text("for-each-ref", "--format=%(refname)", self._under).splitlines()
        numbers = [int(last) for name in names if (last := name.rpartition("/")[2]).isdecimal()]
        return refs.saved_ref(self.batch, self.task, max(numbers, default=0) + 1)

    def _put(self, commit: str) -> None:
        """Somebody else may take the number at the same moment."""
        for left in reversed(range(_TRIES)):
            try:
                self._git.run("update-ref", self._next(), commit, "0" * len(commit))
            except GitError as error:
                if not left or "reference already exists" not in error.said:
                    raise
            else:
                return


def _line(words: str) -> str:
    return " ".join(words.split())
