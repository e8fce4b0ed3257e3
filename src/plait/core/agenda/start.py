"""Ready tasks start, as many as every limit allows, in order; no wave waits for its last task.

A task that takes several slots is not overtaken while it waits for them, or it might wait for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.choose import Choice, affordable, choices
from plait.core.agenda.due import Due, now
from plait.core.agenda.rebuild import line_stands
from plait.core.agenda.slots import clamped, may_start, room_in_batch, room_in_engine
from plait.core.contest import candidates
from plait.core.decisions import AttemptStarted
from plait.core.owed import Owed
from plait.core.settings import NO_SPEND
from plait.core.state import BatchState, State
from plait.core.task import Attempt, Step


def owed(state: State) -> Iterator[Due]:
    if not room_in_engine(state, 1):
        return
    for batch in sorted(state.open.values(), key=_fewest_first):
        if not may_start(state, batch) or not room_in_batch(batch, 1) or _line_moves(batch):
            continue
        if batch.owed[Owed.VERIFY]:
            # It did not fit when `verify` was asked, so nothing may take the room it waits for.
            if _waits_for_engine(state, batch):
                return
            continue
        choice = next((choice for choice in choices(state, batch) if affordable(batch, choice)), None)
        if choice is None:
            continue
        slots = clamped(state, batch, choice.task.task)
        if not room_in_engine(state, slots):
            return
        if room_in_batch(batch, slots):
            yield now(_start(batch, choice, slots))


def _line_moves(batch: BatchState) -> bool:
    """A moment later there is a newer base to start from, with less to conflict with."""
    return not line_stands(batch) or batch.merging is not None or bool(batch.owed[Owed.MERGE])


def _fewest_first(batch: BatchState) -> tuple[int, int]:
    """Batches share the engine: the one with the least at work is served first, the older one of two alike."""
    return (batch.slots, batch.order)


def _waits_for_engine(state: State, batch: BatchState) -> bool:
    place = batch.owed[Owed.VERIFY].first()
    assert place is not None
    return not room_in_engine(state, clamped(state, batch, batch.tasks[place].task))


def _start(batch: BatchState, choice: Choice, slots: int) -> AttemptStarted:
    task, settings = choice.task, batch.settings
    last = task.last_write
    going_on = last if not task.fresh and last is not None and last.agent == choice.agent else None
    session = going_on.session if going_on is not None else None
    return AttemptStarted(
        Attempt(batch.id, task.task.id, Step.WRITE, task.numbers.get(Step.WRITE, 0) + 1),
        choice.agent,
        settings.provider(choice.agent),
        timeout=task.task.timeout or settings.timeout,
        idle_timeout=settings.idle_timeout,
        slots=slots,
        reserve=choice.reserve,
        base=task.base if task.base is not None else batch.head,
        session=session,
        feedback=task.feedback,
        repairs=task.repairing,
        before=going_on.decision.before + going_on.used if going_on and session else NO_SPEND,
        candidates=candidates(batch, task),
    )
