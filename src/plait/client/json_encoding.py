"""Instants as programs read them.

JSON of whatever texts: names that are not UTF-8 are told as far as JSON can, and nothing in it steers a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from plait.core.settings import Spend
from plait.core.status import TaskStatus

_MAX_TIMESTAMP = 253_402_300_799.0  # of the year 9999: what lies beyond can't be written


def to_iso(at: float) -> str:
    """`2026-11-15T10:00:00.000Z`"""
    told = datetime.fromtimestamp(min(max(at, 0.0), _MAX_TIMESTAMP), UTC)
    return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_iso_or_none(at: float | None) -> str | None:
    return None if at is None else to_iso(at)


_TERMINAL_CONTROLS = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]"
)  # what some terminals take for commands; msgspec escapes the others


def encode_json(value: object) -> bytes:
    import msgspec  # only where JSON is asked for

    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        import json

        return json.dumps(value).encode("ascii")
    if b"\xc2" not in data and b"\x7f" not in data:
        return data
    return _TERMINAL_CONTROLS.sub(lambda found: b"\\u00%02x" % found[0][-1], data)


Json = dict[str, object]


def diffstat_json(stat: tuple[int, int, int] | None) -> Json | None:
    return None if stat is None else dict(zip(("files", "added", "removed"), stat, strict=True))


def cost_json(spend: Spend) -> Json:
    return {"usd": spend.microusd / 1e6, "tokens": spend.tokens}


_TERMINAL_STATUSES = tuple(status for status in TaskStatus if status.is_terminal)


_ACTIVE_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING, TaskStatus.MERGING)


# The words of BATCH; those of a status are not always the same.
_PROGRESS_KEYS = {
    TaskStatus.QUEUED: "queued",
    TaskStatus.WAITING: "waiting",
    TaskStatus.RUNNING: "running",
    TaskStatus.DONE: "completed",
    TaskStatus.FAILED: "failed",
    TaskStatus.TIMED_OUT: "timedOut",
    TaskStatus.BLOCKED: "blocked",
    TaskStatus.CONFLICTED: "conflicted",
    TaskStatus.SKIPPED: "skipped",
    TaskStatus.CANCELLED: "cancelled",
    TaskStatus.INTERRUPTED: "interrupted",
}


def progress_json(total: int, counts: Mapping[TaskStatus, int]) -> dict[str, int]:
    """The counts sum to `total`: what is being verified or merged is at work."""
    shown = {word: counts[status] for status, word in _PROGRESS_KEYS.items()}
    shown["running"] = _sum_counts(counts, _ACTIVE_STATUSES)
    ended = _sum_counts(counts, _TERMINAL_STATUSES)
    return {"total": total, **shown, "percentage": 100 * ended // total if total else 100}


def _sum_counts(counts: Mapping[TaskStatus, int], statuses: Iterable[TaskStatus]) -> int:
    return sum(counts[status] for status in statuses)
