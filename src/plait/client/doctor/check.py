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
    for unit, unit_bytes in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= unit_bytes:
            return f"{count / unit_bytes:.1f} {unit}"
    return f"{count} bytes"


def format_count(number: int, singular: str, plural: str = "s") -> str:
    return f"1 {singular}" if number == 1 else f"{number} {singular}{plural}"


def format_names(names: Iterable[str]) -> str:
    return join_names(list(names), _MAX_NAMES)


def find_write_problem(folder: Path) -> str:
    """Say why nothing can be written there; for a folder that doesn't exist, its nearest parent counts."""
    for path in (folder, *folder.parents):
        if os.path.lexists(path):
            if not path.is_dir():
                return "it isn't a folder" if path == folder else f"{path} isn't a folder"
            return "" if os.access(path, os.W_OK | os.X_OK) else "it can't be written to"
    return ""


def measure_disk_use(paths: Sequence[str]) -> tuple[int, bool]:
    """Return the disk usage of these paths (transcripts may have holes), and whether everything was counted."""
    total, queue, counted = 0, list(paths), 0
    while queue and counted < _MAX_FILES:
        counted += 1
        path = queue.pop()
        try:
            file_stat = os.lstat(path)
            total += file_stat.st_blocks * 512
            if stat.S_ISDIR(file_stat.st_mode):
                queue += [entry.path for entry in os.scandir(path)]
        except OSError:  # it went away meanwhile
            continue
    return total, not queue
