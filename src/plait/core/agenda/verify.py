"""What an agent wrote is verified before anything new is started."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.agenda.slots import clamped, may_start, room_in_batch, room_in_engine
from plait.core.decisions import AttemptStarted
from plait.core.owed import Owed
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step

COMMAND = "verify"  # in the place of an agent's name: no agent is at work


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        place = batch.owed[Owed.VERIFY].first()
        if place is None or not may_start(state, batch):
            continue
        task = batch.tasks[place]
        slots = clamped(state, batch, task.task)
        if room_in_engine(state, slots) and room_in_batch(batch, slots):
            yield now(_start(batch, task, slots))


def _start(batch: BatchState, task: TaskState, slots: int) -> AttemptStarted:
    name = Attempt(batch.id, task.task.id, Step.VERIFY, task.numbers.get(Step.VERIFY, 0) + 1)
    limit = batch.settings.verify_timeout
    return AttemptStarted(
        name,
        COMMAND,
        COMMAND,
        timeout=limit,
        idle_timeout=limit,
        slots=slots,
        base=task.tip or task.base or "",
    )
