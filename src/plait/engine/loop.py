"""The engine's loop: one inbox, one writer. Facts come in, decisions are made durable, and only then performed.

Everything happens in one thread. A turn takes all that came since the last one, so that many facts share one commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress

from plait.core.agenda.slots import room_in_batch
from plait.core.drive import decide, take
from plait.core.events import Record
from plait.core.evolve import evolve
from plait.core.frozen import dataclass
from plait.core.needed import needed
from plait.core.reports import (
    AttemptActive,
    AttemptLaunched,
    AttemptPhase,
    EngineReleased,
    EngineTaken,
    Report,
    SourcesWritten,
)
from plait.core.requests import ChangeEngineSettings, Request
from plait.core.state import State
from plait.engine import log
from plait.engine.foresight import Foresight
from plait.engine.grounds import Grounds
from plait.engine.hands import Hands
from plait.engine.machine import Machine
from plait.engine.perform import Performer
from plait.engine.recover import recover
from plait.engine.settler import Settler
from plait.engine.sound import sound
from plait.engine.watch import Watch
from plait.ports import (
    Commons,
    Elsewhere,
    Executor,
    Inbox,
    InboxError,
    Journal,
    JournalFullError,
    JournalReadOnlyError,
    Onlooker,
    Trouble,
    Wakefulness,
)

TICK = 1.0  # seconds between two looks at transcripts and sensors, while something runs
GLANCE = 2.0  # at the inbox, in case its bell did not ring
LINGER = 2.0  # with nothing left to do, before it leaves
RETRY = 2.0  # until a journal without room is tried again
SOON = 0.2  # what no decision hangs on waits so long for company in its commit
_PATIENT = (AttemptLaunched, AttemptActive, AttemptPhase, SourcesWritten)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the engine is put together from."""

    journal: Journal
    inbox: Inbox
    executor: Executor
    performer: Performer
    watch: Watch
    settler: Settler
    machine: Machine
    commons: Commons
    awake: Wakefulness
    trouble: Trouble
    hands: Hands
    grounds: Grounds
    foresight: Foresight
    onlookers: tuple[Onlooker, ...] = ()


