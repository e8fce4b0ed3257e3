"""The terminal's bell: for whoever has looked away."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress

from plait.core.events import Record
from plait.core.state import State
from plait.core.tiding import TidingKind
from plait.core.tidings import Tidings

BELL = "\a"
_RINGS = frozenset({TidingKind.FINISHED, TidingKind.FAILED, TidingKind.CANCELLED, TidingKind.NEEDS_PERSON})


class Bell:
    """It rings when a batch has ended or begins to need a person: `batch`, or any (None). Only on a terminal."""

    def __init__(self, batch: str | None, *, wanted: bool) -> None:
        self._batch = batch
        self._tidings = Tidings()
        self._works = wanted and sys.stdout.isatty()

    def hear(self, state: State, records: Iterable[Record]) -> None:
        """`records` are in the state already. Many at once are rung for once."""
        if not self._works:
            return
        found = self._tidings.take(state, records)
        if any(tiding.kind in _RINGS and self._concerns(tiding.batch) for tiding in found):
            with suppress(OSError, ValueError):  # a terminal that is gone hears nothing
                sys.stdout.write(BELL)
                sys.stdout.flush()

    def _concerns(self, batch: str | None) -> bool:
        return batch is None or self._batch in {None, batch}
