"""One simulated run: the engine's loop on simulated time, with crashes and recovery, every record seen by an observer."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from plait.core.decisions import AttemptEnding
from plait.core.events import Record
from plait.core.reducers import evolve
from plait.core.reports import ClockJumped, EngineReleased, EngineTaken, Report
from plait.core.requests import Request
from plait.core.scheduler.rules import decide_due, fold_incoming, list_outstanding
from plait.core.state import State
from plait.core.status import TaskStatus
from plait.store import codec
from plait.testing.simulator.observer import Observer, PlainObserver, Violation
from plait.testing.simulator.scenario import Scenario
from plait.testing.simulator.seeded_random import SeededRandom
from plait.testing.simulator.world import PERFORMED_DECISIONS, RESULT_REPORTS, World


class CrashPlan(Protocol):
    def next_crash(self, length: int) -> int | None:
        """Return the next length of the journal, from `length` on, at which the engine dies; None: never again."""

    def performed_share(self, length: int) -> float:
        """Return the share of the last group's decisions that the engine still performs, if the whole group is durable."""


class NoCrashes:
    def next_crash(self, length: int) -> int | None:  # noqa: ARG002 - the protocol's
        return None

    def performed_share(self, length: int) -> float:  # noqa: ARG002
        return 1.0


class CrashOnce:
    """Crashes once, after record `at`."""

    def __init__(self, at: int, performed: float = 0.0) -> None:
        self._at = at
        self._performed = performed

    def next_crash(self, length: int) -> int | None:
        return self._at if length <= self._at else None

    def performed_share(self, length: int) -> float:  # noqa: ARG002
        return self._performed


class RandomCrashes:
    """Crashes `rate` times per thousand records."""

    def __init__(self, chance: SeededRandom, rate: float) -> None:
        self._chance = chance
        self._rate = rate
        self._next = 0

    def next_crash(self, length: int) -> int | None:
        if self._rate <= 0:
            return None
        if self._next < length:
            gap = self._chance.stream("crash", length).expovariate(self._rate / 1000)
            self._next = length + 1 + int(gap)
        return self._next

    def performed_share(self, length: int) -> float:
        return self._chance.stream("performed", length).choice((0.0, 0.5, 1.0))


MAX_RECORDS = 60_000  # far more than any scenario needs: above it, the core decides in a loop


class _Crashed(Exception):  # noqa: N818 - nothing went wrong in the simulator
    """The engine is dead."""


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """How this engine differs from another one that decides the same."""

    latency_seconds: float = 0.05
    max_downtime_seconds: float = 20.0  # seconds until another engine takes over, at most
    through_codec: bool = False  # recover from decoded records, not from the objects that were encoded
    max_records: int = MAX_RECORDS


