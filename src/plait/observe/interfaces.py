"""What the engine expects of notifications and tracing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plait.core.events import Record
from plait.core.state import State


class RecordListener(Protocol):
    """Gets every durable record. It never blocks the engine and never raises."""

    def replay(self, record: Record) -> None:
        """A record from before this engine started."""

    def handle_records(self, state: State, records: Sequence[Record]) -> None:
        """These records are durable and folded into `state`."""

    @property
    def is_idle(self) -> bool:
        """Nothing is being delivered any more, so the engine may exit."""

    def close(self) -> None: ...
