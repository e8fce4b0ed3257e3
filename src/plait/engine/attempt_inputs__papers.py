"""The papers of an attempt: what was said of the ones before it, and the files that lie in its folder when it starts."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from plait.agents.prompts import PriorFeedback
from plait.core.decisions import AttemptStarted
from plait.core.task import Attempt, Step
from plait.runtime import transcript
from plait.system.state_paths import StateFolder, write_private_file

CHECK_TAIL_BYTES = 4 << 10  # bytes of a failed check's output that the next attempt is told


def read_prior_feedback(folder: StateFolder, order: AttemptStarted) -> PriorFeedback:
    check = _read_failed_check(folder, order.attempt) if order.feedback else ""
    return PriorFeedback(order.feedback, check, _read_conflict(folder, order))


def write_if_changed(path: Path, text: str) -> None:
    """What lies there already is left as it is: it may be being read, by what an engine started that died."""
    with suppress(OSError):
        if path.read_bytes() == text.encode("utf-8", "surrogateescape"):
            return
    write_private_file(path, text)


def _read_failed_check(folder: StateFolder, attempt: Attempt) -> str:
    """What the newest check of this task said, as far as there was one."""
    made = [
        path
        for path in folder.task(attempt.batch, attempt.task).glob(f"{Step.VERIFY.value}-*")
        if path.name.rpartition("-")[2].isdigit()
    ]
    newest = max(made, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
    if newest is None:
        return ""
    return transcript.tail(newest / "transcript", CHECK_TAIL_BYTES).decode("utf-8", "replace")


def _read_conflict(folder: StateFolder, order: AttemptStarted) -> str:
    if order.repairs is None:
        return ""
    with suppress(OSError):
        return folder.conflict(order.attempt.batch, order.attempt.task).read_text("utf-8", "replace")
    return ""
