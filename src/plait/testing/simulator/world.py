"""The simulated world around the engine, driven by a seed: inbox, reports, executor, branches, publisher, machine, users."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import assert_never, get_args

from plait.core.decisions import (
    AttemptEnding,
    AttemptStarted,
    CommitStarted,
    Decision,
    GateEnding,
    GateStarted,
    MergeStarted,
    PublishStarted,
    RebuildStarted,
)
from plait.core.events import Record
from plait.core.reports import (
    AttemptActive,
    AttemptEnd,
    AttemptExited,
    AttemptLost,
    AttemptUsed,
    BranchEnd,
    CommitDone,
    CommitFailed,
    ConflictCleared,
    ConflictPredicted,
    GateDone,
    MergeDone,
    MergedTask,
    Outcome,
    PublishDone,
    PublishFailed,
    RebuildDone,
    Report,
    SourcesUnwritten,
    SourcesWritten,
)
from plait.core.requests import Request, Resolve
from plait.core.settings import Spend
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.testing.simulator.attempts import NODE_TIMEOUT_SECONDS, SimExecutor, SimProviders
from plait.testing.simulator.branches import SimBranches, SimPublisher
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.fault_rates import FaultRates, SimContext
from plait.testing.simulator.journal_view import JournalView
from plait.testing.simulator.machine import SimMachine
from plait.testing.simulator.scenario import Scenario
from plait.testing.simulator.seeded_random import SeededRandom
from plait.testing.simulator.users import FinalUser, RandomUsers

PerformedDecision = (
    AttemptStarted
    | AttemptEnding
    | CommitStarted
    | MergeStarted
    | RebuildStarted
    | GateStarted
    | GateEnding
    | PublishStarted
)
PERFORMED_DECISIONS = get_args(PerformedDecision)
MAX_SECONDS = 40 * 86_400.0
RESULT_REPORTS = (*get_args(AttemptEnd), CommitDone, CommitFailed, *get_args(BranchEnd))


class World:
    """The simulated world. Reports go to the engine that listens; without one they are lost, and `probe` finds their
    facts again.

    `inbox` keeps requests until the engine removes them; `reports` are lost with the engine that got them.
    """

    def __init__(self, scenario: Scenario) -> None:
        weather = scenario.rates
        chance = SeededRandom(scenario.seed, "world")
        self.time = EventQueue()
        self.inbox: list[Request] = []
        self.reports: list[Report] = []
        self.needs_engine = False  # something wants the engine's attention
        self.is_machine_dying = False  # the machine is going down, and the engine with it
        self._chance = chance
        self._weather = weather
        self._listening = True
        self._sent = 0
        self.journal_view = JournalView()
        names = {submit.settings.provider(a) for submit in scenario.submits for a in submit.settings.agents}
        providers = SimProviders(tuple(sorted(names | {"north", "south"})), chance, weather, self.time)
        sim = SimContext(self.time, chance, weather, self.send)
        self.branches = SimBranches(sim)
        self.publisher = SimPublisher(sim)
        self.executor = SimExecutor(sim, providers, self.branches.commit)
        self.machine = SimMachine(self.time, chance, weather, self, self.executor.nodes)
        self._schedule_arrivals(scenario)
        providers.schedule_reports(self.send)
        StaleReports(self.time, chance, weather, self.journal_view).schedule(self.send)
        RandomUsers(self.time, chance, weather, self.journal_view, self.add_request)
        self._expected = len(scenario.submits)
        FinalUser(self.time, weather.horizon + 1, self.journal_view, self.add_request, self._has_pending)

    def _has_pending(self) -> bool:
        """Whether batches are still to come, or requests are unanswered."""
        fewer = len(self.journal_view.batches) < self._expected
        return fewer or bool(self.inbox) or self.journal_view.has_unanswered

    def _schedule_arrivals(self, scenario: Scenario) -> None:
        for when, request in scenario.arrivals:
            self.time.schedule_at(when, lambda asked=request: self.add_request(asked))  # type: ignore[misc]
        for submit in scenario.submits:
            self.branches.create_branch(submit.batch, submit.base)

    def advance(self, until: float | None) -> bool:
        """Advance until the engine has something to do or that time comes; False if neither will, or not for ages."""
        while not self.needs_engine and not self.is_machine_dying:
            upcoming = self.time.next_time()
            if self.time.now > MAX_SECONDS:
                return False
            if upcoming is None or (until is not None and until < upcoming):
                if until is None:
                    return False
                self.time.skip_to(until)
                return True
            self.time.step()
        return True

    def advance_busy(self, delay: float) -> None:
        """Advance while the engine is busy: whatever happens meanwhile waits for it."""
        until = self.time.now + delay
        while (upcoming := self.time.next_time()) is not None and upcoming <= until and not self.is_machine_dying:
            self.time.step()
        self.time.skip_to(until)

    def collect(self) -> tuple[list[Request], list[Report]]:
        mail, self.reports, self.needs_engine = self.reports, [], False
        return list(self.inbox), mail

    def remove_requests(self, requests: list[Request]) -> None:
        """Remove these requests from the inbox, because they are durable (a copy that came meanwhile stays)."""
        for request in requests:
            self.inbox.remove(request)

    def send(self, report: Report) -> None:
        self._sent += 1
        late = self._weather.late_report
        if late > 0 and self._chance.happens(late, "late", self._sent):
            self.time.schedule_in(60 * self._chance.roll("by", self._sent) ** 2, lambda: self._deliver(report))
        else:
            self._deliver(report)
        if self._chance.happens(self._weather.duplicate_report, "twice", self._sent):
            self.time.schedule_in(90 * self._chance.roll("again", self._sent) ** 2, lambda: self._deliver(report))

    def deliver_sensor_report(self, report: Report) -> None:
        """Deliver a report of the machine's own sensors, which is neither delayed nor reordered."""
        self._deliver(report)

    def _deliver(self, report: Report) -> None:
        if self._listening:
            self.reports.append(report)
            self.needs_engine = True

    def add_request(self, request: Request) -> None:
        if isinstance(request, Resolve):
            self.branches.add_resolution(request)
        self.inbox.append(request)
        self.needs_engine = True

    def observe(self, record: Record) -> None:
        self.journal_view.observe(record)

    def perform(self, decision: Decision) -> None:
        match decision:
            case AttemptStarted():
                self.executor.start(decision)
            case AttemptEnding():
                self.executor.end(decision)
            case CommitStarted():
                self.executor.commit(decision)
            case MergeStarted() | RebuildStarted() | GateStarted():
                self.branches.perform(decision)
            case GateEnding():
                self.branches.end_gate(decision)
            case PublishStarted():
                self.publisher.perform(decision)
            case _:
                pass

    def probe(self, decision: PerformedDecision) -> list[Report]:
        """Return what can be found out about a decision, perhaps of an engine that is dead."""
        match decision:
            case AttemptStarted(attempt) | AttemptEnding(attempt):
                return self.executor.probe(attempt)
            case CommitStarted():
                return self.executor.probe_commit(decision)
            case MergeStarted() | RebuildStarted() | GateStarted() | GateEnding():
                result = self.branches.probe(decision)
                return [] if result is None else [result]
            case PublishStarted():
                found = self.publisher.probe(decision)
                return [] if found is None else [found]
            case _:
                assert_never(decision)

    def stop_engine(self) -> None:
        self.reports.clear()
        self._listening = self.needs_engine = False
        if self.is_machine_dying:
            self.lose_machine()
        else:
            self.executor.interrupt_commits()
            self.branches.interrupt(gates=False)
            self.publisher.interrupt()

    def start_engine(self) -> list[Report]:
        """Start an engine; return what the sensors report to it at once."""
        self._listening = True
        self.needs_engine = bool(self.inbox)
        return self.machine.current_reports()

    def lose_node(self, node: int) -> None:
        self.executor.lose_attempts("its node died", NODE_TIMEOUT_SECONDS, node)

    def lose_machine(self) -> None:
        """Lose the machine: first the engine dies, then everything else that ran there is found dead."""
        self.is_machine_dying = self._listening
        if not self.is_machine_dying:
            self.executor.interrupt_commits()
            self.branches.interrupt(gates=True)
            self.publisher.interrupt()
            self.executor.lose_attempts("the machine died", None)

    def wake_engine(self) -> None:
        self.needs_engine = True

    @property
    def is_settled(self) -> bool:
        """Whether nothing more will happen by itself, and no request waits for an answer."""
        return self.time.next_time() is None and not self.inbox and not self.reports


