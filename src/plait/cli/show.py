"""How things are spelt for people: statuses, times, lists, changes, and as wide as there is room."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable

from plait.core.status import BatchStatus, TaskStatus

MINUS = "\u2212"
_GOOD, _BAD, _BUSY, _CALM = "green", "red", "cyan", "yellow"
STYLES: dict[TaskStatus, str] = {
    TaskStatus.QUEUED: "dim",
    TaskStatus.WAITING: _CALM,
    TaskStatus.RUNNING: _BUSY,
    TaskStatus.VERIFYING: _BUSY,
    TaskStatus.MERGING: _BUSY,
    TaskStatus.DONE: _GOOD,
    TaskStatus.INTERRUPTED: _CALM,
}
BATCH_STYLES: dict[BatchStatus, str] = {
    BatchStatus.PENDING: "dim",
    BatchStatus.RUNNING: _BUSY,
    BatchStatus.MERGING: _BUSY,
    BatchStatus.PAUSED: _CALM,
    BatchStatus.COMPLETED: _GOOD,
}


def style(status: TaskStatus | BatchStatus) -> str:
    """Beside the word, never instead of it."""
    return (STYLES.get(status) if isinstance(status, TaskStatus) else BATCH_STYLES.get(status)) or _BAD


def word(status: TaskStatus | BatchStatus) -> str:
    return status.value.replace("_", " ")


def on_terminal() -> bool:
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def room() -> int | None:
    """How wide a line may be; None: nobody minds."""
    from shutil import get_terminal_size  # noqa: PLC0415 - only for terminals

    return get_terminal_size().columns if sys.stdout.isatty() else None


def cut(text: str, width: int | None) -> str:
    """On one line, and no longer than this."""
    told = " ".join(text.split())
    return told if width is None or len(told) <= width else f"{told[: max(0, width - 1)]}…"


def date(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


def listed(names: Iterable[str], most: int = 4) -> str:
    found = list(names)
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def changes(diffstat: tuple[int, int, int] | None, minus: str = MINUS) -> str:
    """`+182 -12`; a change of no lines has files all the same. Empty: nobody counted."""
    if diffstat is None:
        return ""
    files, added, removed = diffstat
    if added or removed:
        return f"+{added} {minus}{removed}"
    return f"{files} file{'' if files == 1 else 's'}" if files else "no change"


def minus() -> str:
    """The sign for it that the standard output knows."""
    try:
        MINUS.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "-"
    return MINUS


def commit(name: str) -> str:
    """As much of it as nobody mistakes for another."""
    return name[:10]
