"""The World: a seeded simulation of everything around the engine, one happening after another."""

from __future__ import annotations

from typing import assert_never, get_args

from plait.core.decisions import (
    AttemptEnding,
    AttemptStarted,
    Decision,
    GateEnding,
    GateStarted,
    MergeStarted,
    PublishStarted,
    RebuildStarted,
)
from plait.core.events import Record
from plait.core.reports import AttemptEnd, BranchReport, Report
from plait.core.requests import Request
from plait.testing.simulator.attempts import Site
from plait.testing.simulator.attempts__providers import Providers
from plait.testing.simulator.branches import Integrator
from plait.testing.simulator.branches__publisher import Publisher
from plait.testing.simulator.event_queue import Timeline
from plait.testing.simulator.journal_view import Onlooker
from plait.testing.simulator.machine import Machine
from plait.testing.simulator.scenario import Scenario
from plait.testing.simulator.seeded_random import Chance
from plait.testing.simulator.users__janitor import Janitor
from plait.testing.simulator.users__people import People
from plait.testing.simulator.world__noise import Noise

Performed = (
    AttemptStarted | AttemptEnding | MergeStarted | RebuildStarted | GateStarted | GateEnding | PublishStarted
)
PERFORMED = get_args(Performed)
AGES = 40 * 86_400.0
RESULTS = (*get_args(AttemptEnd), *get_args(BranchReport))


class World:
    """Reports go to the engine that listens; without one they are lost, and `probe` finds their facts again.

    `inbox` keeps requests until the engine strikes them out; `mail` is gone with the engine that got it.
    """

    def __init__(self, scenario: Scenario) -> None:
        weather = scenario.weather
        chance = Chance(scenario.seed, "world")
        self.time = Timeline()
        self.inbox: list[Request] = []
        self.mail: list[Report] = []
        self.awake = False  # something wants the engine's attention
        self.doomed = False  # the machine is going down, and the engine with it
        self._chance = chance
        self._weather = weather
        self._listening = True
        self._sent = 0
        self.onlooker = Onlooker()
        names = {submit.settings.provider(a) for submit in scenario.submits for a in submit.settings.agents}
        providers = Providers(tuple(sorted(names | {"north", "south"})), chance, weather, self.time)
        self.integrator = Integrator(self.time, chance, weather, self.send)
        self.publisher = Publisher(self.time, chance, weather, self.send)
        self.site = Site(self.time, providers, chance, weather, self.send, self.integrator.commit)
        self.machine = Machine(self.time, chance, weather, self)
        self._arrive(scenario)
        providers.announce(self.send)
        Noise(self.time, chance, weather, self.onlooker).begin(self.send)
        People(self.time, chance, weather, self.onlooker, self.ask)
        self._expected = len(scenario.submits)
        Janitor(self.time, weather.horizon + 1, self.onlooker, self.ask, self._pending)

    def _pending(self) -> bool:
        """Batches that are to come, or requests that nobody has answered."""
        fewer = len(self.onlooker.batches) < self._expected
        return fewer or bool(self.inbox) or self.onlooker.unanswered

    def _arrive(self, scenario: Scenario) -> None:
        for when, request in scenario.arrivals:
            self.time.at(when, lambda asked=request: self.ask(asked))  # type: ignore[misc]
        for submit in scenario.submits:
            self.integrator.found(submit.batch, submit.base)

    def advance(self, until: float | None) -> bool:
        """Let things happen until one concerns the engine or that time comes; False: none will, or not in ages."""
        while not self.awake and not self.doomed:
            upcoming = self.time.next()
            if self.time.now > AGES:
                return False
            if upcoming is None or (until is not None and until < upcoming):
                if until is None:
                    return False
                self.time.skip_to(until)
                return True
            self.time.step()
        return True

    def linger(self, delay: float) -> None:
        """The engine is busy: whatever happens meanwhile waits for it."""
        until = self.time.now + delay
        while (upcoming := self.time.next()) is not None and upcoming <= until and not self.doomed:
            self.time.step()
        self.time.skip_to(until)

    def collect(self) -> tuple[list[Request], list[Report]]:
        mail, self.mail, self.awake = self.mail, [], False
        return list(self.inbox), mail

    def strike_out(self, requests: list[Request]) -> None:
        """These are durable: the inbox forgets them (a copy that came meanwhile stays)."""
        for request in requests:
            self.inbox.remove(request)

    def send(self, report: Report) -> None:
        self._sent += 1
        late = self._weather.late
        if late > 0 and self._chance.happens(late, "late", self._sent):
            self.time.after(60 * self._chance.roll("by", self._sent) ** 2, lambda: self._deliver(report))
        else:
            self._deliver(report)
        if self._chance.happens(self._weather.twice, "twice", self._sent):
            self.time.after(90 * self._chance.roll("again", self._sent) ** 2, lambda: self._deliver(report))

    def sense(self, report: Report) -> None:
        """The machine's own sensors are neither late nor mistaken about the order."""
        self._deliver(report)

    def _deliver(self, report: Report) -> None:
        if self._listening:
            self.mail.append(report)
            self.awake = True

    def ask(self, request: Request) -> None:
        self.inbox.append(request)
        self.awake = True

    def see(self, record: Record) -> None:
        self.onlooker.see(record)

    def perform(self, decision: Decision) -> None:
        match decision:
            case AttemptStarted():
                self.site.start(decision)
            case AttemptEnding():
                self.site.end(decision)
            case MergeStarted() | RebuildStarted() | GateStarted():
                self.integrator.perform(decision)
            case GateEnding():
                self.integrator.end_gate(decision)
            case PublishStarted():
                self.publisher.perform(decision)
            case _:
                pass

    def probe(self, decision: Performed) -> list[Report]:
        """What can be found out about something that was decided, perhaps by an engine that is dead."""
        match decision:
            case AttemptStarted(attempt) | AttemptEnding(attempt):
                return self.site.probe(attempt)
            case MergeStarted() | RebuildStarted() | GateStarted() | GateEnding():
                result = self.integrator.probe(decision)
                return [] if result is None else [result]
            case PublishStarted():
                found = self.publisher.probe(decision)
                return [] if found is None else [found]
            case _:
                assert_never(decision)

    def engine_died(self) -> None:
        self.mail.clear()
        self._listening = self.awake = False
        if self.doomed:
            self.lose_machine()
        else:
            self.integrator.interrupt(gates=False)
            self.publisher.interrupt()

    def engine_came(self) -> list[Report]:
        """What its sensors tell a new engine at once."""
        self._listening = True
        self.awake = bool(self.inbox)
        return self.machine.seen()

    def lose_node(self) -> None:
        self.site.lose_all("its node died", 20.0)

    def lose_machine(self) -> None:
        """First the engine dies, then everything else that ran there is found dead."""
        self.doomed = self._listening
        if not self.doomed:
            self.integrator.interrupt(gates=True)
            self.publisher.interrupt()
            self.site.lose_all("the machine died", None)

    def wake_engine(self) -> None:
        self.awake = True

    @property
    def settled(self) -> bool:
        """Nothing more will happen by itself, and nobody waits for an answer."""
        return self.time.next() is None and not self.inbox and not self.mail
