"""Watching: what an attempt says becomes reports, each once, and nothing that is over becomes one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plait.agents.interface import (
    Activity,
    AgentEvent,
    PhaseStarted,
    ProviderRefused,
    QuestionAsked,
    SessionStarted,
    SpendUpdated,
)
from plait.agents.retry_after import RetryAfter
from plait.core.decisions import AttemptStarted
from plait.core.reports import (
    AttemptActive,
    AttemptAsked,
    AttemptExited,
    AttemptLaunched,
    AttemptPhase,
    AttemptSession,
    AttemptUsed,
    Outcome,
    RateLimited,
    Report,
)
from plait.core.settings import Spend
from plait.core.state import State
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.engine.attempts import ACTIVITY_REPORT_SECONDS, DEFAULT_WAIT_SECONDS, Attempts
from plait.engine.context import BatchInputsCache, EngineContext
from plait.engine.executors import BatchExecutors
from plait.runtime.attempt_files import FileTranscript
from plait.runtime.executor import AttemptLimits, RunningProcess
from plait.runtime.reactor import SelectReactor
from plait.runtime.worker_pool import WorkerPool
from plait.system.state_paths import StateFolder

NAME = Attempt("b", "one", Step.WRITE, 1)
ORDER = AttemptStarted(NAME, "claude", "anthropic", timeout=3600.0, idle_timeout=600.0)
SAID: dict[str, Sequence[AgentEvent]] = {
    "session": [SessionStarted("s1")],
    "first": [PhaseStarted("first"), Activity("first")],
    "second": [PhaseStarted("second")],
    "refused": [ProviderRefused(RetryAfter())],
    "later": [ProviderRefused(RetryAfter(at=5_000_000_000.0))],
    "asks": [QuestionAsked("Which?"), Activity("using ask")],
    "spent": [SpendUpdated(Spend(5))],
    "more": [SpendUpdated(Spend(7))],
    "works": [Activity("works")],
}


class Listener:
    def feed(self, line: str) -> Sequence[AgentEvent]:
        return SAID[line]

    def mark_gap(self) -> None:
        pass

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:  # noqa: ARG002 - the protocol's
        return Outcome(Category.OK, code)


class FakeJobs:
    def create_parser(self, decision: AttemptStarted) -> Listener:  # noqa: ARG002 - the builder's
        return Listener()

    def build_limits(self, decision: AttemptStarted) -> AttemptLimits:  # noqa: ARG002 - the builder's
        return AttemptLimits()


class FakeExecutor:
    workspaces = None  # its attempts work in place

    def __init__(self, path: Path) -> None:
        self.path = path

    def open_transcript(self, attempt: Attempt) -> FileTranscript:  # noqa: ARG002 - the protocol's
        return FileTranscript(self.path)

    def adopt(self, attempt: Attempt, limits: AttemptLimits) -> RunningProcess:  # noqa: ARG002 - the protocol's
        return RunningProcess(7)


class ReportHarness:
    def __init__(self, root: Path) -> None:
        self.folder = StateFolder(root)
        self.path = self.folder.attempt(NAME).transcript
        self.path.parent.mkdir(parents=True)
        self.reports: list[Report] = []

    def prints(self, *lines: str) -> None:
        with self.path.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def watch(self, order: AttemptStarted = ORDER) -> Attempts:
        """An engine that finds the attempt running."""
        context = EngineContext(
            State(), self.reports.append, WorkerPool(SelectReactor()), BatchInputsCache(self.folder), self.folder
        )
        executor: Any = FakeExecutor(self.path)
        parts = (FakeJobs(), None, lambda _: BatchExecutors(State(), executor, lambda: executor))
        attempts = Attempts(context, *parts)  # type: ignore[arg-type]  # what is used of them
        assert attempts.adopt(order)
        assert self.take_reports() == [AttemptLaunched(NAME, 7)]
        return attempts

    def take_reports(self) -> list[Report]:
        reports = list(self.reports)
        self.reports.clear()
        return reports


@pytest.fixture
def harness(tmp_path: Path) -> ReportHarness:
    return ReportHarness(tmp_path)


def test_each_signal_is_reported_once(harness: ReportHarness) -> None:
    watch = harness.watch()
    harness.prints("session", "first", "spent", "spent", "works", "session")
    watch.poll_transcripts(time.monotonic())
    assert harness.reports == [
        AttemptSession(NAME, "s1"),
        AttemptPhase(NAME, "first"),
        AttemptUsed(NAME, Spend(5)),
    ]


def test_a_rate_limit_counts_from_now(harness: ReportHarness) -> None:
    watch, began = harness.watch(), time.time()
    harness.prints("refused", "later")
    watch.poll_transcripts(time.monotonic())
    first, second = harness.reports
    assert isinstance(first, RateLimited)
    assert began + DEFAULT_WAIT_SECONDS <= first.until <= time.time() + DEFAULT_WAIT_SECONDS
    assert second == RateLimited("anthropic", 5_000_000_000.0)


def test_a_rate_limit_that_is_repeated_later_is_extended_and_a_burst_is_one(
    harness: ReportHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, now = harness.watch(), [1_800_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    harness.prints("refused", "refused", "refused")
    watch.poll_transcripts(0.0)
    now[0] += 40
    harness.prints("refused")
    watch.poll_transcripts(1.0)
    first, second = [report.until for report in harness.reports if isinstance(report, RateLimited)]
    assert (first, second - first) == (1_800_000_000.0 + DEFAULT_WAIT_SECONDS, 40.0)


@pytest.mark.parametrize(("idle_timeout", "interval"), [(600.0, ACTIVITY_REPORT_SECONDS), (8.0, 2.0)])
def test_an_attempt_that_prints_is_reported_well_before_it_would_count_as_silent(
    harness: ReportHarness, idle_timeout: float, interval: float
) -> None:
    watch, reported = harness.watch(replace(ORDER, idle_timeout=idle_timeout)), []
    began = time.monotonic()
    for quarters in range(1, 13):
        harness.prints("works")
        watch.poll_transcripts(began + quarters * interval / 4)
        reported += [quarters for _ in harness.take_reports()]
    assert reported == [4, 8, 12]


def test_a_question_after_a_long_silence_stays_open(harness: ReportHarness) -> None:
    """A sign of life means that no question is open: it must not come after the question it is the sign of."""
    watch = harness.watch()
    harness.prints("asks")
    watch.poll_transcripts(time.monotonic() + ACTIVITY_REPORT_SECONDS)
    assert harness.reports == [AttemptActive(NAME), AttemptAsked(NAME, "Which?")]


def test_the_next_engine_reports_the_current_signals_only(harness: ReportHarness) -> None:
    harness.prints("session", "first", "refused", "asks", "spent", "second", "more", "later", "works")
    watch = harness.watch()
    watch.poll_transcripts(time.monotonic())
    assert harness.take_reports() == [
        AttemptSession(NAME, "s1"),
        AttemptPhase(NAME, "second"),
        AttemptUsed(NAME, Spend(7)),
    ]
    harness.prints("asks", "later")
    watch.poll_transcripts(time.monotonic())
    assert harness.take_reports() == [AttemptAsked(NAME, "Which?"), RateLimited("anthropic", 5_000_000_000.0)]


def test_the_next_engine_reports_an_open_question(harness: ReportHarness) -> None:
    harness.prints("works", "asks")
    harness.watch().poll_transcripts(time.monotonic())
    assert harness.reports == [AttemptAsked(NAME, "Which?")]


def test_a_rate_limit_of_an_attempt_that_ended_without_an_engine_opens_no_breaker(harness: ReportHarness) -> None:
    harness.prints("session", "refused", "spent", "works")
    harness.watch().on_exited(NAME, 0)
    assert harness.reports == [
        AttemptSession(NAME, "s1"),
        AttemptUsed(NAME, Spend(5)),
        AttemptExited(NAME, Outcome(Category.OK, 0)),
    ]
