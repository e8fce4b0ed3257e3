"""Words that mean the same in every format: statuses, priorities, weights, durations, times, lists, ids from titles."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from functools import lru_cache

from plait.core.lazy_pattern import pattern
from plait.sources.source_model import SourceStatus

# Smaller goes first; the default is 1 (Task.priority).
_PRIORITIES = {"critical": -1, "urgent": -1, "high": 0, "medium": 1, "normal": 1, "low": 2}
_WEIGHTS = {"low": 1.0, "small": 1.0, "medium": 2.0, "high": 4.0, "large": 4.0}
_UNIT_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION = pattern(
    r"(?<!\d)(\d{1,9}(?:\.\d{1,9})?)(?:\s{0,9}[-\u2013\u2014~]\s{0,9}(\d{1,9}(?:\.\d{1,9})?))?\s{0,9}"
    r"(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)\b",
    re.IGNORECASE,
)
_P = pattern(r"\bP([0-9])\b", re.IGNORECASE)
_WORD = pattern(r"[A-Za-z]+")
_NON_WORD = pattern(r"[^\w]+|_+")
_MAX_SLUG_LENGTH = 48
_EMPTY_VALUES = {"", "-", "\u2013", "\u2014", "none", "n/a", "na", "nothing", "null"}

_WORDS_BY_STATUS = {
    SourceStatus.TODO: "not started, todo, to do, open, pending, planned, planning, researched, revised, expanded, draft, "
    "ready, backlog",
    SourceStatus.DOING: "in progress, researching, implementing, revising, review, in review",
    SourceStatus.DONE: "completed, complete, done, closed, finished, implemented, merged",
    SourceStatus.SKIPPED: "abandoned, cancelled, canceled, deferred, skipped, wontfix, obsolete",
    SourceStatus.BLOCKED: "blocked",
    SourceStatus.FAILED: "failed",
    SourceStatus.PARTIAL: "partial",
}
_STATUS_BY_WORD = {word: status for status, words in _WORDS_BY_STATUS.items() for word in words.split(", ")}


@lru_cache(256)  # a source has few words for many tasks
def parse_status(value: str) -> SourceStatus | None:
    """Return the status that these words mean; case, hyphens, brackets and remarks don't matter. None: unknown."""
    plain = re.sub(r"\(.*", "", value, flags=re.DOTALL)
    plain = " ".join(re.findall(r"[a-z/]+", plain.lower().replace("'", "")))
    return _STATUS_BY_WORD.get(plain)


def parse_priority(value: str) -> int | None:
    """Return the priority of the first word that names one: `P0 (urgent)`, `High`."""
    match = _P.search(value)
    if match:
        return int(match[1]) - 1
    return next((_PRIORITIES[word.lower()] for word in _WORD.findall(value) if word.lower() in _PRIORITIES), None)


def parse_weight(text: str) -> float | None:
    """Return a weight: `Low`, `Medium-High` (the first word counts), or a number."""
    word = _WORD.search(text)
    if word:
        return _WEIGHTS.get(word[0].lower())
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < 1e6 else None


def parse_duration(value: str) -> float | None:
    """Return the seconds of `20m`, `1h 30m` or `2-3 hours` (the middle); None without a length of time."""
    parts = _DURATION.findall(value)
    total = sum((float(low) + float(high or low)) / 2 * _UNIT_SECONDS[unit[0].lower()] for low, high, unit in parts)
    return total if 0 < total < 1e9 else None


def split_list(value: str) -> list[str]:
    """Split `a, b and c`; `None` and dashes are empty. Back-ticks and brackets are removed."""
    parts = re.split(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+", value.strip().strip("[]"))
    items = [part.strip().strip("`\"'").strip() for part in parts]
    return [part for part in items if part.lower() not in _EMPTY_VALUES]


def make_slug(title: str, max_words: int = 8) -> str:
    """Make an id that is easy to type and valid in a branch name: the first words of a title."""
    plain = unicodedata.normalize("NFKC", title).lower()
    parts = [part for part in _NON_WORD.split(plain) if part][:max_words]
    text = parts[0][:_MAX_SLUG_LENGTH] if parts else ""
    for part in parts[1:]:
        if len(text) + 1 + len(part) > _MAX_SLUG_LENGTH:
            break
        text = f"{text}-{part}"
    return text or "task"


def shorten(text: str, max_length: int = 60) -> str:
    """Shorten a text to one line, long enough to recognise it."""
    line = " ".join(text[: max_length * 4].split())
    return line if len(line) <= max_length else f"{line[: max_length - 1].rstrip()}\u2026"


def strip_zeros(name: str) -> str:
    """Remove the leading zeros of a number; any other name stays unchanged."""
    return name.lstrip("0") or "0" if name.isdecimal() else name


def ensure_utc(at: datetime) -> datetime:
    """Add UTC to a time without a zone."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def parse_time(value: object) -> datetime | None:
    """Parse an ISO 8601 time; None for anything else."""
    try:
        return ensure_utc(datetime.fromisoformat(value)) if isinstance(value, str) else None
    except ValueError:
        return None


def format_time(at: datetime, timespec: str = "seconds") -> str:
    """Format a time as `2026-03-14T09:26:53Z`."""
    return ensure_utc(at).astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")
