"""The ETA of a batch, computed rarely: the cost of a forecast grows with the remaining work."""

from __future__ import annotations

import time

from plait.core.estimate import describe_basis, forecast_batch
from plait.core.state import BatchState, State
from plait.core.status import BatchStatus
from plait.core.views import find_batch_status

_MAX_TIME_SHARE = 0.02  # the largest share of time to spend on forecasts


class EtaEstimator:
    """Estimates ends at most once every `interval` seconds, and only while at most `max_tasks` tasks are left."""

    def __init__(self, *, interval: float = 5.0, max_tasks: int = 2000) -> None:
        self._interval, self._max_tasks = interval, max_tasks
        self._forecast_at = float("-inf")
        self._pause = 0.0
        self._end: float | None = None
        self.basis = ""  # what the last estimate is based on

    def estimate_end(self, state: State, batch: str, now: float) -> float | None:
        """Return when the batch is expected to end; None if unknown. Cheap enough to call for every frame."""
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
        self.basis = describe_eta_basis(state, state.batches[batch]) or ""
        if unfinished > self._max_tasks or not self.basis:
            return None
        return forecast_batch(state, batch, now).end


def describe_eta_basis(state: State, batch: BatchState) -> str | None:
    """Say what the ETA is based on. None if nothing is known, because a guess that looks like knowledge is worse than
    none.

    The duration of a gate is never known.
    """
    if find_batch_status(batch)[0] is BatchStatus.MERGING:
        return None
    return describe_basis(state, (task.task for task in batch.tasks if task.status is None), batch.settings)
