"""A few simple records, enough to tell one from another."""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.events import Event, Record
from plait.core.reports import EngineTaken


def number_records(facts: Sequence[tuple[float, Event]], after: int = 0) -> list[Record]:
    return [Record(seq, at, event) for seq, (at, event) in enumerate(facts, after + 1)]


def make_records(first: int, last: int) -> list[Record]:
    """Both included. A record's content follows from its seq."""
    return [Record(seq, seq / 8, EngineTaken(seq, "host")) for seq in range(first, last + 1)]
