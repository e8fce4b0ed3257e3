"""The clerk of an office: keeps its desk, in a thread of its own, and hands on what is new. Nobody else touches the desk."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from plait.core.errors import PlaitError
from plait.core.events import Record
from plait.front.chronicle import Chronicle
from plait.front.desk import Desk
from plait.front.event import Event
from plait.front.feed import Feed
from plait.front.tally import Tally
from plait.server.clock import Etas
from plait.server.overheard import Overheard
from plait.server.story import Piece, Story, pieces
from plait.wiring import Place

T = TypeVar("T")

# A journal's id, what was told of it since the last time, and its last record.
Publish = Callable[[str, Sequence[Piece], int], object]
Say = Callable[[Sequence[Event]], object]

TEND = 1.0  # seconds between two looks whether there is work and nobody does it
OVERHEAR = 0.2  # between two looks at what agents say
AGAIN = 5.0  # until an engine that does not stay is tried again


class Clerk:
    """`tally` and `chronicle` are of the journal that is followed: with another one they begin anew.

    `working`: an engine is, as far as is known. `untended`: why none stays.
    """

    def __init__(self, place: Place, publish: Publish, say: Say, *, tends: bool) -> None:
        self.tally, self.chronicle = Tally(), Chronicle()
        self.working = False
        self.untended: PlaitError | None = None
        self._place, self._publish, self._say, self._tends = place, publish, say, tends
        self._desk: Desk | None = None
        self._journal = ""
        self._fresh: list[Piece] = []
        self._etas, self._overheard = Etas(), Overheard(place)
        self._overheard_at = self._tended = 0.0

    def open(self) -> Story:
        """With everything told that is there. Raises PlaitError where the journal can't be read."""
        story, desk = Story(""), Desk(self._place, Feed())

        def hear(record: Record, events: Sequence[Event]) -> None:
            self._hear(desk, record, events)
            story.add(self._taken(), record.seq)

        try:
            desk.listen(hear)
            desk.refresh()
        except BaseException:
            desk.close()
            raise
        self._follow(desk)
        story.journal, self._desk = self._journal, desk
        desk.listen(lambda record, events: self._hear(desk, record, events))
        return story

    def close(self) -> None:
        if self._desk is not None:
            self._desk.close()
            self._desk = None

    def look(self, read: Callable[[Desk], T]) -> T:
        """Up to date."""
        assert self._desk is not None
        self._caught_up(self._desk)
        try:
            return read(self._desk)
        finally:
            self._hand_on(self._desk)

    def glance(self, *, overhear: bool) -> bool:
        """Whether there was something new. `overhear`: somebody wants to hear what agents say."""
        assert self._desk is not None
        moved, now = self._desk.wait(0), time.monotonic()
        if moved:
            self._caught_up(self._desk)
        if overhear and now - self._overheard_at >= OVERHEAR:
            self._overheard_at = now
            if said := self._overheard.read(self._desk.state, time.time()):
                self._say(said)
        if now - self._tended >= TEND:
            self._tended = now
            self._caught_up(self._desk)
            self._tend(self._desk)
        return moved

    def eta(self, batch: str) -> float | None:
        return None if self._desk is None else self._etas.end(self._desk.state, batch)

    def _hear(self, desk: Desk, record: Record, events: Sequence[Event]) -> None:
        self._follow(desk)
        self.tally.take(desk.state, record)
        self.chronicle.take(record)
        self._fresh += pieces(self._journal, record.seq, events)

    def _follow(self, desk: Desk) -> None:
        """What was told of another journal, and not handed on, is void."""
        journal = desk.journal_id or ""
        if journal != self._journal:
            self._journal, self._fresh = journal, []
            self.tally, self.chronicle = Tally(), Chronicle()

    def _caught_up(self, desk: Desk) -> None:
        try:
            desk.refresh()
        finally:
            self._hand_on(desk)

    def _hand_on(self, desk: Desk) -> None:
        self._follow(desk)
        self._publish(self._journal, self._taken(), desk.state.seq)

    def _taken(self) -> list[Piece]:
        fresh, self._fresh = self._fresh, []
        return fresh

    def _tend(self, desk: Desk) -> None:
        """That no engine stays keeps nobody from reading."""
        self.working = desk.engine() is not None
        if self.working:
            self.untended = None
        elif self._tends:
            try:
                desk.tend()
            except PlaitError as error:
                self.untended = error
                self._tended += AGAIN
