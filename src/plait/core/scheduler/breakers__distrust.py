"""A provider that rejects one task after another (not logged in, nothing left to pay with) rejects the rest too: ask."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import BatchPaused
from plait.core.decisions__due import Due, due_now
from plait.core.retry_policy import MAX_REJECTIONS
from plait.core.state import State
from plait.core.status import PauseCause


def schedule_auth_pauses(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if (
            batch.rejections >= MAX_REJECTIONS
            and batch.paused is None
            and any(state.start_queue.heads(batch.id))
        ):
            why = f"{batch.rejections} tasks in a row were rejected by the provider: see why, mend it, and resume"
            yield due_now(BatchPaused(batch.id, PauseCause.PROVIDER, why))
