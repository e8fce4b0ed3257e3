"""What ends attempts, tasks and batches early.

A running attempt is asked to end when its task ends, its batch is stopped, feedback replaces it, it runs too long, or it
prints nothing for too long. A clock jump moves its deadlines. A task ends by request, or when something it needs will
never be done; independent tasks continue. One failure can halt everything that has not started.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core import decisions
from plait.core.contest import has_no_winner
from plait.core.decisions import Decision, Due
from plait.core.scheduler.batches import why_phase_blocked
from plait.core.settings import OnConflict
from plait.core.state import BatchState, State, TaskState
from plait.core.status import EndWhy, NextAction, TaskStatus


def schedule_attempt_ends(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        for index in batch.tasks_by_action[NextAction.END_ATTEMPT]:
            task = batch.tasks[index]
            for attempt in task.alive.values():
                if attempt.ending is None:
                    yield decisions.AttemptEnding(attempt.name, _end_reason(task))
        if batch.stopping:
            yield from _stop_batch(batch)
        if batch.cancelled and batch.gate is not None and batch.gate.ending is None:
            yield decisions.GateEnding(batch.id, batch.gate.n, EndWhy.CANCEL)


def _end_reason(task: TaskState) -> EndWhy:
    if task.pending_end is not None:
        return task.pending_end.why
    return EndWhy.BLOCKED if task.lost_needs else EndWhy.FEEDBACK


def _stop_batch(batch: BatchState) -> Iterator[Decision]:
    for attempt in batch.alive.values():
        if attempt.ending is None or (batch.stop_now and not attempt.ending_now):
            yield decisions.AttemptEnding(attempt.name, EndWhy.STOP, now=batch.stop_now)
    if batch.gate is not None and batch.gate.ending is None:
        yield decisions.GateEnding(batch.id, batch.gate.n, EndWhy.STOP)


def schedule_timeouts(state: State) -> Iterator[Due]:
    for at, name in state.deadlines:
        attempt = state.find_attempt(name)
        if attempt is not None:
            why = EndWhy.TIMEOUT if attempt.deadline <= at else EndWhy.IDLE
            yield Due(at, decisions.AttemptEnding(name, why))


def schedule_deadline_shift(state: State) -> Iterator[Decision]:
    if state.clock_jump:
        yield decisions.DeadlinesMoved(state.clock_jump)


END_VERBS = {
    TaskStatus.FAILED: "failed",
    TaskStatus.TIMED_OUT: "timed out",
    TaskStatus.BLOCKED: "is blocked",
    TaskStatus.SKIPPED: "was skipped",
    TaskStatus.CONFLICTED: "conflicted",
    TaskStatus.CANCELLED: "was cancelled",
}


def schedule_task_ends(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        for index in batch.tasks_by_action[NextAction.END_TASK]:
            yield _end_task(batch, batch.tasks[index])


def _end_task(batch: BatchState, task: TaskState) -> decisions.TaskEnded:
    if task.pending_end is not None:
        return decisions.TaskEnded(
            batch.id, task.task.id, task.pending_end.status, task.pending_end.reason, by=task.pending_end.by
        )
    need = next((other for other in batch.find_needs(task) if other.status in END_VERBS), None)
    if need is None and task.rechecking:
        why = "a task it needs is done again, so its finished work is out of date: retry it"
        return decisions.TaskEnded(batch.id, task.task.id, TaskStatus.FAILED, why)
    shut = task.phase_closed and task.task.phase in batch.unopenable_phases
    if need is None and not shut and has_no_winner(batch, task):
        return decisions.TaskEnded(batch.id, task.task.id, TaskStatus.FAILED, _describe_lost_contest(batch, task))
    if need is None:
        return decisions.TaskEnded(batch.id, task.task.id, TaskStatus.BLOCKED, why_phase_blocked(batch, task))
    assert need.status is not None
    root = need.cause_of_end
    by = f" by {root}" if root != need.task.id else ""
    reason = f"needs {need.task.id}, which {END_VERBS[need.status]}{by}"
    return decisions.TaskEnded(batch.id, task.task.id, TaskStatus.BLOCKED, reason, by=root)


def _describe_lost_contest(batch: BatchState, task: TaskState) -> str:
    ends = []
    for entrant in batch.find_entrants(task):
        how = "was chosen, but its change failed verification"
        ends.append(f"{entrant.task.id} {END_VERBS.get(entrant.status or TaskStatus.DONE, how)}")
    return f"no entrant passed: {'; '.join(ends)}"


def schedule_halts(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        failed = _find_halting_task(batch) if batch.failures and batch.halted_by is None else None
        if failed is not None and failed.status is not None:
            why = f"the batch stopped because {failed.task.id} {END_VERBS[failed.status]}"
            yield decisions.BatchHalted(batch.id, failed.task.id, why)


def _find_halting_task(batch: BatchState) -> TaskState | None:
    """Return the first failure that stops this batch by its settings."""
    failed = (batch.tasks[index] for index in batch.failures)
    if batch.settings.stop_on_fail:
        return next(failed)
    if batch.settings.on_conflict is not OnConflict.FAIL or not batch.status_counts.get(TaskStatus.CONFLICTED):
        return None
    return next(task for task in failed if task.status is TaskStatus.CONFLICTED)
