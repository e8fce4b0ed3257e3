"""How long a provider asks to wait, as its tools tell it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from plait.agents import retry_after
from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern

_MAX_WAIT_SECONDS = 40 * 86400.0  # seconds; more is no wait
_HTTP_DATE_FORMAT = "%a, %d %b %Y %H:%M:%S GMT"
_EPOCH_RANGE = (1_500_000_000.0, 5_000_000_000.0)

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION_PART = pattern(
    r"(?P<number>\d{1,9}(?:\.\d{1,9})?) ?"
    r"(?P<unit>milliseconds?|millis|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])"
    r"(?:,? and |, | )?",
    re.IGNORECASE,
)
# What announces a length of time; "retrying in" tells of a wait that is over.
_DURATION_PREFIX = pattern(
    r"(?:try(?:ing)? again|retry|wait|resets?|available(?: again)?)"
    r" (?:in|after|for)(?: about| approximately| another)? (?=\d)"
    r"|retry[-_ ]?delay[\"']?[:=] ?[\"']?(?=\d)",
    re.IGNORECASE,
)
_RETRY_AFTER_HEADER = pattern(
    r"retry[-_]after(?P<ms>[-_]ms)?[\"']?[:=] ?[\"']?(?P<number>\d{1,9}(?:\.\d{1,9})?)(?![\d-])",
    re.IGNORECASE,
)
_RETRY_DELAY_MS = pattern(r"retry_?delay_?ms[\"']?[:=] ?(?P<number>\d{1,9})", re.IGNORECASE)
_RETRY_AFTER_DATE = pattern(
    r"retry-after[\"']?: ?[\"']?(\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT)", re.IGNORECASE
)
_RESET_EPOCH = pattern(
    r"(?:reached\||reset(?:s|_?at|s_?at)?[\"']?[:= ]{1,2}[\"']?)(\d{10})(\d{3})?(?!\d)", re.IGNORECASE
)
_RESET_ISO = pattern(
    r"(?:resets?(?:_?at)?|retry(?:_?at)?|again|until|after)\W{1,4}(?:at )?"
    r"(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2}))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """`after` counts in seconds from when it was said, `at` is an instant."""

    after: float | None = None
    at: float | None = None

    def __bool__(self) -> bool:
        return self.after is not None or self.at is not None


NO_RETRY_AFTER = RetryAfter()


def parse_retry_after(text: str, printed_at: float | None = None) -> RetryAfter:
    """What this text asks for: of several lengths the longest. `said_at` is when; without it, no time of day is read."""
    said = " ".join(text.split())
    lengths = [
        length
        for length in (*_find_durations(said), *_find_header_delays(said))
        if 0 < length <= _MAX_WAIT_SECONDS
    ]
    at = _find_timestamp(said)
    if at is None and printed_at is not None:
        at = retry_after.find_time_of_day(said, printed_at)
    return RetryAfter(max(lengths, default=None), at)


def _find_durations(said: str) -> list[float]:
    return [_parse_duration(said, found.end()) for found in _DURATION_PREFIX.finditer(said)]


def _parse_duration(said: str, place: int) -> float:
    """`1h 30m`, `3 hours and 5 minutes`, `6m0s`."""
    total = 0.0
    while part := _DURATION_PART.match(said, place):
        unit = part["unit"].lower()
        total += float(part["number"]) * _UNITS["ms" if unit.startswith("mil") or unit == "ms" else unit[0]]
        place = part.end()
    return total


def _find_header_delays(said: str) -> list[float]:
    told = [
        float(found["number"]) * (0.001 if found["ms"] else 1.0)
        for found in _RETRY_AFTER_HEADER.finditer(said)
    ]
    return told + [float(found["number"]) * 0.001 for found in _RETRY_DELAY_MS.finditer(said)]


def _find_timestamp(said: str) -> float | None:
    try:
        if found := _RESET_EPOCH.search(said):
            at = float(found[1])
        elif found := _RESET_ISO.search(said):
            at = datetime.fromisoformat(found[1]).timestamp()
        elif found := _RETRY_AFTER_DATE.search(said):
            at = datetime.strptime(found[1], _HTTP_DATE_FORMAT).replace(tzinfo=UTC).timestamp()
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return at if _EPOCH_RANGE[0] < at < _EPOCH_RANGE[1] else None