class SimEngine:
    """Runs a world to its end. The journal holds what is durable; a crash loses everything else but the world."""

    def __init__(
        self,
        world: World,
        observer: Observer,
        crashes: CrashPlan,
        chance: SeededRandom,
        conduct: EngineOptions | None = None,
    ) -> None:
        self.journal: list[Record] = []
        self.crash_count = 0
        self._world = world
        self._observer = observer
        self._crashes = crashes
        self._chance = chance
        self._conduct = conduct or EngineOptions()
        self._state = State()
        self._offset = world.time.offset
        self._wake: float | None = None
        self._pid = 100

    def run(self) -> list[Record]:
        """Run the world; return the whole journal, from the first engine's start to the last one's exit."""
        arriving: list[Report] = [EngineTaken(self._pid, "here")]
        while True:
            try:
                self._tick([], arriving)
                self._run_until_crash()
                self._tick([], [EngineReleased(self._pid)])
            except _Crashed:
                arriving = self._recover()
            else:
                return self.journal

    def _run_until_crash(self) -> None:
        world = self._world
        while not (world.is_settled and self._observer.is_finished):
            if not world.advance(self._wake_time()):
                if self._observer.is_finished:
                    return
                self._observer.fail_stuck(f"nothing concerns the engine any more at {world.time.now:.0f}")
            if world.is_machine_dying:
                raise _Crashed
            world.advance_busy(self._latency())
            if world.is_machine_dying:
                raise _Crashed
            requests, reports = world.collect()
            self._tick(requests, reports)
            if len(self.journal) > self._conduct.max_records:
                self._observer.fail_stuck(f"{len(self.journal)} records were not enough")

    def _wake_time(self) -> float | None:
        """Return when to wake, in monotonic time; a little late, as any real sleep."""
        return None if self._wake is None else self._wake - self._world.time.offset + 0.001

    def _latency(self) -> float:
        return self._conduct.latency_seconds * self._chance.roll("latency", len(self.journal))

    def _tick(self, requests: list[Request], reports: list[Report]) -> None:
        """Run one round of the loop; with a crash in it, what was durable before the crash stays."""
        at = self._world.time.wall
        incoming: list[Request | Report] = [*self._clock_reports(), *requests, *reports]
        group = fold_incoming(self._state, incoming, at)
        decisions, self._wake = decide_due(self._state, at)
        group += decisions
        fatal = self._append(group)
        if len(self.journal) == self._state.seq:
            self._observer.check_idle(at, self._wake, self._state)
            self._perform(decisions, share=self._crashes.performed_share(len(self.journal)) if fatal else 1.0)
        if fatal:
            raise _Crashed
        self._world.remove_requests(requests)

    def _clock_reports(self) -> list[Report]:
        by = self._world.time.offset - self._offset
        self._offset = self._world.time.offset
        return [ClockJumped(by)] if by else []

    def _append(self, group: list[Record]) -> bool:
        """Make the group durable, or as much of it as the crash allows; return whether the engine dies here."""
        length = len(self.journal)
        fatal = self._crashes.next_crash(length + 1) if group else None
        durable = group if fatal is None else group[: fatal - length]
        for record in durable:
            self.journal.append(record)
            self._observer.observe(record)
            self._world.observe(record)
        return fatal is not None and fatal <= length + len(group)

    def _perform(self, decisions: list[Record], share: float) -> None:
        owed = [record.event for record in decisions if isinstance(record.event, PERFORMED_DECISIONS)]
        for decision in owed[: round(len(owed) * share)]:
            self._world.perform(decision)

    def _recover(self) -> list[Report]:
        """Start another engine: it reads the journal again, then what the world knows about everything in progress."""
        self.crash_count += 1
        world = self._world
        world.stop_engine()
        world.advance_busy(self._conduct.max_downtime_seconds * self._chance.roll("absence", len(self.journal)))
        self._pid += 1
        self._offset = world.time.offset
        self._state = State()
        for record in self.journal:
            evolve(
                self._state,
                codec.decode_record(codec.encode_record(record)) if self._conduct.through_codec else record,
            )
        found: list[Report] = [EngineTaken(self._pid, "here"), *world.start_engine()]
        made = {record.event for record in self.journal if isinstance(record.event, PERFORMED_DECISIONS)}
        for decision in list_outstanding(self._state):
            # Several requests to end an attempt are combined: the first reason, and the hardest signal.
            if decision not in made and not isinstance(decision, AttemptEnding):
                raise Violation("probe", f"{decision} was never decided", self.journal[-20:])
            assert isinstance(decision, PERFORMED_DECISIONS), decision
            told = world.probe(decision)
            found += told
            if not any(isinstance(report, RESULT_REPORTS) for report in told):
                world.perform(decision)
        return found


MAX_RUN_SECONDS = 20.0  # of CPU time, so that a busy machine is no violation; a run takes a few at most


@contextmanager
def limit_run_time() -> Iterator[None]:
    """Raise a violation when the core never stops deciding. Only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_hang(*_: object) -> None:
        raise Violation("hang", f"the core did not come to rest within {MAX_RUN_SECONDS:.0f} seconds of CPU time")

    before = signal.signal(signal.SIGVTALRM, raise_hang)
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_RUN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """What a run left behind."""

    journal: tuple[Record, ...]
    end_statuses: Mapping[tuple[str, str], TaskStatus | None]
    kinds: Counter[str]
    crashes: int


MakeObserver = Callable[[World, Sequence[str]], Observer]


def simulate(
    scenario: Scenario, crashes: CrashPlan | None = None, make_observer: MakeObserver | None = None
) -> SimulationResult:
    """Run the scenario to its end; raise Violation when the observer finds a law broken on the way."""
    world = World(scenario)
    expected = [submit.batch for submit in scenario.submits]
    observer = make_observer(world, expected) if make_observer else PlainObserver(expected)
    chance = SeededRandom(scenario.seed, "engine")
    if crashes is None:
        crashes = RandomCrashes(chance, scenario.rates.crashes) if scenario.rates.crashes else NoCrashes()
    engine = SimEngine(world, observer, crashes, chance, EngineOptions(through_codec=scenario.seed % 4 == 0))
    try:
        with limit_run_time():
            journal = engine.run()
    except Exception as error:
        error.journal = engine.journal  # type: ignore[attr-defined]  # what led to it
        raise
    return SimulationResult(tuple(journal), observer.end_statuses(), observer.kinds, engine.crash_count)
