"""Check: one thing that was looked at, how it is, and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from plait.core.frozen import dataclass

_NAMED = 4


class Verdict(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    topic: str
    verdict: Verdict
    said: str
    hint: str = ""


def ok(topic: str, said: str) -> Check:
    return Check(topic, Verdict.OK, said)


def warning(topic: str, said: str, hint: str = "") -> Check:
    return Check(topic, Verdict.WARNING, said, hint)


def problem(topic: str, said: str, hint: str = "") -> Check:
    return Check(topic, Verdict.PROBLEM, said, hint)


def size(count: int) -> str:
    """Bytes, for people."""
    for unit, worth in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= worth:
            return f"{count / worth:.1f} {unit}"
    return f"{count} bytes"


def count(number: int, one: str, plural: str = "s") -> str:
    return f"1 {one}" if number == 1 else f"{number} {one}{plural}"


def names(found: Iterable[str]) -> str:
    shown = list(found)
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return ", ".join(shown[:_NAMED]) + more
