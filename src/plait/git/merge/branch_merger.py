"""Builds batch branches in memory: the merge commit is made first, then the branch is moved to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from plait.core.decisions import Change, MergeStarted, RebuildStarted
from plait.core.errors import WorldError
from plait.core.reports import MergeConflicted, MergeDone, MergedTask, RebuildConflict, RebuildDone
from plait.git import refs
from plait.git.command import Git, GitError
from plait.git.interfaces import ChangeGoneError, KnownMerge, MergeMessage, MergeRules, PredictedConflict
from plait.git.kept_objects import find_missing_objects, is_object_gone, keep_objects, retry_pruned
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

T = TypeVar("T")
_STALE_SECONDS = 60.0  # git holds the lock of a ref for milliseconds, and only one engine moves these


class BatchBranch:
    """A batch's branch, which is only moved from the commit where plait left it."""

    def __init__(self, git: Git, git_dir: Path, batch: str, name: str) -> None:
        self._git = git
        self._git_dir = git_dir
        self._batch = batch
        self.name = name
        self.ref = f"refs/heads/{name}"

    def ensure_not_checked_out(self) -> None:
        """Raise WorldError if the branch is checked out: the files of that checkout would seem to undo what was merged."""
        for folder in find_checkouts(self._git_dir, self.ref):
            raise WorldError(
                f"branch {self.name} is checked out in {folder}; plait does not change checkouts",
                hint=f"Run `git -C {folder} switch --detach` to look at it; then resume or retry.",
            )

    def move(self, new: str, reason: str, current: Commit | None) -> None:
        """Move the branch from `current` (None: create it); GitError if it is anywhere else.

        A branch whose commit is missing is created again.
        """
        refs.remove_stale_lock(self._git_dir, self.ref, _STALE_SECONDS)
        refs.remove_blank_ref(self._git_dir, self.ref)
        old = current.id if current is not None else self._git.read_dead_ref(self.ref) or "0" * len(new)
        self._git.run("update-ref", "-m", f"plait: {reason}", self.ref, new, old)

    def save(self, commit: str, n: int) -> None:
        """Save the branch before its nth rebuild; if that was done before, keep the commit that was saved then."""
        ref = refs.pre_rebuild_ref(self._batch, n)
        refs.remove_stale_lock(self._git_dir, ref, _STALE_SECONDS)
        try:
            self._git.create_ref(ref, commit)
        except GitError:
            if not self._git.read_ref(ref):
                raise

    def make_moved_error(self, found: str, expected: str) -> WorldError:
        return WorldError(
            f"branch {self.name} was moved: expected {expected[:12]}, found {found[:12]}",
            hint=f"Keep what is there under another name (`git branch NAME {found[:12]}`), put the branch back "
            f"(`git update-ref {self.ref} {expected}`), then resume or retry.",
        )

    def make_foreign_commits_error(self, found: str) -> WorldError:
        return WorldError(
            f"branch {self.name} has commits that plait did not make (up to {found[:12]}); refusing to rebuild it",
            hint=f"Move them to a branch of their own (`git branch NAME {found[:12]}`) and take them off this one.",
        )