class Engine:
    """Owns the state. `leave` may be called at any time: what runs goes on, and another engine adopts it."""

    def __init__(self, pid: int, version: str, wall: Callable[[], float] = time.time) -> None:
        self.state = State()
        self._wall = wall
        self._pid = pid
        self._version = version
        self._parts: Parts | None = None
        self._news: list[Request | Report] = []
        self._urgent = True
        self._since = 0.0  # when the first of the patient news came
        self._rung = True
        self._glanced = 0.0
        self._ticked = 0.0
        self._unwritten: list[Record] = []
        self._saved: Mapping[str, str] = {}  # the journal's settings
        self._wake: float | None = None
        self._leaving = False
        self._told: set[str] = set()
        self._idle_since: float | None = None

    @property
    def parts(self) -> Parts:
        assert self._parts is not None
        return self._parts

    def hear(self, report: Request | Report) -> None:
        if isinstance(report, Report):
            report = sound(report)
        if not self._news:
            self._since = time.monotonic()
        self._news.append(report)
        awaited = (
            isinstance(report, SourcesWritten) and report.batch not in self.state.open
        )  # a front waits for it
        self._urgent = self._urgent or awaited or not isinstance(report, _PATIENT)

    def ring(self) -> None:
        """Somebody left a request."""
        self._rung = True

    def leave(self) -> None:
        self._leaving = True

    @property
    def dismissed(self) -> bool:
        """It left because it was told to."""
        return self._leaving

    def open(self, parts: Parts, wanted: ChangeEngineSettings) -> None:
        """Replay, probe, report: what an earlier engine left is found again. `wanted` is what the settings say now."""
        self._parts = parts
        self._saved = parts.journal.settings()
        for record in parts.journal.read():
            evolve(self.state, record)
            parts.settler.take(record)
            for onlooker in parts.onlookers:
                onlooker.replay(record)
        self.hear(EngineTaken(self._pid, version=self._version))
        if self.state.settings.patched(wanted.settings, wanted.fields) != self.state.settings:
            self.hear(wanted)
        self._tidy()
        adopted = recover(self.state, parts.executor, parts.performer)
        parts.grounds.take_over(self.state)
        log.say(f"engine {self._pid} took over at record {self.state.seq}, {adopted} attempts run on")

    def longest(self) -> float:
        """How long the loop may sleep if nothing happens."""
        now = time.monotonic()
        if self._unwritten:
            return RETRY
        if self._urgent or self._rung:
            return 0.0
        waits = [self._glanced + GLANCE - now]
        if self._news:
            waits.append(self._since + SOON - now)
        if self._busy:
            waits.append(self._ticked + TICK - now)
        if self._wake is not None:
            waits.append(self._wake - self._wall())
        if self._idle_since is not None:
            left = self._idle_since + LINGER - now
            waits.append(left if left > 0 else SOON)  # what attempts left behind is still being ended
        return max(0.0, min(waits))

    def turn(self) -> None:
        """Take what came, decide what is due, make it durable, perform it."""
        if self._unwritten:
            self._write(self._unwritten)
            return
        self._tick()
        requests = self._requests()
        jump = list(self.parts.machine.clock())
        with self._commons(asked=bool(requests)) as elsewhere:
            if not (requests or jump or self._pressing() or self.parts.machine.stirred(elsewhere)):
                return
            incoming, self._news, self._urgent = [*jump, *requests, *self._news], [], False
            at = self._wall()
            records = take(self.state, incoming, at)
            # What the machine has room for depends on what has just ended, and on who took over.
            records += take(self.state, list(self.parts.machine.reports(self.state, elsewhere)), at)
            decided, self._wake = decide(self.state, at)
            self.parts.commons.hold(self.state.slots, self._pids(), waiting=self._waits())
        self._write([*records, *decided])
        self._strike_out(requests)

    @property
    def over(self) -> bool:
        """Nothing is left to do, and nobody has asked for anything lately."""
        if self._leaving:
            return True
        if not self._nothing_left():
            self._idle_since = None
            return False
        now = time.monotonic()
        if self._idle_since is None:
            self._idle_since = now
            self.parts.settler.finish()
        return now - self._idle_since >= LINGER and not self.parts.performer.sweep()

    def release(self) -> None:
        """The last record of this engine. Nothing is taken or decided any more: nobody would be there to see to it."""
        if self._unwritten:
            self._write(self._unwritten)
        if not self._unwritten:
            news, self._news = [*self._news, EngineReleased(self._pid)], []
            self._write(take(self.state, news, self._wall()))
        self._tidy()
        log.say(f"engine {self._pid} left at record {self.state.seq}")

    def _tidy(self) -> None:
        """Batches that are open, or on their way here, go on having their environments."""
        with suppress(InboxError):
            coming = (getattr(request, "batch", "") for request in self.parts.inbox.pending())
            self.parts.performer.tidy({*self.state.open, *coming})

    @property
    def _busy(self) -> bool:
        return any(batch.alive or batch.paused is None for batch in self.state.open.values())

    def _nothing_left(self) -> bool:
        if self._news or self._unwritten or self._rung or self.parts.watch.running:
            return False
        told = all(onlooker.at_rest for onlooker in self.parts.onlookers)
        return told and self.parts.settler.at_rest and self.parts.hands.idle and not needed(self.state)

    def _pressing(self) -> bool:
        """Whether a turn is worth a commit now."""
        if self._urgent or (self._wake is not None and self._wake <= self._wall()):
            return True
        return bool(self._news) and time.monotonic() - self._since >= SOON

    def _commons(self, *, asked: bool) -> AbstractContextManager[Elsewhere]:
        """Nobody needs to be asked while there is nothing to start."""
        return self.parts.commons.turn() if self.state.open or asked else nullcontext(Elsewhere())

    def _waits(self) -> bool:
        """Whether something could start if only there were a slot."""
        ready = self.state.ready
        going = (
            batch for batch in self.state.open.values() if batch.paused is None and room_in_batch(batch, 1)
        )
        return any(next(iter(ready.heads(batch.id)), None) is not None for batch in going)

    def _pids(self) -> list[int]:
        alive = (attempt for batch in self.state.open.values() for attempt in batch.alive.values())
        return [attempt.pid for attempt in alive if attempt.pid is not None]

    def _tick(self) -> None:
        now = time.monotonic()
        if self._busy and now - self._ticked >= TICK:
            self._ticked = now
            self.parts.watch.listen(now)
            self.parts.machine.look(self.parts.executor, self.parts.watch)
            self.parts.foresight.look(now)
            self.parts.grounds.measure(now)
            self._tell(self.parts.commons.problem)

    def _requests(self) -> Sequence[Request]:
        now = time.monotonic()
        if not self._rung and now - self._glanced < GLANCE:
            return ()
        self._rung, self._glanced = False, now
        self.parts.journal.wait(
            self.state.seq, 0
        )  # raises if its file was taken away: then nobody wants this engine
        try:
            return self.parts.inbox.pending()
        except InboxError as error:
            self._tell(error.message)
            return ()

    def _strike_out(self, requests: Sequence[Request]) -> None:
        """They are in the journal. If the inbox can't be told, they come again and are passed over."""
        if requests and not self._unwritten:
            try:
                self.parts.inbox.taken([request.id for request in requests])
            except InboxError as error:
                self._tell(error.message)

    def _write(self, records: list[Record]) -> None:
        """Nothing is performed before it is on disk. A full disk is waited for; meanwhile nothing is decided."""
        try:
            self.parts.journal.save_settings(self._unsaved(), records)
        except (JournalFullError, JournalReadOnlyError) as error:
            if not self._unwritten:
                log.say(f"warning: {error.message}; {len(records)} records wait ({error.hint})")
            self.parts.trouble.tell(f"{error.message}; agents run on, nothing new is begun. {error.hint}")
            self._unwritten = records
            return
        if self._unwritten:
            log.say("the journal can be written again")
            self.parts.trouble.clear()
            self._unwritten = []
        self._saved = self.state.saved
        for record in records:
            self.parts.settler.take(record)
        for record in records:
            self.parts.performer.perform(record)
        for onlooker in self.parts.onlookers:
            onlooker.hear(self.state, records)
        self.parts.settler.poke()
        self._keep_awake()

    def _unsaved(self) -> dict[str, str | None]:
        """What makes the journal's settings those that the records say."""
        if self.state.saved == self._saved:
            return {}
        return {**dict.fromkeys(self._saved), **self.state.saved}

    def _keep_awake(self) -> None:
        """While something runs, and not while all wait for a person or for a provider."""
        awake = self.parts.awake
        if not any(batch.alive for batch in self.state.open.values()):
            awake.release()
            return
        awake.hold()
        if awake.why:
            self._tell(f"the machine may fall asleep: {awake.why}")

    def _tell(self, problem: str) -> None:
        """Once is enough."""
        if problem and problem not in self._told:
            self._told.add(problem)
            log.say(f"warning: {problem}")
