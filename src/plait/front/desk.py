"""The desk: where a front reads what is so, asks for what should be, and sees to it that somebody does it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from plait import wiring
from plait.core.errors import WorldError
from plait.core.events import Record
from plait.core.evolve import evolve
from plait.core.frozen import dataclass
from plait.core.requests import Request, Submit
from plait.core.state import State
from plait.front.ahead import with_submitted
from plait.front.asking import Answer, Expected, Submission, request_id
from plait.front.tending import Tender
from plait.ports import Inbox, InboxError, JournalMissingError, JournalReader
from plait.wiring import EngineInfo, Place

if TYPE_CHECKING:  # only for those who tell what happens
    from plait.front.event import Event
    from plait.front.feed import Feed
    from plait.wiring import Held

PATIENCE = 15.0  # seconds for an answer; an engine that starts, or is busy with a long turn, has it by then
LONG = 60.0  # for a new batch: whoever submits one has nothing to show before it is there
GLANCE = 0.25  # at the engine, while an answer is awaited
LOOK = 1.0  # between two looks whether the journal was replaced
SHORT = 0.02  # between two looks for a journal that is not there yet


def open_desk(place: Place, feed: Feed | None = None) -> Desk:
    """With everything folded that is there. Nothing is made: a place where nothing was submitted stays as it is."""
    desk = Desk(place, feed)
    try:
        desk.refresh()
    except BaseException:
        desk.close()
        raise
    return desk


@dataclass(frozen=True, slots=True)
class Told:
    """A record, and what follows from it."""

    record: Record
    events: Sequence[Event]


class Desk:
    """Belongs to the thread that opened it. What is asked for here is in the state as soon as `ask` returns.

    With a `feed`, it is the feed that folds, and from `listen` on also tells: `heard` gives what it told, or whoever
    listens is called with each record as it is folded.
    """

    def __init__(self, place: Place, feed: Feed | None = None) -> None:
        self.place = place
        self.state = State() if feed is None else feed.state
        self._feed = feed
        self._listening = False
        self._told: list[Told] = []
        self._hear: Callable[[Record, Sequence[Event]], None] | None = None
        self._looked = 0.0
        self._reader: JournalReader | None = None
        self._inbox: Inbox | None = None
        self._unread: list[Record] = []
        self._expected = Expected()
        self._tender = Tender(place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._tender.close()
        self._forget_journal()
        if self._inbox is not None:
            self._inbox.close()
            self._inbox = None

    def move(self, place: Place) -> None:
        """The same repository, in another checkout: what is started from now on is started there."""
        assert place.state == self.place.state
        self.place = place
        self._tender.move(place)

    @property
    def journal_id(self) -> str | None:
        """Another one than before: the journal was replaced, and the state begins anew."""
        return None if self._reader is None else self._reader.id

    def refresh(self) -> Sequence[Record]:
        """Read and fold what is new; the records, also those that were folded while an answer was awaited."""
        self._catch_up()
        unread, self._unread = self._unread, []
        return unread

    @property
    def feed(self) -> Feed:
        """For those who opened it with one."""
        assert self._feed is not None
        return self._feed

    def listen(self, hear: Callable[[Record, Sequence[Event]], None] | None = None) -> None:
        """What happens from now on is to be told; to `hear` if it is given, and then nothing is kept here."""
        self._listening, self._hear = True, hear

    def heard(self) -> Sequence[Told]:
        """Read what is new; everything that was told since the last time."""
        self.refresh()
        told, self._told = self._told, []
        return told

    def warm(self, begun: Held | None = None) -> None:
        """Something will be asked for: let an engine get ready meanwhile, or the one that was begun for this place."""
        self._tender.warm(begun)

    def wait(self, timeout: float) -> bool:
        """True as soon as there is something to refresh, False when the time is over."""
        return bool(self._unread) or self._wait(timeout)

    def _wait(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        while not self._open_journal():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(SHORT, left))
        assert self._reader is not None
        try:
            return self._reader.wait(self.state.seq, max(0.0, deadline - time.monotonic()))
        except JournalMissingError:
            self._looked = 0.0
            return True

    def engine(self) -> EngineInfo | None:
        return wiring.engine_of(self.place)

    def pending(self) -> Sequence[Request]:
        """Requests that no engine has taken yet."""
        if self._inbox is None and not (self.place.state / wiring.INBOX).exists():
            return ()
        return [request for request in self._box().pending() if request.id not in self.state.seen]

    def ahead(self) -> State:
        """The state, and in it the batches that are accepted and not taken yet: who has just submitted one sees it."""
        return with_submitted(self.state, self.pending())

    def tend(self) -> None:
        """Start an engine if there is work and none is there. Raises WorldError when engines do not stay."""
        from plait.core.needed import needed  # noqa: PLC0415 - it knows all rules, and few need them

        if needed(self.state) or self.pending():
            self._tender.tend()

    def submit(self, submission: Submission) -> str:
        """The new batch's id, once it is in the journal. Raises WorldError if it is refused, or not answered in time."""
        request = self.hand_in(submission)
        self._await([request], LONG)
        (told,) = self.answers([request])
        return self.taken(request, told)

    def hand_in(self, submission: Submission, name: str = "") -> Submit:
        """The request for a new batch, once it is safe in the inbox: somebody will answer it. `name`: its id, if not any."""
        from plait.front.handover import discreet, hand_over, take_back  # noqa: PLC0415 - most fronts only look
        from plait.site.refs import batch_branch  # noqa: PLC0415

        submission = discreet(submission)
        batch = hand_over(self.place, self.state, submission)
        request = Submit(
            name or request_id(),
            batch,
            submission.plan.brief(),
            submission.settings,
            base=submission.base,
            branch=batch_branch(batch) if submission.base else "",
            seed=int.from_bytes(os.urandom(4)),
            sources=submission.sources,
        )
        try:
            self.put([request])
        except InboxError:
            take_back(self.place, batch)
            raise
        return request

    def taken(self, request: Submit, told: Answer) -> str:
        """The new batch's id. Raises WorldError if it is refused, or was not answered in time."""
        from plait.front.handover import take_back  # noqa: PLC0415

        if told.granted is False:
            take_back(self.place, request.batch)
            raise WorldError(f"the batch was refused: {told.why}")
        if told.granted is None:
            raise WorldError(
                f"batch {request.batch} is accepted, but no engine has taken it within {LONG:.0f} seconds",
                hint=f"It starts as soon as one does. The engine's log is {self.place.state / wiring.LOG}.",
            )
        return request.batch

    def ask(self, request: Request) -> Answer:
        return self.ask_all([request])[0]

    def ask_all(self, requests: Sequence[Request], *, patience: float | None = None) -> list[Answer]:
        """Durable first, then answered, as far as an engine does so in time; an answer for each, in their order."""
        self.put(requests)
        self._await(requests, PATIENCE if patience is None else patience)
        return self.answers(requests)

    def put(self, requests: Sequence[Request]) -> None:
        """They are safe, and whoever answers them has been rung for. Nothing is waited for."""
        from plait.front.handover import hand_over_environment  # noqa: PLC0415 - most fronts only look

        hand_over_environment(self.place, self.state, requests)
        self._expected.await_(requests)
        for request in requests:
            self._box().put(request)
        wiring.ring(self.place)

    def answered(self, requests: Sequence[Request]) -> bool:
        """Whether all of them are, as far as has been read."""
        return self._expected.complete(requests)

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """As far as there are any: nobody waits for the others any more."""
        return self._expected.collect(requests)

    def _await(self, requests: Sequence[Request], patience: float) -> None:
        deadline = time.monotonic() + patience
        self._catch_up()
        while not self.answered(requests) and time.monotonic() < deadline:
            self.tend()
            self._wait(min(GLANCE, deadline - time.monotonic()))
            self._catch_up()

    def _catch_up(self) -> None:
        if self._reader is not None and self._replaced():
            self._forget_journal()
        if not self._open_journal():
            return
        assert self._reader is not None
        for record in self._reader.read(self.state.seq):
            self._fold(record)
            self._expected.hear(record)
            self._tender.hear(record)
            if self._hear is None:
                self._unread.append(record)

    def _fold(self, record: Record) -> None:
        if self._feed is None:
            evolve(self.state, record)
        elif self._hear is not None:
            self._hear(record, self._feed.take(record))
        elif self._listening:
            self._told.append(Told(record, self._feed.take(record)))
        else:
            self._feed.fold(record)

    def _replaced(self) -> bool:
        """Now and then is often enough: whoever waits is told at once."""
        assert self._reader is not None
        now = time.monotonic()
        if now - self._looked < LOOK:
            return False
        self._looked = now
        try:
            self._reader.wait(self.state.seq, 0)  # it looks whether its file is still the journal
        except JournalMissingError:
            return True
        return False

    def _open_journal(self) -> bool:
        if self._reader is None:
            try:
                self._reader = wiring.journal_reader(self.place)
            except JournalMissingError:
                return False
        return True

    def _forget_journal(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        if self._feed is not None:
            self._feed = type(self._feed)()
        self.state = State() if self._feed is None else self._feed.state
        self._unread, self._told = [], []

    def _box(self) -> Inbox:
        if self._inbox is None:
            self._inbox = wiring.inbox(self.place)
        return self._inbox
