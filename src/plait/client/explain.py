"""Why a task is where it is, what it has been through, and what came of it.

The result of a task: what it changed, where that is, as what it was merged, and what the gate said.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from plait.client.conflicts import ConflictView, conflict_json, view_conflict
from plait.client.contest_results import ContestView, contest_json, view_contest
from plait.client.history import (
    GateRun,
    MergeConflict,
    PastAttempt,
    read_history,
)
from plait.client.json_encoding import to_iso, to_iso_or_none
from plait.client.next_step import suggest_next_step
from plait.core.explain import TaskExplanation, explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Isolation
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Need
from plait.git import refs
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.interfaces import JournalMissingError


@dataclass(frozen=True, slots=True)
class FullExplanation:
    state: State
    batch: BatchState
    task: TaskState
    attempts: Sequence[PastAttempt]
    result: TaskResultDetails | None
    contest: ContestView | None
    conflict: ConflictView | None


def explain_fully(place: RepoLocation, state: State, batch: BatchState, task: TaskState) -> FullExplanation:
    """By what the journal tells of its past."""
    known = build_explanation(place, state, (batch, task), *_read_history(place, batch.id, task.task.id))
    return replace(known, result=confirm_result(place, known.result))


def build_explanation(  # noqa: PLR0913, PLR0917 - all that is told of it
    place: RepoLocation,
    state: State,
    subject: tuple[BatchState, TaskState],
    attempts: Sequence[PastAttempt],
    gate: GateRun | None,
    conflict: MergeConflict | None,
) -> FullExplanation:
    """Its `result` is the one that is expected: git has not been asked for it."""
    batch, task = subject
    contest = view_contest(project_files.open_state_paths(place), batch, task) if task.entrants else None
    result = derive_result(batch, task, _find_changed_files(attempts), gate)
    return FullExplanation(state, batch, task, attempts, result, contest, view_conflict(batch, task, conflict))


def _read_history(
    place: RepoLocation, batch: str, task: str
) -> tuple[Sequence[PastAttempt], GateRun | None, MergeConflict | None]:
    try:
        with closing(project_files.open_project_journal(place)) as reader:
            history = read_history(reader.read(), batch)
    except JournalMissingError:
        return (), None, None
    return history.list_attempts(task), history.find_deciding_gate(task), history.find_conflict(task)


def _find_changed_files(past: Sequence[PastAttempt]) -> Sequence[str]:
    return next((each.outcome.files for each in reversed(past) if each.outcome and each.outcome.files), ())


def explanation_json(known: FullExplanation) -> dict[str, object]:
    contest = known.contest
    return {
        **_task_state_json(known.state, known.batch, known.task, known.attempts),
        "result": result_json(known.result),
        "contest": None if contest is None else contest_json(contest),
        "conflict": conflict_json(known.conflict),
    }


def _task_state_json(
    state: State, batch: BatchState, task: TaskState, past: Sequence[PastAttempt]
) -> dict[str, object]:
    stands = explain_status(state, batch, task)
    return {
        "batchId": batch.id,
        "taskId": task.task.id,
        "title": task.task.title,
        "source": str(task.task.origin) if task.task.origin else None,
        "status": stands.status.value,
        "reason": stands.reason,
        "waiting": stands.waiting.value if stands.waiting else None,
        "needs": [_need_json(state, batch, need) for need in task.task.needs],
        "attempts": [_attempt_json(each) for each in past],
        "way": suggest_next_step(state, batch, task),
    }


def _need_json(state: State, batch: BatchState, need: Need) -> dict[str, object]:
    stands = explain_need(state, batch, need)
    return {
        "id": need.on,
        "kind": need.kind.value,
        "reason": need.reason,
        "at": str(need.at) if need.at else None,
        "status": stands.status.value if stands else None,
    }


def _attempt_json(each: PastAttempt) -> dict[str, object]:
    outcome = each.outcome
    return {
        "step": each.attempt.step.value,
        "attempt": each.attempt.n,
        "agent": each.agent,
        "startedAt": to_iso(each.started_at),
        "completedAt": to_iso_or_none(each.ended_at),
        "category": outcome.category.value if outcome else None,
        "exitCode": outcome.exit_code if outcome else None,
        "detail": outcome.detail if outcome else None,
        "endedFor": each.ending.value if each.ending else None,
        "retriedFor": each.then or None,
    }


def result_json(known: TaskResultDetails | None) -> dict[str, object] | None:
    if known is None:
        return None
    gate = known.gate
    return {
        "branch": known.branch if known.tip else None,
        "tip": known.tip or None,
        "ref": known.kept or None,
        "worktreePath": known.workspace or None,
        "files": known.files,
        "commit": known.merged or None,
        "place": known.place or None,
        "gate": None
        if gate is None
        else {"gate": gate.decision.n, "commit": gate.decision.commit, "passed": gate.passed},
        "published": known.published or None,
    }


def explain_need(state: State, batch: BatchState, need: Need) -> TaskExplanation | None:
    """Where a task stands that another one needs; None: it is not in this batch."""
    other = batch.find_task(need.on)
    return None if other is None else explain_status(state, batch, other)


@dataclass(frozen=True, slots=True)
class TaskResultDetails:
    """`branch` is the task's own, and `tip` its commit there ("": it is gone, and then `kept` is the ref that still has
    its work, if one does). `merged` is the commit in the batch branch, `place` its number in the line, from 1.
    """

    branch: str
    tip: str = ""
    kept: str = ""
    workspace: str = ""
    files: tuple[str, ...] = ()
    diffstat: tuple[int, int, int] | None = None
    merged: str = ""
    place: int = 0
    gate: GateRun | None = None
    published: str = ""


def derive_result(
    batch: BatchState, task: TaskState, files: Sequence[str], gate: GateRun | None
) -> TaskResultDetails | None:
    """As far as the state tells it: `kept` is where its work should lie. None: it has none, or not one of its own.

    `files` are those that its last good attempt changed.
    """
    if batch.settings.isolation is Isolation.IN_PLACE or not task.attempt_counts:
        return None
    leased = task.status is None and task.last is not None
    return TaskResultDetails(
        refs.task_branch(batch.id, task.task.id),
        kept=refs.attempt_ref(task.last_write.name) if task.last_write is not None else "",
        workspace=task.last.workspace if leased and task.last is not None else "",
        files=tuple(files),
        diffstat=task.diffstat,
        merged=(task.commit or "") if task.is_merged else "",
        place=task.merge_position + 1 if task.is_merged else 0,
        gate=gate,
        published=_find_published_commit(batch) if task.is_merged else "",
    )


def confirm_result(place: RepoLocation, known: TaskResultDetails | None) -> TaskResultDetails | None:
    """Branches are git's: only git knows whether they are still there."""
    from plait.git.command import Git, GitError  # only for whoever looks at one task

    if known is None or not place.repository:
        return None
    branch = f"refs/heads/{known.branch}"
    words = ("for-each-ref", "--format=%(refname) %(objectname)", "--", *filter(None, (branch, known.kept)))
    try:
        told = Git(place.state.parent).text(*words)
    except GitError:
        return replace(known, kept="")
    there = dict(line.split(" ", 1) for line in told.splitlines())
    tip = there.get(branch, "")
    return replace(known, tip=tip, kept=known.kept if not tip and known.kept in there else "")


def _find_published_commit(batch: BatchState) -> str:
    """The commit that was pushed, if that is the branch as it is now."""
    known = batch.published
    return known.commit if known is not None and known.commit == batch.head else ""
