"""Encode JSON: times, progress, and texts that aren't UTF-8 or would control a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from plait.core.settings import Spend
from plait.core.status import TaskStatus

Json = dict[str, object]

_MAX_TIMESTAMP = 253_402_300_799.0  # the end of the year 9999, the last that can be written
_TERMINAL_CONTROLS = re.compile(rb"\x7f|\xc2[\x80-\x9f]")  # commands to some terminals; msgspec escapes the others

_TERMINAL_STATUSES = tuple(status for status in TaskStatus if status.is_terminal)
_ACTIVE_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING, TaskStatus.MERGING)
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


def to_iso(at: float) -> str:
    """`2026-11-15T10:00:00.000Z`"""
    time = datetime.fromtimestamp(min(max(at, 0.0), _MAX_TIMESTAMP), UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_iso_or_none(at: float | None) -> str | None:
    return None if at is None else to_iso(at)


def encode_json(value: object) -> bytes:
    import msgspec

    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        import json

        return json.dumps(value).encode("ascii")
    if b"\xc2" not in data and b"\x7f" not in data:
        return data
    return _TERMINAL_CONTROLS.sub(lambda control: b"\\u00%02x" % control[0][-1], data)


def cost_json(spend: Spend) -> Json:
    return {"usd": spend.microusd / 1e6, "tokens": spend.tokens}


def progress_json(total: int, counts: Mapping[TaskStatus, int]) -> dict[str, int]:
    """The counts sum to `total`; verifying and merging count as running."""
    shown = {key: counts[status] for status, key in _PROGRESS_KEYS.items()}
    shown["running"] = sum(counts[status] for status in _ACTIVE_STATUSES)
    ended = sum(counts[status] for status in _TERMINAL_STATUSES)
    return {"total": total, **shown, "percentage": 100 * ended // total if total else 100}
