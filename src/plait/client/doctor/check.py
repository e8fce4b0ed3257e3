"""Check: one thing that was looked at, how it is, and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from plait.core.fast_dataclass import dataclass

_MAX_NAMES = 4


class CheckStatus(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    topic: str
    verdict: CheckStatus
    said: str
    hint: str = ""


def ok(topic: str, said: str) -> DoctorCheck:
    return DoctorCheck(topic, CheckStatus.OK, said)


def warning(topic: str, said: str, hint: str = "") -> DoctorCheck:
    return DoctorCheck(topic, CheckStatus.WARNING, said, hint)


def problem(topic: str, said: str, hint: str = "") -> DoctorCheck:
    return DoctorCheck(topic, CheckStatus.PROBLEM, said, hint)


def format_bytes(count: int) -> str:
    """Bytes, for people."""
    for unit, worth in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= worth:
            return f"{count / worth:.1f} {unit}"
    return f"{count} bytes"


def format_count(number: int, one: str, plural: str = "s") -> str:
    return f"1 {one}" if number == 1 else f"{number} {one}{plural}"


def format_names(found: Iterable[str]) -> str:
    shown = list(found)
    more = f" and {len(shown) - _MAX_NAMES} more" if len(shown) > _MAX_NAMES else ""
    return ", ".join(shown[:_MAX_NAMES]) + more
