"""Listening to a tool that plait knows nothing of: its last line, the stages it prints, and its exit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plait.agents.error_patterns__failures import classify_exit
from plait.agents.interface import Activity, AgentEvent, PhaseStarted
from plait.agents.plain_text import to_plain_text, truncate
from plait.core.reports import Outcome

MAX_ACTIVITY_CHARS = 160  # characters for people
MAX_PHASE_CHARS = 80
MAX_PHASES = 200  # each is a record of the journal, and no tool has more stages than this

_MAX_HEADLINE_CHARS = 1000  # a longer line is no headline, whatever escapes are in it
_BAR = "[=\u2500-\u257f]"  # a box drawing, or what stands for one
_PHASE_HEADLINE = re.compile(
    rf"[^\w\s=]{{0,8}} ?{_BAR}{{3,}} ?"
    r"(phase #?\d.*?|phase(?: \w{1,12})? ?[:\u2013\u2014-].*?)"
    rf" ?(?:{_BAR}{{2,}}.*)?",
    re.IGNORECASE,
)


class PlainTextParser:
    """`words`: whether what it said last may tell why it failed. Success is its exit status and nothing else."""

    def __init__(self, *, use_output: bool) -> None:
        self._use_output = use_output
        self._line = ""
        self._phase = ""
        self._phases = 0

    def feed(self, line: str) -> Sequence[AgentEvent]:
        if line == self._line:
            return ()
        self._line = line
        shown = to_plain_text(line, MAX_ACTIVITY_CHARS)
        if not shown:
            return ()
        if (
            ("hase" in line or "HASE" in line)
            and len(line) < _MAX_HEADLINE_CHARS
            and (begun := self._find_phase(shown))
        ):
            return (PhaseStarted(begun), Activity(shown))
        return (Activity(shown),)

    def mark_gap(self) -> None:
        pass

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        return classify_exit(code, tail, printed_at=printed_at, use_output=self._use_output)

    def _find_phase(self, shown: str) -> str | None:
        found = _PHASE_HEADLINE.fullmatch(" ".join(shown.split()))
        name = truncate(found[1].rstrip(" :"), MAX_PHASE_CHARS) if found else ""
        if not name or name == self._phase or self._phases >= MAX_PHASES:
            return None
        self._phase = name
        self._phases += 1
        return name
