"""A task's end, and its return from it: the counters of dependents, phases and the batch follow."""

from __future__ import annotations

from plait.core.reducers.batches import update_phase_counts
from plait.core.reducers.file_conflicts import clear_predictions
from plait.core.reducers.task_index import acquire_locks, are_locks_free, reindex_task, release_locks
from plait.core.settings import Mode
from plait.core.state import AttemptState, BatchState, FinishedChange, State, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Step


def set_task_status(state: State, batch: BatchState, task: TaskState, status: TaskStatus | None) -> None:
    """Give the task this terminal status; None takes it back into the batch."""
    before = task.status
    task.status = status
    _update_status_counts(batch, before, status)
    _update_dependents(state, batch, task, before, status)
    if batch.phases:
        update_phase_counts(state, batch, task, before, status)
    _record_failure(batch, task)
    if status is not None:
        _clear_task(state, batch, task)
    update_rebuild_need(batch, task)
    reindex_task(state, batch, task)


def update_rebuild_need(batch: BatchState, task: TaskState) -> None:
    """Note whether what the task merged still belongs into the batch branch."""
    wanted = task.is_merged and (task.status is None or task.status is TaskStatus.DONE)
    if task.merged_generation is not None and not wanted:
        batch.merges_to_drop[task.index] = None
    else:
        batch.merges_to_drop.pop(task.index, None)


def reopen_task(state: State, batch: BatchState, task: TaskState) -> None:
    """Start another generation of an ended task: nothing of the last one counts."""
    if task.status is None:
        return
    task.generation += 1
    task.fresh = True
    task.approved_spend = task.spent
    task.writes_before = task.attempt_counts.get(Step.WRITE, 0)
    task.step = Step.WRITE
    task.counted_retries = task.lost_attempts = task.repairs = task.suspect_refusals = task.refusals = 0
    task.commit_failures = task.merge_failures = 0
    task.not_before = task.question = task.interrupted = task.pending_end = task.base = task.tip = task.commit = None
    task.category = task.by = task.ended_at = task.started_at = task.diffstat = task.ballot = None
    task.reason = task.winner = ""
    task.rejected_entrants = ()
    task.unmerged = task.finished = task.uncommitted = None
    set_task_status(state, batch, task, None)
    reopen_batch(state, batch)
    batch.cancelled = False


def find_finished_change(task: TaskState) -> FinishedChange | None:
    """Return the change that the task's agent finished; None if it has yet to be written, or is gone."""
    if task.base is None or task.step is Step.WRITE:
        return None
    return FinishedChange(task.base, task.tip or "", task.diffstat, task.winner, task.ballot)


def resume_at(state: State, batch: BatchState, task: TaskState, written: FinishedChange, step: Step) -> None:
    """Continue at this step with an existing change. Tasks that took its files or its turn meanwhile keep them."""
    task.base, task.tip = written.base, written.tip or None
    task.diffstat, task.winner, task.ballot = written.diffstat, written.winner, written.ballot
    task.step, task.fresh = step, False
    turn = batch.settings.mode is not Mode.QUEUE or not batch.active
    if turn and are_locks_free(state, task):
        acquire_locks(state, batch, task)
    reindex_task(state, batch, task)


def resume_commit(state: State, batch: BatchState, task: TaskState, uncommitted: AttemptState) -> None:
    """Continue with what an attempt left in its workspace."""
    task.uncommitted = uncommitted
    resume_at(state, batch, task, FinishedChange(uncommitted.decision.base, ""), Step.WRITE)


def stop_commit(batch: BatchState, task: TaskState) -> None:
    """Forget the running commit: whatever is reported of it no longer counts."""
    task.committing, task.awaited_program = None, ""
    batch.committing.pop(task.index, None)


def end_backoff(state: State, batch: BatchState, task: TaskState) -> None:
    if task.not_before is not None:
        state.backoffs.discard((task.not_before, batch.id, task.index))
        task.not_before = None


def restart_write(batch: BatchState, task: TaskState) -> None:
    """Go back to the write step. A task that was retried from a later step starts over, because its workspace is gone."""
    if task.step is not Step.WRITE and task.attempt_counts.get(Step.WRITE, 0) == task.writes_before:
        task.base = task.tip = None
        task.fresh = True
    task.step = Step.WRITE
    stop_commit(batch, task)
    task.uncommitted = task.commit_error = None


def reopen_batch(state: State, batch: BatchState) -> None:
    if batch.ended is not None:
        batch.ended = batch.ended_at = batch.publish_failure = None
        batch.reason = ""
        state.open[batch.id] = batch


def _record_failure(batch: BatchState, task: TaskState) -> None:
    if task.status is not None and task.status.is_failure and task.task.entrant is None:
        batch.failures[task.index] = None
        return
    batch.failures.pop(task.index, None)
    if batch.halted_by == task.task.id:
        batch.halted_by = None


def _update_status_counts(batch: BatchState, before: TaskStatus | None, after: TaskStatus | None) -> None:
    for status, change in ((before, -1), (after, 1)):
        if status is None:
            batch.unfinished_count += change
        else:
            batch.status_counts[status] = batch.status_counts.get(status, 0) + change


def _update_dependents(
    state: State, batch: BatchState, task: TaskState, before: TaskStatus | None, after: TaskStatus | None
) -> None:
    pending = (before is TaskStatus.DONE) - (after is TaskStatus.DONE)
    lost = _is_lost(after) - _is_lost(before)
    if not pending and not lost:
        return
    for dependent in task.dependents:
        other = batch.tasks[dependent]
        if task.index in other.entrants:
            other.pending_needs += (after is None) - (before is None)
        else:
            other.pending_needs += pending
            other.lost_needs += lost
        if other.pending_needs or (other.finished is not None and other.finished.winner == task.task.id):
            other.unmerged = other.finished = None  # made with a change that is being redone, or is not wanted
            other.uncommitted = None if other.status is not None else other.uncommitted
        reindex_task(state, batch, other)


def _is_lost(status: TaskStatus | None) -> int:
    return int(status is not None and status is not TaskStatus.DONE)


def _clear_task(state: State, batch: BatchState, task: TaskState) -> None:
    """Clear what an ended task was doing or waiting for."""
    end_backoff(state, batch, task)
    stop_commit(batch, task)
    task.pending_end = task.conflict_files = task.commit_error = task.merge_error = task.question = None
    task.interrupted = task.retry_reason = task.change_to_repair = task.requested_spend = None
    task.undecided_exits.clear()
    task.restart_requested = task.rechecking = False
    task.feedback = ""
    clear_predictions(batch, task)
    release_locks(state, batch, task)
