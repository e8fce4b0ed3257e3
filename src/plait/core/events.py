"""One list of facts with three authors: people request, the core decides, the world reports."""

from __future__ import annotations

from plait.core.decisions import Decision
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Report
from plait.core.requests import Request

Event = Request | Decision | Report


@dataclass(frozen=True, slots=True)
class Record:
    """One fact in its place: `seq` counts from 1 without a gap, `at` is seconds since 1970 in UTC."""

    seq: int
    at: float
    event: Event
