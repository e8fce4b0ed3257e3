"""Listening to a tool that plait knows nothing of: its last line, the stages it prints, and its exit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plait.agents.failures import outcome
from plait.agents.model import Activity, PhaseBegun, Signal
from plait.agents.plain import cut, plain
from plait.core.reports import Outcome

ACTIVITY = 160  # characters for people
PHASE = 80
PHASES = 200  # each is a record of the journal, and no tool has more stages than this

_LONGEST = 1000  # a longer line is no headline, whatever escapes are in it
_BAR = "[=\u2500-\u257f]"  # a box drawing, or what stands for one
_PHASE = re.compile(
    rf"[^\w\s=]{{0,8}} ?{_BAR}{{3,}} ?"
    r"(phase #?\d.*?|phase(?: \w{1,12})? ?[:\u2013\u2014-].*?)"
    rf" ?(?:{_BAR}{{2,}}.*)?",
    re.IGNORECASE,
)


class Listening:
    """`words`: whether what it said last may tell why it failed. Success is its exit status and nothing else."""

    def __init__(self, *, words: bool) -> None:
        self._words = words
        self._line = ""
        self._phase = ""
        self._phases = 0

    def hear(self, line: str) -> Sequence[Signal]:
        if line == self._line:
            return ()
        self._line = line
        shown = plain(line, ACTIVITY)
        if not shown:
            return ()
        if ("hase" in line or "HASE" in line) and len(line) < _LONGEST and (begun := self._begun(shown)):
            return (PhaseBegun(begun), Activity(shown))
        return (Activity(shown),)

    def missed(self) -> None:
        pass

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        return outcome(code, tail, said_at=said_at, words=self._words)

    def _begun(self, shown: str) -> str | None:
        found = _PHASE.fullmatch(" ".join(shown.split()))
        name = cut(found[1].rstrip(" :"), PHASE) if found else ""
        if not name or name == self._phase or self._phases >= PHASES:
            return None
        self._phase = name
        self._phases += 1
        return name
