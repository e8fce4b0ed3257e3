"""Words that mean the same in every format: priorities, weights, durations, lists, statuses, ids made from titles."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from plait.core.late import pattern
from plait.sources.model import Mark

# Smaller goes first; a task that says nothing is of middle priority (Task.priority).
_PRIORITIES = {"critical": -1, "urgent": -1, "high": 0, "medium": 1, "normal": 1, "low": 2}
_WEIGHTS = {"low": 1.0, "small": 1.0, "medium": 2.0, "high": 4.0, "large": 4.0}
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_LENGTH = pattern(
    r"(?<!\d)(\d{1,9}(?:\.\d{1,9})?)(?:\s{0,9}[-\u2013\u2014~]\s{0,9}(\d{1,9}(?:\.\d{1,9})?))?\s{0,9}"
    r"(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)\b",
    re.IGNORECASE,
)
_P = pattern(r"\bP([0-9])\b", re.IGNORECASE)
_WORD = pattern(r"[A-Za-z]+")
_UNWORDY = pattern(r"[^\w]+|_+")
_NOTHING = {"", "-", "\u2013", "\u2014", "none", "n/a", "na", "nothing", "null"}

MARKS = {
    "not started": Mark.TODO,
    "todo": Mark.TODO,
    "to do": Mark.TODO,
    "open": Mark.TODO,
    "pending": Mark.TODO,
    "planned": Mark.TODO,
    "planning": Mark.TODO,
    "researched": Mark.TODO,
    "revised": Mark.TODO,
    "expanded": Mark.TODO,
    "draft": Mark.TODO,
    "ready": Mark.TODO,
    "backlog": Mark.TODO,
    "in progress": Mark.DOING,
    "researching": Mark.DOING,
    "implementing": Mark.DOING,
    "revising": Mark.DOING,
    "review": Mark.DOING,
    "in review": Mark.DOING,
    "completed": Mark.DONE,
    "complete": Mark.DONE,
    "done": Mark.DONE,
    "closed": Mark.DONE,
    "finished": Mark.DONE,
    "implemented": Mark.DONE,
    "merged": Mark.DONE,
    "abandoned": Mark.SKIPPED,
    "cancelled": Mark.SKIPPED,
    "canceled": Mark.SKIPPED,
    "deferred": Mark.SKIPPED,
    "skipped": Mark.SKIPPED,
    "wontfix": Mark.SKIPPED,
    "obsolete": Mark.SKIPPED,
    "blocked": Mark.BLOCKED,
    "failed": Mark.FAILED,
    "partial": Mark.PARTIAL,
}


@lru_cache(256)  # a source has few words for many tasks
def mark(said: str) -> Mark | None:
    """The status that these words tell, whatever their case, hyphens, brackets and what is added in parentheses."""
    plain = re.sub(r"\(.*", "", said, flags=re.DOTALL)
    plain = " ".join(re.findall(r"[a-z/]+", plain.lower().replace("'", "")))
    return MARKS.get(plain)


def priority(said: str) -> int | None:
    """`P0 (urgent)`, `High`: the first word that names one."""
    found = _P.search(said)
    if found:
        return int(found[1]) - 1
    return next(
        (_PRIORITIES[word.lower()] for word in _WORD.findall(said) if word.lower() in _PRIORITIES), None
    )


def weight(said: str) -> float | None:
    """`Low`, `Medium-High` (the first word counts), or a number."""
    word = _WORD.search(said)
    if word:
        return _WEIGHTS.get(word[0].lower())
    try:
        value = float(said)
    except ValueError:
        return None
    return value if 0 < value < 1e6 else None


def duration(said: str) -> float | None:
    """`20m`, `1h 30m`, `2-3 hours` (the middle of it), in seconds; None if there is no length of time in it."""
    found = _LENGTH.findall(said)
    total = sum((float(low) + float(high or low)) / 2 * _UNITS[unit[0].lower()] for low, high, unit in found)
    return total if 0 < total < 1e9 else None


def items(said: str) -> list[str]:
    """`a, b and c` as three; `None` and dashes as nothing. Back-ticks and brackets around an item go."""
    parts = re.split(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+", said.strip().strip("[]"))
    found = [part.strip().strip("`\"'").strip() for part in parts]
    return [part for part in found if part.lower() not in _NOTHING]


def slug(title: str, words: int = 8, length: int = 48) -> str:
    """An id that a person can type and a branch can carry: the first words of a title."""
    plain = unicodedata.normalize("NFKC", title).lower()
    parts = [part for part in _UNWORDY.split(plain) if part][:words]
    text = parts[0][:length] if parts else ""
    for part in parts[1:]:
        if len(text) + 1 + len(part) > length:
            break
        text = f"{text}-{part}"
    return text or "task"
