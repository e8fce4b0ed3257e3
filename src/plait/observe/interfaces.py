from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from plait.core.events import Record
from plait.core.state import State


class RecordListener(Protocol):
    """Somebody who tells others what has become durable. It never holds the engine up, and never fails it."""

    def replay(self, record: Record) -> None:
        """History: what was durable before this engine took over."""

    def handle_records(self, state: State, records: Sequence[Record]) -> None:
        """These are durable, and the state has all of them."""

    @property
    def is_idle(self) -> bool:
        """Nothing is on its way, or it was given up: the engine may leave."""

    def close(self) -> None: ...
