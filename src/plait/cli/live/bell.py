"""The terminal's bell."""

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
    """Ring when `batch` (None: any) ends or starts to wait for a person. Only on a terminal."""

    def __init__(self, batch: str | None, *, enabled: bool) -> None:
        self._batch = batch
        self._notifications = NotificationBuilder()
        self._enabled = enabled and sys.stdout.isatty()

    def ring_for(self, state: State, records: Iterable[Record]) -> None:
        """Ring at most once for these records, which `state` includes already."""
        if not self._enabled:
            return
        notifications = self._notifications.add(state, records)
        if any(each.kind in _RINGING_KINDS and self._concerns(each.batch) for each in notifications):
            with suppress(OSError, ValueError):  # the terminal was closed
                sys.stdout.write(BELL_CHAR)
                sys.stdout.flush()

    def _concerns(self, batch: str | None) -> bool:
        return batch is None or self._batch in {None, batch}
