"""A mark: how far somebody has heard a project's events. It is the `id:` of an event, and what `Last-Event-ID` gives back."""

from __future__ import annotations

import re

from plait.core.fast_dataclass import dataclass

START = "0"
_CURSOR_PATTERN = re.compile(r"([0-9A-Za-z_-]{1,64})(?:\+([1-9][0-9]{0,5}))?:([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class EventCursor:
    """All that follows from the records of a journal up to `seq`; `part` > 0: of the last one, only so many events.

    Without a journal it is the beginning of whatever journal there will be.
    """

    journal: str
    seq: int
    part: int = 0

    def __str__(self) -> str:
        """`<journal id>:<seq>`. An event that is not the last of its record says which one it is: `<journal id>+1:<seq>`."""
        if not self.journal:
            return START
        return f"{self.journal}+{self.part}:{self.seq}" if self.part else f"{self.journal}:{self.seq}"

    @classmethod
    def parse(cls, text: str) -> EventCursor | None:
        """None: nobody ever got such an id from here."""
        if text == START:
            return cls("", 0)
        found = _CURSOR_PATTERN.fullmatch(text)
        return None if found is None else cls(found[1], int(found[3]), int(found[2] or 0))