UNUSED_NUMBER = 999  # a number that no attempt, merge or gate ever reaches


class StaleReports:
    """Stale reports, only about attempts whose end is in the journal: of others they would be facts."""

    def __init__(self, time: EventQueue, chance: SeededRandom, weather: FaultRates, seen: JournalView) -> None:
        self._rng = chance.stream("noise")
        self._seen = seen
        self._time = time
        self._weather = weather

    def schedule(self, send: Callable[[Report], None]) -> None:
        when = 0.0
        rate = self._weather.invalid_request * 200 / 3600
        while rate > 0 and (when := when + self._rng.expovariate(rate)) < self._weather.horizon:
            self._time.schedule_at(when, lambda: send(self._report()))

    def _report(self) -> Report:
        rng = self._rng
        batch = rng.choice(("b1", "b2", "nowhere"))
        over = self._seen.ended_attempts
        attempt = rng.choice(over) if over else Attempt(batch, "t01", Step.WRITE, UNUSED_NUMBER)
        if rng.random() < 0.4:
            attempt = Attempt(batch, rng.choice(("t01", "nobody")), rng.choice(tuple(Step)), UNUSED_NUMBER)
        return rng.choice(_make_attempt_reports(attempt) + _make_batch_reports(rng, batch))


def _make_attempt_reports(attempt: Attempt) -> list[Report]:
    return [
        AttemptActive(attempt),
        AttemptUsed(attempt, Spend(9_000_000, 90_000)),
        AttemptExited(attempt, Outcome(Category.OK, 0, tip="nothing")),
        AttemptExited(attempt, Outcome(Category.RATE_LIMIT, 1, retry_after=9_000.0)),
        AttemptLost(attempt, "nobody knows where it went"),
        CommitDone(attempt, UNUSED_NUMBER, Outcome(Category.OK, 0, tip="nothing")),
        CommitFailed(attempt, UNUSED_NUMBER, "nobody asked", gone=True),
    ]


def _make_batch_reports(rng: Random, batch: str) -> list[Report]:
    return [
        MergeDone(batch, "t01", UNUSED_NUMBER, "nothing"),
        RebuildDone(batch, UNUSED_NUMBER, (MergedTask("t01", "nothing"),)),
        GateDone(batch, UNUSED_NUMBER, passed=rng.random() < 0.5),
        PublishDone(batch, UNUSED_NUMBER, "https://forge.example/nothing", "nothing"),
        PublishFailed(batch, UNUSED_NUMBER, "nobody asked", commit="nothing"),
        ConflictPredicted(batch, rng.choice(("t01", "nobody")), rng.choice(("", "t02", "nobody")), ("a.py",)),
        ConflictCleared(batch, rng.choice(("t01", "nobody")), rng.choice(("", "t02", "nobody"))),
        SourcesWritten(batch, ("t01", "nobody"), UNUSED_NUMBER),
        SourcesUnwritten(batch, "TODO.md", ("t01", "nobody"), UNUSED_NUMBER, "it is a folder"),
    ]
