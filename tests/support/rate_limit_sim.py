"""Simulates many tasks against a provider with a rate limit.

Only the core and the provider take part: time is simulated, an attempt is one request, and merges always succeed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plait.core.decisions import AttemptStarted, Decision, MergeStarted
from plait.core.events import Record
from plait.core.graph import build_checked_plan
from plait.core.reports import AttemptExited, AttemptUsed, MergeDone, Outcome, Report
from plait.core.requests import ChangeEngineSettings, Request, Submit, Unpause
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.settings import EngineSettings, Settings, Spend
from plait.core.state import State
from plait.core.status import Category
from plait.core.task import Step, Task
from plait.testing.simulator.event_queue import EventQueue

BATCH = "night"
REFUSAL_SECONDS = 2.0  # duration of a refused attempt
FIRST_USAGE_SECONDS = 20.0  # until a tool reports its first tokens


@dataclass(frozen=True, slots=True)
class RateLimit:
    """The terms of the provider. If not `starts_at_first_request`, windows follow each other without gaps."""

    requests: int = 20
    window: float = 5 * 3600.0
    tells_reset: bool = True
    starts_at_first_request: bool = True


@dataclass(slots=True)
class LimitedProvider:
    terms: RateLimit
    opened: float = float("-inf")
    served: int = 0
    refused: int = 0

    def ask(self, now: float) -> float | None:
        """None if the request is served, else the time when the next window opens."""
        if now >= self.opened + self.terms.window:
            passed = (now - self.opened) // self.terms.window if self.opened > float("-inf") else 0
            aligned = self.opened + passed * self.terms.window
            self.opened = now if self.terms.starts_at_first_request or self.opened == float("-inf") else aligned
            self.served = 0
        if self.served < self.terms.requests:
            self.served += 1
            return None
        self.refused += 1
        return self.opened + self.terms.window


@dataclass(slots=True)
class RateLimitRun:
    """`task_seconds` is the duration of an attempt; `reports_usage`: tools report tokens while they run."""

    tasks: int
    parallel: int
    task_seconds: float
    terms: RateLimit
    reports_usage: bool = True
    time: EventQueue = field(default_factory=EventQueue)
    state: State = field(default_factory=State)
    records: list[Record] = field(default_factory=list)
    turns: int = 0
    resumed: int = 0  # how often a person was asked, and resumed the batch

    def run(self) -> LimitedProvider:
        """Run until the batch has ended."""
        provider, mail = LimitedProvider(self.terms), [*self._initial_requests()]
        while True:
            wake = self._tick(provider, mail)
            if self.state.batches[BATCH].ended is not None:
                return provider
            if self.state.batches[BATCH].paused is not None:
                self.resumed += 1
                mail.append(Unpause(f"resume-{self.resumed}", BATCH))
                continue
            alarm = None if wake is None else wake - self.time.offset
            upcoming = self.time.next_time()
            if upcoming is None and alarm is None:
                raise AssertionError("nothing more happens, and the batch has not ended")
            if upcoming is None or (alarm is not None and alarm < upcoming):
                self.time.skip_to(alarm or 0.0)
            else:
                self.time.step()

    def _initial_requests(self) -> list[Request | Report]:
        plan = build_checked_plan([Task(f"t{n:03}") for n in range(self.tasks)]).plan
        assert plan is not None
        settings = Settings(
            agents=("claude",),
            providers=(("claude", "anthropic"),),
            max_parallel=self.parallel,
            timeout=86_400.0,
            idle_timeout=86_400.0,
            retries=0,
        )
        limit = ChangeEngineSettings("limits", EngineSettings(parallel_limit=0), ("parallel_limit",))
        return [limit, Submit("submit", BATCH, plan, settings, base="base", branch="plait/night")]

    def _tick(self, provider: LimitedProvider, mail: list[Request | Report]) -> float | None:
        self.turns += 1
        self.records += fold_incoming(self.state, mail, self.time.wall)
        mail.clear()
        decided, wake = decide_due(self.state, self.time.wall)
        self.records += decided
        for record in decided:
            self._perform(record.event, provider, mail)  # type: ignore[arg-type]  # decide makes decisions
        return wake

    def _perform(self, decision: Decision, provider: LimitedProvider, mail: list[Request | Report]) -> None:
        match decision:
            case AttemptStarted() if decision.attempt.step is Step.WRITE:
                self._work(decision, provider, mail)
            case MergeStarted():
                commit = f"{decision.onto}+"
                self._schedule_report(0.5, mail, MergeDone(BATCH, decision.task, decision.n, commit))
            case _:
                pass

    def _work(self, order: AttemptStarted, provider: LimitedProvider, mail: list[Request | Report]) -> None:
        until = provider.ask(self.time.now)
        if until is not None:
            said = until + self.time.offset if self.terms.tells_reset else None
            self._schedule_report(
                REFUSAL_SECONDS,
                mail,
                AttemptExited(order.attempt, Outcome(Category.RATE_LIMIT, 1, "429", retry_at=said)),
            )
            return
        if self.reports_usage:
            self._schedule_report(FIRST_USAGE_SECONDS, mail, AttemptUsed(order.attempt, Spend(1000, 100)))
        done = Outcome(Category.OK, 0, spend=Spend(5000, 500), tip=f"tip-{order.attempt.task}")
        self._schedule_report(self.task_seconds, mail, AttemptExited(order.attempt, done))

    def _schedule_report(self, delay: float, mail: list[Request | Report], report: Report) -> None:
        self.time.schedule_in(delay, lambda: mail.append(report))
