"""Room for one more attempt: in the batch, and in the engine as a whole."""

from __future__ import annotations

from plait.core.state import BatchState, State
from plait.core.status import PauseCause
from plait.core.task import Task


def clamp_slots(state: State, batch: BatchState, task: Task) -> int:
    """A task that asks for more than a limit takes all of it."""
    wanted = max(1, task.slots)
    for limit in (state.settings.parallel_limit, batch.settings.max_parallel):
        wanted = min(wanted, limit) if limit else wanted
    return wanted


def has_engine_slots(state: State, slots: int) -> bool:
    return is_within_limit(state, slots) and is_within_capacity(state, slots)


def is_within_limit(state: State, slots: int) -> bool:
    limit = state.settings.parallel_limit
    return not limit or state.slots + slots <= limit


def is_within_capacity(state: State, slots: int) -> bool:
    """An attempt that wants more than there is ever room for starts when it can be alone, or it might wait for ever."""
    if state.capacity is None or state.capacity.slots is None:
        return True
    alone = state.slots == 0 and state.capacity.slots > 0
    return alone or state.slots + slots <= state.capacity.slots


def has_batch_slots(batch: BatchState, slots: int) -> bool:
    limit = batch.settings.max_parallel
    return not limit or batch.slots + slots <= limit


def may_start(state: State, batch: BatchState) -> bool:
    """Whether anything new may be begun."""
    return batch.paused is None and state.pressure is None


def may_continue(state: State, batch: BatchState) -> bool:
    """Whether what was begun may take its next step: that costs no money, so a lack of it stops only what is new."""
    calm = batch.paused is None or batch.paused.cause is PauseCause.BUDGET
    return calm and state.pressure is None
