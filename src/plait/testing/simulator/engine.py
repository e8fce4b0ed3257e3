"""The engine's loop on simulated time: take, decide, append, audit, perform; and what a new engine does after a crash."""

from __future__ import annotations

from dataclasses import dataclass

from plait.core.decisions import AttemptEnding
from plait.core.events import Record
from plait.core.reducers.dispatch import evolve
from plait.core.reports import ClockJumped, EngineReleased, EngineTaken, Report
from plait.core.requests import Request
from plait.core.scheduler.rules__drive import decide_due, fold_incoming
from plait.core.scheduler.rules__probe import list_outstanding
from plait.core.state import State
from plait.store import codec
from plait.testing.laws.auditor import Auditor
from plait.testing.laws.violation import Violation
from plait.testing.simulator.engine__crashes import Crashes
from plait.testing.simulator.seeded_random import Chance
from plait.testing.simulator.world import PERFORMED, RESULTS, World

RECORDS_MOST = 60_000  # far more than any scenario needs: beyond it the core goes round in circles


class _Crashed(Exception):  # noqa: N818 - nothing went wrong in the simulator
    """The engine is dead."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """How this engine differs from another one that decides the same."""

    latency: float = 0.05
    absence: float = 20.0  # seconds until another engine takes over, at most
    through_codec: bool = False  # recover from what was written, not from what was meant


class SimEngine:
    """Runs a world to its end. The journal holds what is durable; a crash loses everything else but the world."""

    def __init__(
        self, world: World, auditor: Auditor, crashes: Crashes, chance: Chance, conduct: Conduct | None = None
    ) -> None:
        self.journal: list[Record] = []
        self.crashed = 0
        self._world = world
        self._auditor = auditor
        self._crashes = crashes
        self._chance = chance
        self._conduct = conduct or Conduct()
        self._state = State()
        self._offset = world.time.offset
        self._wake: float | None = None
        self._pid = 100

    def run(self) -> list[Record]:
        """The whole journal, from the first engine's arrival to the last one's leave."""
        arriving: list[Report] = [EngineTaken(self._pid, "here")]
        while True:
            try:
                self._turn([], arriving)
                self._live()
                self._turn([], [EngineReleased(self._pid)])
            except _Crashed:
                arriving = self._recover()
            else:
                return self.journal

    def _live(self) -> None:
        world = self._world
        while not (world.settled and self._auditor.finished):
            if not world.advance(self._alarm()):
                if self._auditor.finished:
                    return
                self._auditor.stuck(f"nothing concerns the engine any more at {world.time.now:.0f}")
            if world.doomed:
                raise _Crashed
            world.linger(self._latency())
            if world.doomed:
                raise _Crashed
            requests, reports = world.collect()
            self._turn(requests, reports)
            if len(self.journal) > RECORDS_MOST:
                self._auditor.stuck(f"{len(self.journal)} records were not enough")

    def _alarm(self) -> float | None:
        """When to wake by itself, in time that passes; a little late, as any real sleeper."""
        return None if self._wake is None else self._wake - self._world.time.offset + 0.001

    def _latency(self) -> float:
        return self._conduct.latency * self._chance.roll("latency", len(self.journal))

    def _turn(self, requests: list[Request], reports: list[Report]) -> None:
        """One round of the loop; with a crash in it, what was durable before the crash stays."""
        at = self._world.time.wall
        incoming: list[Request | Report] = [*self._jumped(), *requests, *reports]
        group = fold_incoming(self._state, incoming, at)
        decisions, self._wake = decide_due(self._state, at)
        group += decisions
        fatal = self._append(group)
        if len(self.journal) == self._state.seq:
            self._auditor.quiet(at, self._wake)
            self._perform(decisions, share=self._crashes.performed(len(self.journal)) if fatal else 1.0)
        if fatal:
            raise _Crashed
        self._world.strike_out(requests)

    def _jumped(self) -> list[Report]:
        by = self._world.time.offset - self._offset
        self._offset = self._world.time.offset
        return [ClockJumped(by)] if by else []

    def _append(self, group: list[Record]) -> bool:
        """Make the group durable, or as much of it as the crash allows; True: the engine dies here."""
        length = len(self.journal)
        fatal = self._crashes.after(length + 1) if group else None
        durable = group if fatal is None else group[: fatal - length]
        for record in durable:
            self.journal.append(record)
            self._auditor.observe(record)
            self._world.see(record)
        return fatal is not None and fatal <= length + len(group)

    def _perform(self, decisions: list[Record], share: float) -> None:
        owed = [record.event for record in decisions if isinstance(record.event, PERFORMED)]
        for decision in owed[: round(len(owed) * share)]:
            self._world.perform(decision)

    def _recover(self) -> list[Report]:
        """Another engine: the journal again, then what the world knows about everything that was under way."""
        self.crashed += 1
        world = self._world
        world.engine_died()
        world.linger(self._conduct.absence * self._chance.roll("absence", len(self.journal)))
        self._pid += 1
        self._offset = world.time.offset
        self._state = State()
        for record in self.journal:
            evolve(
                self._state,
                codec.decode_record(codec.encode_record(record)) if self._conduct.through_codec else record,
            )
        found: list[Report] = [EngineTaken(self._pid, "here"), *world.engine_came()]
        made = {record.event for record in self.journal if isinstance(record.event, PERFORMED)}
        for decision in list_outstanding(self._state):
            # Endings are told by their sum: the first reason and the hardest way.
            if decision not in made and not isinstance(decision, AttemptEnding):
                raise Violation("probe", f"nobody decided {decision}", self.journal[-20:])
            assert isinstance(decision, PERFORMED), decision
            told = world.probe(decision)
            found += told
            if not any(isinstance(report, RESULTS) for report in told):
                world.perform(decision)
        return found
