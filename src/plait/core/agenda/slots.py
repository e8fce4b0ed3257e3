"""Room for one more attempt: in the batch, and in the engine as a whole."""

from __future__ import annotations

from plait.core.state import BatchState, State
from plait.core.status import PauseCause
from plait.core.task import Task


def clamped(state: State, batch: BatchState, task: Task) -> int:
    """A task that asks for more than a limit takes all of it."""
    wanted = max(1, task.slots)
    for limit in (state.settings.parallel_limit, batch.settings.max_parallel):
        wanted = min(wanted, limit) if limit else wanted
    return wanted


def room_in_engine(state: State, slots: int) -> bool:
    return within_limit(state, slots) and within_room(state, slots)


def within_limit(state: State, slots: int) -> bool:
    limit = state.settings.parallel_limit
    return not limit or state.slots + slots <= limit


def within_room(state: State, slots: int) -> bool:
    """An attempt that wants more than there is ever room for starts when it can be alone, or it might wait for ever."""
    if state.room is None or state.room.slots is None:
        return True
    alone = state.slots == 0 and state.room.slots > 0
    return alone or state.slots + slots <= state.room.slots


def room_in_batch(batch: BatchState, slots: int) -> bool:
    limit = batch.settings.max_parallel
    return not limit or batch.slots + slots <= limit


def may_start(state: State, batch: BatchState) -> bool:
    """Whether anything new may be begun."""
    return batch.paused is None and state.pressure is None


def may_go_on(state: State, batch: BatchState) -> bool:
    """Whether what was begun may take its next step: that costs no money, so a lack of it stops only what is new."""
    calm = batch.paused is None or batch.paused.cause is PauseCause.BUDGET
    return calm and state.pressure is None
