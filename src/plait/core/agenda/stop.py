"""Running attempts whose task is over, whose batch is stopped, or that must make room for feedback are asked to end."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.decisions import AttemptEnding, GateEnding
from plait.core.owed import Owed
from plait.core.state import BatchState, State, TaskState
from plait.core.status import EndWhy


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for place in batch.owed[Owed.END]:
            task = batch.tasks[place]
            for attempt in task.alive.values():
                if attempt.ending is None:
                    yield now(AttemptEnding(attempt.name, _why(task)))
        if batch.stopping:
            yield from _stop(batch)
        if batch.cancelled and batch.gate is not None and batch.gate.ending is None:
            yield now(GateEnding(batch.id, batch.gate.n, EndWhy.CANCEL))


def _why(task: TaskState) -> EndWhy:
    if task.doom is not None:
        return task.doom.why
    return EndWhy.BLOCKED if task.lost else EndWhy.FEEDBACK


def _stop(batch: BatchState) -> Iterator[Due]:
    for attempt in batch.alive.values():
        if attempt.ending is None or (batch.stop_now and not attempt.ending_now):
            yield now(AttemptEnding(attempt.name, EndWhy.STOP, now=batch.stop_now))
    if batch.gate is not None and batch.gate.ending is None:
        yield now(GateEnding(batch.id, batch.gate.n, EndWhy.STOP))
