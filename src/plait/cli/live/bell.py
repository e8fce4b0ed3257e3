"""The terminal's bell: for whoever has looked away."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress

from plait.core.events import Record
from plait.core.notifications import NotificationBuilder
from plait.core.settings import NotificationKind
from plait.core.state import State

BELL_CHAR = "\a"
_RINGING_KINDS = frozenset(
    {
        NotificationKind.FINISHED,
        NotificationKind.FAILED,
        NotificationKind.CANCELLED,
        NotificationKind.NEEDS_PERSON,
    }
)


class Bell:
    """It rings when a batch has ended or begins to need a person: `batch`, or any (None). Only on a terminal."""

    def __init__(self, batch: str | None, *, enabled: bool) -> None:
        self._batch = batch
        self._notifications = NotificationBuilder()
        self._enabled = enabled and sys.stdout.isatty()

    def ring_for(self, state: State, records: Iterable[Record]) -> None:
        """`records` are in the state already. Many at once are rung for once."""
        if not self._enabled:
            return
        found = self._notifications.add(state, records)
        if any(tiding.kind in _RINGING_KINDS and self._concerns(tiding.batch) for tiding in found):
            with suppress(OSError, ValueError):  # a terminal that is gone hears nothing
                sys.stdout.write(BELL_CHAR)
                sys.stdout.flush()

    def _concerns(self, batch: str | None) -> bool:
        return batch is None or self._batch in {None, batch}
