"""When batches are expected to end: one forecast each, made no more often than is worth it."""

from __future__ import annotations

import time

from plait.client.eta import EtaEstimator
from plait.core.state import State


class EtaCache:
    def __init__(self) -> None:
        self._known: dict[str, EtaEstimator] = {}

    def estimate_end(self, state: State, batch: str) -> float | None:
        self._known = {name: eta for name, eta in self._known.items() if name in state.open}
        if batch not in state.open:
            return None
        return self._known.setdefault(batch, EtaEstimator()).estimate_end(state, batch, time.time())
