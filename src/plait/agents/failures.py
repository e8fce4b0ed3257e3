"""What an exit means: the category that the retry policy reads, and one line for people."""

from __future__ import annotations

import re
from dataclasses import replace
from signal import Signals

from plait.agents.plain import cut
from plait.core.reports import Outcome
from plait.core.status import Category

DETAIL = 200  # characters

_NOT_RUN = {126: "it is not executable", 127: "it was not found"}
_WARDEN = re.compile(r"^plait-warden: (?:line )?\d*:? ?(?:exec: )?")  # it speaks in the command's place
_BY_SIGNAL = 128
# Ended by somebody else. What a process brings upon itself (a segmentation fault, say) is its own failure.
_FROM_OUTSIDE = frozenset(
    {"SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGTERM", "SIGXCPU", "SIGUSR1", "SIGUSR2", "SIGALRM"}
)
_OWN = frozenset(
    {"SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGPIPE", "SIGXFSZ", "SIGSYS"}
)


def outcome(code: int, tail: str, *, said_at: float | None = None, words: bool = False) -> Outcome:
    """`code` is the shell's. With `words`, what was said last may tell why it failed; never whether."""
    if code == 0:
        return Outcome(Category.OK, code)
    from plait.agents.complaints import complaint, last_line  # noqa: PLC0415 - many patterns, and most attempts succeed

    last = last_line(tail)
    if code in _NOT_RUN:
        last = _WARDEN.sub("", last)
        return _outcome(Category.USAGE, code, _NOT_RUN[code], last)
    name = _signal(code)
    if name in _FROM_OUTSIDE:
        return _outcome(Category.KILLED, code, f"ended by {name}", last)
    status = f"ended by {name}" if name in _OWN else f"exit status {code}"
    found = complaint(tail, said_at) if words else None
    if found is None:
        return _outcome(Category.TASK, code, status, last)
    told = _outcome(found.category, code, status, found.said)
    return replace(told, retry_after=found.wait.after, retry_at=found.wait.at)


def killed(code: int) -> bool:
    """It did not end by itself, or was never run: whatever it said, that is how it ended."""
    return code in _NOT_RUN or _signal(code) in _FROM_OUTSIDE


def _outcome(category: Category, code: int, what: str, said: str) -> Outcome:
    return Outcome(category, code, cut(f"{what}: {said}" if said else what, DETAIL))


def _signal(code: int) -> str | None:
    try:
        return Signals(code - _BY_SIGNAL).name
    except ValueError:
        return None
