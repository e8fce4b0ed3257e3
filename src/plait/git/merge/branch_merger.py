"""Builds batch branches in memory: the merge commit is made first, then the branch is moved to it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from plait.core.decisions import Change, MergeStarted, RebuildStarted
from plait.core.errors import WorldError
from plait.core.reports import MergeConflicted, MergeDone, MergedTask, RebuildConflict, RebuildDone
from plait.git import refs
from plait.git.command import Git, GitError
from plait.git.interfaces import MergeMessage, MergeRules, PredictedConflict
from plait.git.merge import three_way
from plait.git.merge.change_merger import (
    ChangeMerger,
    MergeTrailers,
    Regenerate,
    make_missing_commit_error,
    map_errors,
    refuse_regeneration,
)
from plait.git.merge.commits import Commit, read_commits
from plait.git.merge.conflict_view import CONFLICT_STYLE, format_conflict
from plait.git.merge.private_gitdir import PrivateGitDirs
from plait.git.merge.three_way import Ancestry
from plait.git.worktrees.metadata import find_checkouts

_STALE_SECONDS = 60.0  # git holds the lock of a ref for milliseconds, and only one engine moves these


class BatchBranch:
    """A batch's branch, which is only moved from where plait left it."""

    def __init__(self, git: Git, git_dir: Path, batch: str, name: str) -> None:
        self._git = git
        self._git_dir = git_dir
        self._batch = batch
        self.name = name
        self.ref = f"refs/heads/{name}"

    def ensure_not_checked_out(self) -> None:
        """Raise WorldError if it is: the files of that checkout would seem to undo what was merged."""
        for where in find_checkouts(self._git_dir, self.ref):
            raise WorldError(
                f"branch {self.name} is checked out in {where}; plait does not change checkouts",
                hint=f"Run `git -C {where} switch --detach` to look at it; then resume or retry.",
            )

    def move(self, new: str, old: str | None, why: str) -> None:
        """Move the branch from exactly `old` (None: create it); GitError if it is anywhere else."""
        refs.remove_stale_lock(self._git_dir, self.ref, _STALE_SECONDS)
        self._git.run("update-ref", "-m", f"plait: {why}", self.ref, new, old or "0" * len(new))

    def save(self, commit: str, n: int) -> None:
        """Save the branch before its nth rebuild; the first one saved stays."""
        ref = refs.pre_rebuild_ref(self._batch, n)
        refs.remove_stale_lock(self._git_dir, ref, _STALE_SECONDS)
        try:
            self._git.create_ref(ref, commit)
        except GitError:
            if not self._git.read_ref(ref):
                raise

    def make_moved_error(self, at: str, expected: str) -> WorldError:
        return WorldError(
            f"branch {self.name} was moved: expected {expected[:12]}, found {at[:12]}",
            hint=f"Keep what is there under another name (`git branch NAME {at[:12]}`), put the branch back "
            f"(`git update-ref {self.ref} {expected}`), then resume or retry.",
        )

    def make_foreign_commits_error(self, at: str) -> WorldError:
        return WorldError(
            f"branch {self.name} has commits that plait did not make (up to {at[:12]}); refusing to rebuild it",
            hint=f"Move them to a branch of their own (`git branch NAME {at[:12]}`) and take them off this one.",
        )