class GitBranchMerger:
    """Builds batch branches without touching any checkout.

    For each batch, one call at a time; repeating a call after a crash gives the same commit. `git_dir` is the
    repository's common git folder, `private` a folder of plait's own. `regenerate` makes files in a checkout of a
    commit.
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
        git_environment = os.environ if environment is None else environment
        variables = {"GIT_DIR": str(self._git_dir), "GIT_NO_REPLACE_OBJECTS": "1"}
        self._git = Git(self._git_dir, environment=git_environment, variables=variables)
        self._private = PrivateGitDirs(self._git_dir, private.absolute(), git_environment)
        self._ancestry = Ancestry(self._git)
        self._merging = ChangeMerger(self._git, self._private, self._ancestry, regenerate)

    def merge(
        self, decision: MergeStarted, branch: str, message: MergeMessage, rules: MergeRules
    ) -> MergeDone | MergeConflicted:
        """Merge the task's change onto the batch branch named `branch`. Raises ChangeGoneError if the change no longer
        exists, another WorldError if merging fails.
        """
        with map_errors(f"{decision.task} could not be merged"):
            return self._retry_pruned([_change(decision)], lambda: self._merge_once(decision, branch, message, rules))

    def _merge_once(
        self, decision: MergeStarted, branch: str, message: MergeMessage, rules: MergeRules
    ) -> MergeDone | MergeConflicted:
        batch_branch = BatchBranch(self._git, self._git_dir, decision.batch, branch)
        trailers = MergeTrailers(decision.batch, _change(decision))
        commits = self._merging.read_commits(trailers.change, decision.onto, batch_branch.ref)
        current = commits.get(batch_branch.ref)
        if current is not None and current.id != decision.onto:
            return _check_existing(batch_branch, trailers, decision, current)
        batch_branch.ensure_not_checked_out()
        result = self._merging.merge_change(trailers, decision.onto, commits[decision.tip], message, rules)
        if isinstance(result, RebuildConflict):
            return MergeConflicted(decision.batch, decision.task, decision.n, result.files)
        try:
            # The objects of the change are kept, too, so that they are checked.
            with keep_objects(self._git, self._git_dir, [result], [decision.onto, decision.base], combine=False):
                batch_branch.move(result, f"merge {decision.task}", current)
        except GitError:
            moved = read_commits(self._git, [batch_branch.ref]).get(batch_branch.ref)
            if moved is None or moved.id == decision.onto:
                raise
            return _check_existing(batch_branch, trailers, decision, moved)
        return MergeDone(decision.batch, decision.task, decision.n, result)

    def _retry_pruned(self, changes: Sequence[Change], job: Callable[[], T]) -> T:
        """Run the job, again if objects were pruned meanwhile. Raises ChangeGoneError if objects of a change are
        missing: the task has to be done again.
        """
        try:
            return retry_pruned(lambda _: job())
        except GitError as error:
            for change in changes if is_object_gone(error) else ():
                if missing := find_missing_objects(self._git, [change.tip], [change.base]):
                    raise ChangeGoneError(
                        f"the result of {change.task} is damaged: {missing}",
                        hint=f"Something deleted it from the repository. Retry {change.task}, or drop it.",
                    ) from error
            raise

    def rebuild(
        self, decision: RebuildStarted, branch: str, base: str, messages: Mapping[str, MergeMessage], rules: MergeRules
    ) -> RebuildDone:
        """Rebuild the branch; the old one is kept under refs/plait/lines.

        Merges onto the same commits as before are reused: a tested commit stays the same commit.
        """
        with map_errors(f"the branch of batch {decision.batch} could not be rebuilt"):
            return self._retry_pruned(
                decision.line, lambda: self._rebuild_once(decision, branch, base, messages, rules)
            )

    def _rebuild_once(
        self, decision: RebuildStarted, branch: str, base: str, messages: Mapping[str, MergeMessage], rules: MergeRules
    ) -> RebuildDone:
        batch_branch = BatchBranch(self._git, self._git_dir, decision.batch, branch)
        commits = read_commits(self._git, [batch_branch.ref, base])
        if base not in commits:
            raise make_missing_commit_error(base, "the base of the batch,")
        current = commits.get(batch_branch.ref)
        old_merges = _read_merges(self._git, decision.batch, current.id, base) if current else {}
        if current is not None and old_merges is None:
            raise batch_branch.make_foreign_commits_error(current.id)
        head, line, conflicts, held = base, [], [], [base]
        for change in decision.line:
            trailers = MergeTrailers(decision.batch, change)
            result: str | RebuildConflict | None = _reuse_merge(trailers, head, old_merges or {})
            if result is None:
                result = self._merge_change(trailers, head, messages, rules)
                held.append(change.tip)
            if isinstance(result, RebuildConflict):
                conflicts.append(result)
            else:
                head = result
                line.append(MergedTask(change.task, head))
        if current is None or current.id != head:
            self._replace_branch(batch_branch, current, head, decision.n, held)
        return RebuildDone(decision.batch, decision.n, tuple(line), tuple(conflicts))

    def is_whole(self, head: str, base: str) -> bool:
        """Whether all objects of a branch exist, from its base on."""
        with map_errors(f"the branch at {head} could not be read"):
            return not find_missing_objects(self._git, [head], [base])

    def restore(self, batch: str, branch: str, base: str, merges: Sequence[KnownMerge], rules: MergeRules) -> None:
        """Make those merges of the branch whose objects are missing again, as the same commits. Raises WorldError if a
        result is missing, too, or if the new commits differ, which happens where commits are signed.
        """
        head, onto = merges[-1].commit, base
        with map_errors(f"the branch of batch {batch} could not be restored"):
            for merge in merges:
                if find_missing_objects(self._git, [merge.commit], [onto]):
                    self._make_again(batch, merge, onto, rules)
                onto = merge.commit
            batch_branch = BatchBranch(self._git, self._git_dir, batch, branch)
            current = read_commits(self._git, [batch_branch.ref]).get(batch_branch.ref)
            with keep_objects(self._git, self._git_dir, [head], [base], combine=False):
                if current is None or current.id in {base, *(merge.commit for merge in merges[:-1])}:
                    batch_branch.move(head, "restored", current)

    def _make_again(self, batch: str, merge: KnownMerge, onto: str, rules: MergeRules) -> None:
        trailers = MergeTrailers(batch, merge.change)
        tip = self._merging.read_commits(merge.change, onto)[merge.change.tip]
        made = (self._merging.merge_change(trailers, onto, tip, message, rules) for message in merge.messages)
        if merge.commit not in made:
            task = merge.change.task
            raise WorldError(
                f"the merge of {task} ({merge.commit[:12]}) is gone and can't be made again as the same commit",
                hint=f"plait drop {task}, and plait retry {task} afterwards, rebuild the branch.",
            )

    def describe_conflict(self, decision: MergeStarted, rules: MergeRules) -> str:
        """Describe both sides of a conflict as text of bounded length, for the agent that resolves it."""
        with map_errors(f"the conflict of {decision.task} could not be read"):
            git, tried, plan = self._merging.try_merge(_change(decision), decision.onto, rules, CONFLICT_STYLE)
            return format_conflict(git, tried, plan.conflicts)

    def predict_conflicts(
        self, onto: str, tips: Mapping[str, tuple[str, str]], rules: MergeRules
    ) -> list[PredictedConflict]:
        """Predict which of these changes (base and tip by task) would conflict with each other or with the branch
        (`right` "").
        """
        with map_errors("could not predict conflicts"):
            commits = read_commits(self._git, [onto, *(name for pair in tips.values() for name in pair)])
            known = {task: pair for task, pair in tips.items() if {onto, *pair} <= commits.keys()}
            return three_way.predict_conflicts(self._private, self._ancestry, onto, known, rules) if known else []

    def _merge_change(
        self, trailers: MergeTrailers, onto: str, messages: Mapping[str, MergeMessage], rules: MergeRules
    ) -> str | RebuildConflict:
        tip = self._merging.read_commits(trailers.change, onto)[trailers.change.tip]
        message = messages.get(trailers.change.task) or MergeMessage(f"Merge {trailers.change.task}")
        return self._merging.merge_change(trailers, onto, tip, message, rules)

    def _replace_branch(
        self, branch: BatchBranch, current: Commit | None, head: str, n: int, held: Sequence[str]
    ) -> None:
        """Save the old branch, then move it. Refs already hold the commits in `held`."""
        branch.ensure_not_checked_out()
        if current is not None:
            branch.save(current.id, n)
        held = [*held, *([current.id] if current else [])]
        with keep_objects(self._git, self._git_dir, [head], held, combine=False):
            branch.move(head, "rebuilt", current)


def _change(decision: MergeStarted) -> Change:
    return Change(decision.task, decision.base, decision.tip)


def _check_existing(branch: BatchBranch, trailers: MergeTrailers, decision: MergeStarted, current: Commit) -> MergeDone:
    """Check a branch that has moved: either this very merge moved it before a crash, or someone else did, which is an
    error.
    """
    if not trailers.matches(current, decision.onto):
        raise branch.make_moved_error(current.id, decision.onto)
    return MergeDone(decision.batch, decision.task, decision.n, current.id)


def _reuse_merge(trailers: MergeTrailers, onto: str, old_merges: Mapping[str, Commit]) -> str | None:
    old_merge = old_merges.get(onto)
    return old_merge.id if old_merge is not None and trailers.matches(old_merge, onto) else None


def _read_merges(git: Git, batch: str, head: str, base: str) -> dict[str, Commit] | None:
    """Return the merges from `base` to `head`, by their first parents; None if some of them are not plait's."""
    listed = git.text("rev-list", "--first-parent", head, f"^{base}").split() if head != base else []
    commits = read_commits(git, listed)
    trailer = f"Plait-Batch: {' '.join(batch.split())}"
    if any(trailer not in commit.trailers for commit in commits.values()):
        return None
    merges = {commit.parents[0]: commit for commit in commits.values() if commit.parents}
    return merges if head == base or base in merges else None
