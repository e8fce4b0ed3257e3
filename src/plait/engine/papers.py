"""The papers of an attempt: what was said of the ones before it, and the files that lie in its folder when it starts."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from plait.agents.prompt import Said
from plait.core.decisions import AttemptStarted
from plait.core.task import Attempt, Step
from plait.site import transcript
from plait.site.folder import StateFolder, put

CHECK_TAIL = 4 << 10  # bytes of a failed check's output that the next attempt is told


def said(folder: StateFolder, order: AttemptStarted) -> Said:
    check = _failed_check(folder, order.attempt) if order.feedback else ""
    return Said(order.feedback, check, _conflict(folder, order))


def lay(path: Path, text: str) -> None:
    """What lies there already is left as it is: it may be being read, by what an engine started that died."""
    with suppress(OSError):
        if path.read_bytes() == text.encode("utf-8", "surrogateescape"):
            return
    put(path, text)


def _failed_check(folder: StateFolder, attempt: Attempt) -> str:
    """What the newest check of this task said, as far as there was one."""
    made = [
        path
        for path in folder.task(attempt.batch, attempt.task).glob(f"{Step.VERIFY.value}-*")
        if path.name.rpartition("-")[2].isdigit()
    ]
    newest = max(made, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
    if newest is None:
        return ""
    return transcript.tail(newest / "transcript", CHECK_TAIL).decode("utf-8", "replace")


def _conflict(folder: StateFolder, order: AttemptStarted) -> str:
    if order.repairs is None:
        return ""
    with suppress(OSError):
        return folder.conflict(order.attempt.batch, order.attempt.task).read_text("utf-8", "replace")
    return ""
