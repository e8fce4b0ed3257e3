"""Whether an engine is needed: the one that is there stays for as long as this holds, and fronts start one."""

from __future__ import annotations

from plait.core.scheduler.rules import list_due
from plait.core.state import BatchState, State


def is_engine_needed(state: State) -> bool:
    """Something is under way, owed, or will be. What waits for a person alone needs nobody."""
    if state.unanswered or state.publishing_batches:
        return True
    going = [batch for batch in state.open.values() if _is_under_way(batch) or batch.paused is None]
    if not going:
        return False
    if any(_is_under_way(batch) for batch in going):
        return True
    # What the machine holds back is looked at by an engine only.
    held_back = state.pressure is not None or (
        state.capacity is not None and state.capacity.slots is not None
    )
    return held_back or next(list_due(state), None) is not None


def _is_under_way(batch: BatchState) -> bool:
    """Somebody has to hear what becomes of it."""
    return (
        bool(batch.alive) or batch.merging is not None or batch.rebuild is not None or batch.gate is not None
    )
