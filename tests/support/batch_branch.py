"""A batch branch, merged and rebuilt as the engine does it, in a test's own repository."""

from __future__ import annotations

from plait.core.decisions import Change, MergeStarted, RebuildStarted
from plait.core.reports import MergeConflicted, MergeDone, RebuildDone
from plait.git import refs
from plait.git.interfaces import MergeMessage, MergeRules
from plait.git.merge.branch_merger import GitBranchMerger
from plait.git.merge.change_merger import Regenerate, refuse_regeneration
from tests.support.git_repository import GitRepository


class MergedBranch:
    """`head` is where the journal says the branch is, `changes` what is in it."""

    def __init__(
        self,
        repository: GitRepository,
        base: str,
        batch: str = "7f3a",
        regenerate: Regenerate = refuse_regeneration,
    ) -> None:
        self.repository = repository
        self.batch = batch
        self.base = self.head = base
        self.changes: list[Change] = []
        self.blending = MergeRules()
        self.rebuilds = 0
        self.integrator = GitBranchMerger(
            repository.git_dir,
            repository.git_dir / "plait" / "integrator",
            environment=repository.env,
            regenerate=regenerate,
        )

    @property
    def branch(self) -> str:
        return refs.batch_branch(self.batch)

    @property
    def read_head(self) -> str:
        """The commit of the branch in the repository; empty if there is no branch."""
        return self.repository.run("rev-parse", "-q", "--verify", f"refs/heads/{self.branch}").stdout.strip()

    def make_merge(self, change: Change, n: int = 1) -> MergeStarted:
        return MergeStarted(self.batch, change.task, n, change.base, change.tip, self.head)

    def make_message(self, task: str) -> MergeMessage:
        return MergeMessage(f"Merge {task}", (("Plait-Attempt", f"{task}/write-1"),))

    def merge(
        self, task: str, tip: str, base: str = "", words: MergeMessage | None = None
    ) -> MergeDone | MergeConflicted:
        change = Change(task, base or self.base, tip)
        done = self.integrator.merge(
            self.make_merge(change), self.branch, words or self.make_message(task), self.blending
        )
        if isinstance(done, MergeDone):
            self.head = done.commit
            self.changes.append(change)
        return done

    def make_rebuild(self, *tasks: str) -> RebuildStarted:
        """The decision to rebuild the branch without these tasks."""
        kept = tuple(change for change in self.changes if change.task not in tasks)
        return RebuildStarted(self.batch, self.rebuilds + 1, tasks, kept)

    def rebuild(self, order: RebuildStarted) -> RebuildDone:
        words = {change.task: self.make_message(change.task) for change in order.line}
        done = self.integrator.rebuild(order, self.branch, self.base, words, self.blending)
        left = {merged.task for merged in done.line}
        self.rebuilds = order.n
        self.changes = [change for change in order.line if change.task in left]
        self.head = done.line[-1].commit if done.line else self.base
        return done
