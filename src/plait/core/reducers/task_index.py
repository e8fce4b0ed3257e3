"""The index of next actions: each task is in exactly one place of it, by its own facts."""

from __future__ import annotations

from plait.core.contest import has_no_winner
from plait.core.file_locks import FILE_PREFIX, GROUP_PREFIX
from plait.core.settings import Isolation, Mode, Order
from plait.core.start_queue import QueueEntry, QueueKey, StartOrder
from plait.core.state import BatchState, State, TaskState
from plait.core.status import NextAction, TaskStatus
from plait.core.task import Step

LOCK_SCOPE_SEPARATOR = "\0"  # between a batch and its lock: neither an id nor a file name can hold it


def find_next_action(batch: BatchState, task: TaskState) -> NextAction:
    if must_end(batch, task):
        return _find_ending_action(task)
    if task.status is not None or task.interrupted is not None:
        return NextAction.NONE
    if has_undecided_outcome(task):
        return NextAction.DECIDE_OUTCOME
    if task.alive:
        restarts = task.restart_requested and any(attempt.ending is None for attempt in task.alive.values())
        return NextAction.END_ATTEMPT if restarts else NextAction.NONE
    if task.rechecking and task.step is Step.WRITE:
        return NextAction.END_TASK
    if task.committing is not None or task.merging is not None:
        return NextAction.NONE
    if task.not_before is not None or task.question is not None or task.pending_needs:
        return NextAction.NONE
    return NextAction.COMMIT if task.uncommitted is not None else _find_next_step(batch, task)


def _find_next_step(batch: BatchState, task: TaskState) -> NextAction:
    if task.is_merged:
        ungated = batch.settings.gate is not None and task.merge_position >= batch.gate_good_size
        return NextAction.NONE if ungated else NextAction.FINISH
    if task.step is not Step.WRITE:
        return NextAction.VERIFY if task.step is Step.VERIFY else NextAction.MERGE
    if task.entrants and has_no_winner(batch, task):
        return NextAction.END_TASK
    return NextAction.NONE if task.phase_closed else NextAction.START


def must_end(batch: BatchState, task: TaskState) -> bool:
    """Whether the task ends whatever its attempts do: by request, or because something it needs did not succeed."""
    if task.pending_end is not None:
        return True
    if task.status is not None and task.status is not TaskStatus.DONE:
        return False
    return task.lost_needs > 0 or (
        task.status is None and task.phase_closed and task.task.phase in batch.unopenable_phases
    )


def has_undecided_outcome(task: TaskState) -> bool:
    errors = (task.conflict_files, task.commit_error, task.merge_error)
    return bool(task.undecided_exits) or any(error is not None for error in errors)


def _find_ending_action(task: TaskState) -> NextAction:
    if any(attempt.ending is None for attempt in task.alive.values()):
        return NextAction.END_ATTEMPT
    return NextAction.NONE if task.alive or task.merging is not None else NextAction.END_TASK


def reindex_task(state: State, batch: BatchState, task: TaskState) -> None:
    """Put the task where its facts say; call it after every change of them."""
    if task.pending_needs and task.is_under_way:
        _reset_to_write(state, batch, task)
    now = find_next_action(batch, task)
    if now is task.next_action:
        return
    if task.next_action is NextAction.START:
        state.start_queue.discard((batch.id, task.index))
    elif task.next_action is not NextAction.NONE:
        batch.tasks_by_action[task.next_action].discard(task.index)
    if now is NextAction.START:
        state.start_queue.add(QueueEntry((batch.id, task.index), task.queue_key, start_order(batch, task), task.locks))
    elif now is not NextAction.NONE:
        batch.tasks_by_action[now].add(task.index)
    task.next_action = now


def _reset_to_write(state: State, batch: BatchState, task: TaskState) -> None:
    """Reset a task that needs one that runs again; it releases its locks, so that the other never waits for them."""
    if task.alive or task.committing is not None or task.merging is not None or has_undecided_outcome(task):
        return
    if not task.is_merged:
        task.step, task.base, task.tip, task.uncommitted = Step.WRITE, None, None, None
    release_locks(state, batch, task)


def acquire_locks(state: State, batch: BatchState, task: TaskState) -> None:
    """Take the task's locks and its workspace until it ends: merged, and gated where there is a gate."""
    if not task.holds_locks:
        task.holds_locks = True
        batch.active[task.index] = None
    state.start_queue.acquire((batch.id, task.index), task.locks)


def are_locks_free(state: State, task: TaskState) -> bool:
    return all(state.start_queue.holder(lock) is None for lock in task.locks)


def reacquire_locks(state: State, batch: BatchState, task: TaskState) -> None:
    """Take the locks of all files that the task is known to change, or release all and wait: so two tasks never repair
    one file at the same time, and none waits for a file while it holds another.
    """
    wanted = {**dict.fromkeys(task.locks), **dict.fromkeys(_list_wanted_locks(batch, task))}
    others = (state.start_queue.holder(lock) not in {None, (batch.id, task.index)} for lock in wanted)
    if not task.holds_locks or any(others):
        release_locks(state, batch, task)
    else:
        task.locks = tuple(wanted)
        acquire_locks(state, batch, task)


def release_locks(state: State, batch: BatchState, task: TaskState) -> None:
    """Free the task's locks and its workspace."""
    if task.holds_locks:
        task.holds_locks = False
        del batch.active[task.index]
        state.start_queue.release((batch.id, task.index), task.locks)
        task.locks = _list_wanted_locks(batch, task)


def _list_wanted_locks(batch: BatchState, task: TaskState) -> tuple[str, ...]:
    return (*scope_locks(batch, batch.plan.holds[task.index]), *task.learned_locks)


def start_order(batch: BatchState, task: TaskState) -> StartOrder:
    """Return the sort key of a ready task: first those that hold their files, then those started before, then by
    priority and the batch's order.
    """
    begun = 0 if task.holds_locks else 1 + task.fresh
    if batch.settings.mode is Mode.QUEUE or batch.settings.order is Order.FIFO:
        return (begun, 0, 0.0, task.index)
    if batch.settings.order is Order.QUICK_FIRST:
        return (begun, task.task.priority, task.task.expected_seconds, task.index)
    return (begun, task.task.priority, -batch.plan.ranks[task.index], task.index)


def scope_locks(batch: BatchState, holds: tuple[str, ...]) -> tuple[str, ...]:
    """Return the locks under names that are unique in the engine: a group is shared by all batches, a file only by
    in-place batches, and any other lock belongs to one batch.
    """
    shared = batch.settings.isolation is Isolation.IN_PLACE
    return tuple(
        lock
        if lock.startswith(GROUP_PREFIX) or (shared and lock.startswith(FILE_PREFIX))
        else f"{batch.id}{LOCK_SCOPE_SEPARATOR}{lock}"
        for lock in holds
    )


def move_to_queue(state: State, batch: BatchState, task: TaskState, agents: tuple[str, ...]) -> None:
    """Update the task's queue and its order after settings changed."""
    queued = task.next_action is NextAction.START
    if queued:
        state.start_queue.discard((batch.id, task.index))
        task.next_action = NextAction.NONE
    task.queue_key = QueueKey(batch.id, agents, task.queue_key.is_contest)
    if queued:
        reindex_task(state, batch, task)
