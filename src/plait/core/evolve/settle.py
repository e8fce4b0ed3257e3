"""A task's end, and its return from it: the counters of dependents, phases and the batch follow."""

from __future__ import annotations

from plait.core.evolve.foresight import forget
from plait.core.evolve.index import place, put_down, take
from plait.core.evolve.phases import count_phase
from plait.core.settings import Mode
from plait.core.state import BatchState, State, TaskState, Unmerged
from plait.core.status import TaskStatus
from plait.core.task import Step

FAILURES = frozenset({TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED})


def settle(state: State, batch: BatchState, task: TaskState, status: TaskStatus | None) -> None:
    """Give the task this terminal status, or (None) take it back into the batch."""
    before = task.status
    task.status = status
    _count(batch, before, status)
    _tell_dependents(state, batch, task, before, status)
    if batch.phases:
        count_phase(state, batch, task, before, status)
    _note_failure(batch, task)
    if status is not None:
        _close(state, batch, task)
    want(batch, task)
    place(state, batch, task)


def want(batch: BatchState, task: TaskState) -> None:
    """Note whether what the task merged still belongs into the batch branch."""
    wanted = task.merged and (task.status is None or task.status is TaskStatus.DONE)
    if task.merged_life is not None and not wanted:
        batch.unwanted[task.place] = None
    else:
        batch.unwanted.pop(task.place, None)


def reopen(state: State, batch: BatchState, task: TaskState) -> None:
    """Begin another life: nothing that happened in the last one counts against it."""
    if task.status is None:
        return
    task.life += 1
    task.fresh = True
    task.agreed = task.spent
    task.writes_before = task.numbers.get(Step.WRITE, 0)
    task.step = Step.WRITE
    task.tries = task.losses = task.repairs = task.merge_failures = task.misfits = task.refusals = 0
    task.not_before = task.question = task.interrupted = task.doom = task.base = task.tip = task.commit = None
    task.category = task.by = task.ended_at = task.started_at = task.diffstat = None
    task.reason = task.winner = ""
    task.outdone = ()
    task.unmerged = None
    settle(state, batch, task, None)
    reopen_batch(state, batch)
    batch.cancelled = False


def unmerged(task: TaskState) -> Unmerged | None:
    if task.base is None or task.tip is None:
        return None
    return Unmerged(task.base, task.tip, task.diffstat, task.winner)


def merge_again(state: State, batch: BatchState, task: TaskState, written: Unmerged) -> None:
    """What is to be merged is there, so nobody writes it again. Who has taken its files since then keeps them, and in a
    queue its turn.
    """
    task.base, task.tip, task.diffstat, task.winner = (
        written.base,
        written.tip,
        written.diffstat,
        written.winner,
    )
    task.step, task.fresh = Step.MERGE, False
    turn = batch.settings.mode is not Mode.QUEUE or not batch.active
    if turn and all(state.ready.holder(token) is None for token in task.tokens):
        take(state, batch, task)
    place(state, batch, task)


def write_instead(task: TaskState) -> None:
    """What was taken up to be merged begins anew: its workspace was given back when it ended, with all that was in it."""
    if task.step is Step.MERGE and task.numbers.get(Step.WRITE, 0) == task.writes_before:
        task.base = task.tip = None
        task.fresh = True
    task.step = Step.WRITE


def reopen_batch(state: State, batch: BatchState) -> None:
    if batch.ended is not None:
        batch.ended = batch.ended_at = batch.unpublished = None
        batch.reason = ""
        state.open[batch.id] = batch


def _note_failure(batch: BatchState, task: TaskState) -> None:
    if task.status in FAILURES and task.task.entrant is None:
        batch.failures[task.place] = None
        return
    batch.failures.pop(task.place, None)
    if batch.halted == task.task.id:
        batch.halted = None


def _count(batch: BatchState, before: TaskStatus | None, after: TaskStatus | None) -> None:
    for status, change in ((before, -1), (after, 1)):
        if status is None:
            batch.unsettled += change
        else:
            batch.tally[status] = batch.tally.get(status, 0) + change


def _tell_dependents(
    state: State, batch: BatchState, task: TaskState, before: TaskStatus | None, after: TaskStatus | None
) -> None:
    pending = (before is TaskStatus.DONE) - (after is TaskStatus.DONE)
    lost = _lost(after) - _lost(before)
    if not pending and not lost:
        return
    for dependent in task.dependents:
        other = batch.tasks[dependent]
        if task.place in other.entrants:
            other.pending += (after is None) - (before is None)
        else:
            other.pending += pending
            other.lost += lost
        if other.pending or (other.unmerged is not None and other.unmerged.winner == task.task.id):
            other.unmerged = None  # it was made with what is to be made again, or is not wanted
        place(state, batch, other)


def _lost(status: TaskStatus | None) -> int:
    return int(status is not None and status is not TaskStatus.DONE)


def _close(state: State, batch: BatchState, task: TaskState) -> None:
    """Nothing of an ended task is under way or waits any more."""
    if task.not_before is not None:
        state.backoffs.discard((task.not_before, batch.id, task.place))
    task.doom = task.clash = task.merge_error = task.not_before = task.question = None
    task.interrupted = task.retry = task.repairing = task.wants = None
    task.unjudged.clear()
    task.redo = False
    task.feedback = ""
    forget(batch, task)
    put_down(state, batch, task)
