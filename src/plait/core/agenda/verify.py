"""What an agent wrote is verified before anything new is started."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.agenda.judge import verified
from plait.core.agenda.slots import clamped, may_go_on, room_in_batch, room_in_engine
from plait.core.decisions import AttemptStarted
from plait.core.owed import Owed
from plait.core.policy import check
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step

COMMAND = "verify"  # in the place of an agent's name: no agent is at work


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        place = batch.owed[Owed.VERIFY].first()
        if place is None or not may_go_on(state, batch):
            continue
        task = batch.tasks[place]
        command = check(batch, task)
        slots = clamped(state, batch, task.task)
        if command is None and task.last is not None:  # it was taken out of the settings meanwhile
            yield now(verified(batch, task, task.last.name))
        elif command is not None and room_in_engine(state, slots) and room_in_batch(batch, slots):
            yield now(_start(batch, task, slots, command))


def _start(batch: BatchState, task: TaskState, slots: int, command: str) -> AttemptStarted:
    name = Attempt(batch.id, task.task.id, Step.VERIFY, task.numbers.get(Step.VERIFY, 0) + 1)
    limit = batch.settings.verify_timeout
    base = task.tip or task.base or ""
    return AttemptStarted(name, COMMAND, COMMAND, limit, limit, slots, base=base, command=command)
