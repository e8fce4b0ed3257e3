"""How long a provider asks to wait, as its tools tell it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from plait.agents import hours
from plait.core.frozen import dataclass
from plait.core.late import pattern

_LONGEST = 40 * 86400.0  # seconds; more is no wait
_HTTP = "%a, %d %b %Y %H:%M:%S GMT"
_EPOCHS = (1_500_000_000.0, 5_000_000_000.0)

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = pattern(
    r"(?P<number>\d{1,9}(?:\.\d{1,9})?) ?"
    r"(?P<unit>milliseconds?|millis|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])"
    r"(?:,? and |, | )?",
    re.IGNORECASE,
)
# What announces a length of time; "retrying in" tells of a wait that is over.
_AFTER = pattern(
    r"(?:try(?:ing)? again|retry|wait|resets?|available(?: again)?)"
    r" (?:in|after|for)(?: about| approximately| another)? (?=\d)"
    r"|retry[-_ ]?delay[\"']?[:=] ?[\"']?(?=\d)",
    re.IGNORECASE,
)
_HEADER = pattern(
    r"retry[-_]after(?P<ms>[-_]ms)?[\"']?[:=] ?[\"']?(?P<number>\d{1,9}(?:\.\d{1,9})?)(?![\d-])",
    re.IGNORECASE,
)
_MILLIS = pattern(r"retry_?delay_?ms[\"']?[:=] ?(?P<number>\d{1,9})", re.IGNORECASE)
_DATE = pattern(r"retry-after[\"']?: ?[\"']?(\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT)", re.IGNORECASE)
_EPOCH = pattern(
    r"(?:reached\||reset(?:s|_?at|s_?at)?[\"']?[:= ]{1,2}[\"']?)(\d{10})(\d{3})?(?!\d)", re.IGNORECASE
)
_ISO = pattern(
    r"(?:resets?(?:_?at)?|retry(?:_?at)?|again|until|after)\W{1,4}(?:at )?"
    r"(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2}))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wait:
    """`after` counts in seconds from when it was said, `at` is an instant."""

    after: float | None = None
    at: float | None = None

    def __bool__(self) -> bool:
        return self.after is not None or self.at is not None


NO_WAIT = Wait()


def wait(text: str, said_at: float | None = None) -> Wait:
    """What this text asks for: of several lengths the longest. `said_at` is when; without it, no time of day is read."""
    said = " ".join(text.split())
    lengths = [length for length in (*_lengths(said), *_headers(said)) if 0 < length <= _LONGEST]
    at = _instant(said)
    if at is None and said_at is not None:
        at = hours.instant(said, said_at)
    return Wait(max(lengths, default=None), at)


def _lengths(said: str) -> list[float]:
    return [_length(said, found.end()) for found in _AFTER.finditer(said)]


def _length(said: str, place: int) -> float:
    """`1h 30m`, `3 hours and 5 minutes`, `6m0s`."""
    total = 0.0
    while part := _PART.match(said, place):
        unit = part["unit"].lower()
        total += float(part["number"]) * _UNITS["ms" if unit.startswith("mil") or unit == "ms" else unit[0]]
        place = part.end()
    return total


def _headers(said: str) -> list[float]:
    told = [float(found["number"]) * (0.001 if found["ms"] else 1.0) for found in _HEADER.finditer(said)]
    return told + [float(found["number"]) * 0.001 for found in _MILLIS.finditer(said)]


def _instant(said: str) -> float | None:
    try:
        if found := _EPOCH.search(said):
            at = float(found[1])
        elif found := _ISO.search(said):
            at = datetime.fromisoformat(found[1]).timestamp()
        elif found := _DATE.search(said):
            at = datetime.strptime(found[1], _HTTP).replace(tzinfo=UTC).timestamp()
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return at if _EPOCHS[0] < at < _EPOCHS[1] else None
