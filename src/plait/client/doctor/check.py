"""The result of one check, and helpers for its text."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.core.text import join_names

GC_HINT = "plait gc lists and removes what isn't needed."
_MAX_NAMES = 4
_MAX_FILES = 200_000  # the rest isn't counted, to save time


class CheckStatus(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    topic: str
    verdict: CheckStatus
    text: str
    hint: str = ""


def ok(topic: str, text: str) -> DoctorCheck:
    return DoctorCheck(topic, CheckStatus.OK, text)


def warning(topic: str, text: str, hint: str = "") -> DoctorCheck:
    return DoctorCheck(topic, CheckStatus.WARNING, text, hint)


def problem(topic: str, text: str, hint: str = "") -> DoctorCheck:
    return DoctorCheck(topic, CheckStatus.PROBLEM, text, hint)


def format_bytes(count: int) -> str:
    for unit, worth in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= worth:
            return f"{count / worth:.1f} {unit}"
    return f"{count} bytes"


def format_count(number: int, one: str, plural: str = "s") -> str:
    return f"1 {one}" if number == 1 else f"{number} {one}{plural}"


def format_names(found: Iterable[str]) -> str:
    return join_names(list(found), _MAX_NAMES)


def find_write_problem(folder: Path) -> str:
    """Why nothing can be written there; for a folder that doesn't exist, its nearest parent counts."""
    for each in (folder, *folder.parents):
        if os.path.lexists(each):
            if not each.is_dir():
                return "it isn't a folder" if each == folder else f"{each} isn't a folder"
            return "" if os.access(each, os.W_OK | os.X_OK) else "it can't be written to"
    return ""


def measure_disk_use(paths: Sequence[str]) -> tuple[int, bool]:
    """Their disk usage (transcripts may have holes), and whether everything was counted."""
    total, waiting, seen = 0, list(paths), 0
    while waiting and seen < _MAX_FILES:
        seen += 1
        path = waiting.pop()
        try:
            found = os.lstat(path)
            total += found.st_blocks * 512
            if stat.S_ISDIR(found.st_mode):
                waiting += [each.path for each in os.scandir(path)]
        except OSError:  # it went away meanwhile
            continue
    return total, not waiting
