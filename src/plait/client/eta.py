"""The ETA of a batch, computed rarely: the cost of a forecast grows with the remaining work."""

from __future__ import annotations

import time

from plait.core.estimate import forecast_batch, has_agent_history
from plait.core.state import BatchState, State
from plait.core.status import BatchStatus
from plait.core.views import find_batch_status

_MAX_TIME_SHARE = 0.02  # the largest share of time to spend on forecasts


class EtaEstimator:
    """At most one forecast every `interval` seconds, and none while more than `max_tasks` tasks are left."""

    def __init__(self, *, interval: float = 5.0, max_tasks: int = 2000) -> None:
        self._interval, self._max_tasks = interval, max_tasks
        self._forecast_at = float("-inf")
        self._pause = 0.0
        self._end: float | None = None

    def estimate_end(self, state: State, batch: str, now: float) -> float | None:
        """When the batch is expected to end; None if unknown. Cheap enough to call for every frame."""
        batch_state = state.batches.get(batch)
        if batch_state is None or batch_state.ended is not None:
            return None
        if abs(now - self._forecast_at) >= self._pause:
            self._forecast_at = now
            started = time.perf_counter()
            self._end = self._forecast(state, batch, now)
            self._pause = max(self._interval, (time.perf_counter() - started) / _MAX_TIME_SHARE)
        return self._end

    def _forecast(self, state: State, batch: str, now: float) -> float | None:
        unfinished = sum(other.unfinished_count for other in state.open.values())
        if unfinished > self._max_tasks or not _has_estimates(state, state.batches[batch]):
            return None
        return forecast_batch(state, batch, now).end


def _has_estimates(state: State, batch: BatchState) -> bool:
    """Whether history or the tasks say how long they take: a guess that looks like knowledge is worse than none.

    The duration of a gate is never known.
    """
    if find_batch_status(batch)[0] is BatchStatus.MERGING:
        return False
    estimated = any(task.estimate is not None for task in batch.plan.tasks)
    return estimated or has_agent_history(state, batch.plan, batch.settings)
