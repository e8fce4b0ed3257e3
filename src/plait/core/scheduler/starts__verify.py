"""What an agent wrote is verified before anything new is started."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import AttemptStarted
from plait.core.decisions__due import Due, due_now
from plait.core.retry_policy import find_verify_command
from plait.core.scheduler.outcomes import pass_verification
from plait.core.scheduler.selection__slots import clamp_slots, has_batch_slots, has_engine_slots, may_continue
from plait.core.state import BatchState, State, TaskState
from plait.core.status__owed import NextAction
from plait.core.task import Attempt, Step

VERIFY_AGENT = "verify"  # in the place of an agent's name: no agent is at work


def schedule_verifications(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        place = batch.tasks_by_action[NextAction.VERIFY].first()
        if place is None or not may_continue(state, batch):
            continue
        task = batch.tasks[place]
        command = find_verify_command(batch, task)
        slots = clamp_slots(state, batch, task.task)
        if command is None and task.last is not None:  # it was taken out of the settings meanwhile
            yield due_now(pass_verification(batch, task, task.last.name))
        elif command is not None and has_engine_slots(state, slots) and has_batch_slots(batch, slots):
            yield due_now(_start_verification(batch, task, slots, command))


def _start_verification(batch: BatchState, task: TaskState, slots: int, command: str) -> AttemptStarted:
    name = Attempt(batch.id, task.task.id, Step.VERIFY, task.attempt_counts.get(Step.VERIFY, 0) + 1)
    limit = batch.settings.verify_timeout
    base = task.tip or task.base or ""
    return AttemptStarted(name, VERIFY_AGENT, VERIFY_AGENT, limit, limit, slots, base=base, command=command)
