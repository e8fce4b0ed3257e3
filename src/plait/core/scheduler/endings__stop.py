"""Running attempts whose task is over, whose batch is stopped, or that must make room for feedback are asked to end."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import AttemptEnding, GateEnding
from plait.core.decisions__due import Due, due_now
from plait.core.state import BatchState, State, TaskState
from plait.core.status import EndWhy
from plait.core.status__owed import NextAction


def schedule_attempt_ends(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for place in batch.tasks_by_action[NextAction.END_ATTEMPT]:
            task = batch.tasks[place]
            for attempt in task.alive.values():
                if attempt.ending is None:
                    yield due_now(AttemptEnding(attempt.name, _end_reason(task)))
        if batch.stopping:
            yield from _stop_batch(batch)
        if batch.cancelled and batch.gate is not None and batch.gate.ending is None:
            yield due_now(GateEnding(batch.id, batch.gate.n, EndWhy.CANCEL))


def _end_reason(task: TaskState) -> EndWhy:
    if task.pending_end is not None:
        return task.pending_end.why
    return EndWhy.BLOCKED if task.lost_needs else EndWhy.FEEDBACK


def _stop_batch(batch: BatchState) -> Iterator[Due]:
    for attempt in batch.alive.values():
        if attempt.ending is None or (batch.stop_now and not attempt.ending_now):
            yield due_now(AttemptEnding(attempt.name, EndWhy.STOP, now=batch.stop_now))
    if batch.gate is not None and batch.gate.ending is None:
        yield due_now(GateEnding(batch.id, batch.gate.n, EndWhy.STOP))
