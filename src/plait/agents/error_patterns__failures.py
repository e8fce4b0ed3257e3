"""What an exit means: the category that the retry policy reads, and one line for people."""

from __future__ import annotations

import re
from dataclasses import replace
from signal import Signals

from plait.agents.plain_text import truncate
from plait.core.reports import Outcome
from plait.core.status import Category

MAX_DETAIL_CHARS = 200  # characters

_NOT_RUN_REASONS = {126: "it is not executable", 127: "it was not found"}
_SUPERVISOR_PREFIX = re.compile(
    r"^plait-warden: (?:line )?\d*:? ?(?:exec: )?"
)  # it speaks in the command's place
_SIGNAL_EXIT_BASE = 128
# Ended by somebody else. What a process brings upon itself (a segmentation fault, say) is its own failure.
_EXTERNAL_SIGNALS = frozenset(
    {"SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGTERM", "SIGXCPU", "SIGUSR1", "SIGUSR2", "SIGALRM"}
)
_CRASH_SIGNALS = frozenset(
    {"SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGPIPE", "SIGXFSZ", "SIGSYS"}
)


def classify_exit(
    code: int, tail: str, *, printed_at: float | None = None, use_output: bool = False
) -> Outcome:
    """`code` is the shell's. With `words`, what was said last may tell why it failed; never whether."""
    if code == 0:
        return Outcome(Category.OK, code)
    from plait.agents.error_patterns import find_error, find_last_line  # noqa: PLC0415 - many patterns, and most attempts succeed

    last = find_last_line(tail)
    if code in _NOT_RUN_REASONS:
        last = _SUPERVISOR_PREFIX.sub("", last)
        return _make_outcome(Category.USAGE, code, _NOT_RUN_REASONS[code], last)
    name = _signal_name(code)
    if name in _EXTERNAL_SIGNALS:
        return _make_outcome(Category.KILLED, code, f"ended by {name}", last)
    status = f"ended by {name}" if name in _CRASH_SIGNALS else f"exit status {code}"
    found = find_error(tail, printed_at) if use_output else None
    if found is None:
        return _make_outcome(Category.TASK, code, status, last)
    told = _make_outcome(found.category, code, status, found.message)
    return replace(told, retry_after=found.wait.after, retry_at=found.wait.at)


def was_killed(code: int) -> bool:
    """It did not end by itself, or was never run: whatever it said, that is how it ended."""
    return code in _NOT_RUN_REASONS or _signal_name(code) in _EXTERNAL_SIGNALS


def _make_outcome(category: Category, code: int, what: str, said: str) -> Outcome:
    return Outcome(category, code, truncate(f"{what}: {said}" if said else what, MAX_DETAIL_CHARS))


def _signal_name(code: int) -> str | None:
    try:
        return Signals(code - _SIGNAL_EXIT_BASE).name
    except ValueError:
        return None
