"""The ETA of a batch, asked for seldom: a forecast costs as much as there is left to do."""

from __future__ import annotations

import time

from plait.core.estimate import forecast
from plait.core.preview import experienced
from plait.core.state import BatchState, State
from plait.core.status import BatchStatus
from plait.core.views import batch_standing

_SHARE = 0.02  # of the time, at most, goes into forecasts


class Eta:
    """`every` seconds at most one forecast, and none where more than `most` tasks are left."""

    def __init__(self, *, every: float = 5.0, most: int = 2000) -> None:
        self._every, self._most = every, most
        self._asked = float("-inf")
        self._pause = 0.0
        self._end: float | None = None

    def end(self, state: State, batch: str, now: float) -> float | None:
        """The instant at which the batch is expected to end; None when nobody can tell. Cheap to ask for every frame."""
        known = state.batches.get(batch)
        if known is None or known.ended is not None:
            return None
        if abs(now - self._asked) >= self._pause:
            self._asked = now
            begun = time.perf_counter()
            self._end = self._forecast(state, batch, now)
            self._pause = max(self._every, (time.perf_counter() - begun) / _SHARE)
        return self._end

    def _forecast(self, state: State, batch: str, now: float) -> float | None:
        left = sum(other.unsettled for other in state.open.values())
        if left > self._most or not _known(state, state.batches[batch]):
            return None
        return forecast(state, batch, now).end


def _known(state: State, batch: BatchState) -> bool:
    """Whether history or the tasks themselves tell how long they take: a guess that looks like knowledge is worse than none.

    How long a gate takes, nobody tells.
    """
    if batch_standing(batch)[0] is BatchStatus.MERGING:
        return False
    said = any(task.estimate is not None for task in batch.plan.tasks)
    return said or experienced(state, batch.plan, batch.settings)