class GitBranchMerger:
    """No checkout is touched. One call at a time for each batch; repeating a call after a crash gives the same commit.

    `git_dir` is the repository's common git folder, `private` a folder of plait's own. `regenerate` makes files in a
    checkout of a commit.
    """

    def __init__(
        self,
        git_dir: Path,
        private: Path,
        *,
        environment: Mapping[str, str] | None = None,
        regenerate: Regenerate = refuse_regeneration,
    ) -> None:
        self._git_dir = git_dir.absolute()
        own = os.environ if environment is None else environment
        here = {"GIT_DIR": str(self._git_dir), "GIT_NO_REPLACE_OBJECTS": "1"}
        self._git = Git(self._git_dir, environment=own, variables=here)
        self._private = PrivateGitDirs(self._git_dir, private.absolute(), own)
        self._ancestry = Ancestry(self._git)
        self._merging = ChangeMerger(self._git, self._private, self._ancestry, regenerate)

    def merge(
        self, order: MergeStarted, branch: str, message: MergeMessage, rules: MergeRules
    ) -> MergeDone | MergeConflicted:
        """Merge the task's change onto the batch branch, whose name is `branch`.

        Raises ChangeGoneError if the change is gone, another WorldError if merging fails.
        """
        with map_errors(f"{order.task} could not be merged"):
            batch_branch = BatchBranch(self._git, self._git_dir, order.batch, branch)
            trailers = MergeTrailers(order.batch, _change(order))
            known = self._merging.read_commits(trailers.change, order.onto, batch_branch.ref)
            at = known.get(batch_branch.ref)
            if at is not None and at.id != order.onto:
                return _check_existing(batch_branch, trailers, order, at)
            batch_branch.ensure_not_checked_out()
            made = self._merging.merge_change(trailers, order.onto, known[order.tip], message, rules)
            if isinstance(made, RebuildConflict):
                return MergeConflicted(order.batch, order.task, order.n, made.files)
            try:
                batch_branch.move(made, at.id if at else None, f"merge {order.task}")
            except GitError:
                now = read_commits(self._git, [batch_branch.ref]).get(batch_branch.ref)
                if now is None or now.id == order.onto:
                    raise
                return _check_existing(batch_branch, trailers, order, now)
            return MergeDone(order.batch, order.task, order.n, made)

    def rebuild(
        self, order: RebuildStarted, branch: str, base: str, messages: Mapping[str, MergeMessage], rules: MergeRules
    ) -> RebuildDone:
        """Rebuild the branch; the old one is kept under refs/plait/lines.

        Merges onto the same commits as before are reused: a tested commit stays the same commit.
        """
        with map_errors(f"the branch of batch {order.batch} could not be rebuilt"):
            batch_branch = BatchBranch(self._git, self._git_dir, order.batch, branch)
            known = read_commits(self._git, [batch_branch.ref, base])
            if base not in known:
                raise make_missing_commit_error(base, "the base of the batch,")
            at = known.get(batch_branch.ref)
            old = _read_merges(self._git, order.batch, at.id, base) if at else {}
            if at is not None and old is None:
                raise batch_branch.make_foreign_commits_error(at.id)
            head, line, conflicts = base, [], []
            for change in order.line:
                trailers = MergeTrailers(order.batch, change)
                made = _reuse_merge(trailers, head, old or {}) or self._merge_change(trailers, head, messages, rules)
                if isinstance(made, RebuildConflict):
                    conflicts.append(made)
                else:
                    head = made
                    line.append(MergedTask(change.task, head))
            self._replace_branch(batch_branch, at, head, order.n)
            return RebuildDone(order.batch, order.n, tuple(line), tuple(conflicts))

    def describe_conflict(self, order: MergeStarted, rules: MergeRules) -> str:
        """Both sides of a conflict as text of bounded length, for the agent that resolves it."""
        with map_errors(f"the conflict of {order.task} could not be read"):
            git, tried, conflicts = self._merging.try_merge(_change(order), order.onto, rules, CONFLICT_STYLE)
            return format_conflict(git, tried, conflicts)

    def predict_conflicts(
        self, onto: str, tips: Mapping[str, tuple[str, str]], rules: MergeRules
    ) -> list[PredictedConflict]:
        """Which of these changes (base and tip by task) would conflict, with each other or with the branch (`right` "")."""
        with map_errors("could not predict conflicts"):
            here = read_commits(self._git, [onto, *(name for pair in tips.values() for name in pair)])
            known = {task: pair for task, pair in tips.items() if {onto, *pair} <= here.keys()}
            return three_way.predict_conflicts(self._private, self._ancestry, onto, known, rules) if known else []

    def _merge_change(
        self, trailers: MergeTrailers, onto: str, messages: Mapping[str, MergeMessage], rules: MergeRules
    ) -> str | RebuildConflict:
        tip = self._merging.read_commits(trailers.change, onto)[trailers.change.tip]
        message = messages.get(trailers.change.task) or MergeMessage(f"Merge {trailers.change.task}")
        return self._merging.merge_change(trailers, onto, tip, message, rules)

    def _replace_branch(self, branch: BatchBranch, at: Commit | None, head: str, n: int) -> None:
        """Save the old branch, then move it."""
        if at is not None and at.id == head:
            return
        branch.ensure_not_checked_out()
        if at is not None:
            branch.save(at.id, n)
        branch.move(head, at.id if at else None, "rebuilt")


def _change(order: MergeStarted) -> Change:
    return Change(order.task, order.base, order.tip)


def _check_existing(branch: BatchBranch, trailers: MergeTrailers, order: MergeStarted, at: Commit) -> MergeDone:
    """The branch has moved: by this very merge before a crash, or by someone else, which is an error."""
    if not trailers.matches(at, order.onto):
        raise branch.make_moved_error(at.id, order.onto)
    return MergeDone(order.batch, order.task, order.n, at.id)


def _reuse_merge(trailers: MergeTrailers, onto: str, old: Mapping[str, Commit]) -> str | None:
    was = old.get(onto)
    return was.id if was is not None and trailers.matches(was, onto) else None


def _read_merges(git: Git, batch: str, head: str, base: str) -> dict[str, Commit] | None:
    """The merges from `base` to `head`, by their first parents; None if some of them are not plait's."""
    listed = git.text("rev-list", "--first-parent", head, f"^{base}").split() if head != base else []
    commits = read_commits(git, listed)
    mine = f"Plait-Batch: {' '.join(batch.split())}"
    if any(mine not in commit.trailers for commit in commits.values()):
        return None
    merges = {commit.parents[0]: commit for commit in commits.values() if commit.parents}
    return merges if head == base or base in merges else None
