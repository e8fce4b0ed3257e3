"""Watching: what an attempt says becomes reports, each once, and nothing that is over becomes one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

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
from plait.engine.reactor import SelectReactor
from plait.runtime.executor import AttemptLimits, RunningProcess
from plait.runtime.transcript import FileTranscript
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
    def create_parser(self, order: AttemptStarted) -> Listener:  # noqa: ARG002 - the builder's
        return Listener()

    def build_limits(self, order: AttemptStarted) -> AttemptLimits:  # noqa: ARG002 - the builder's
        return AttemptLimits()


class FakeExecutor:
    def __init__(self, path: Path) -> None:
        self.path = path

    def open_transcript(self, attempt: Attempt) -> FileTranscript:  # noqa: ARG002 - the protocol's
        return FileTranscript(self.path)

    def adopt(self, attempt: Attempt, limits: AttemptLimits) -> RunningProcess:  # noqa: ARG002 - the protocol's
        return RunningProcess(7)


class Scene:
    def __init__(self, root: Path) -> None:
        self.folder = StateFolder(root)
        self.path = self.folder.attempt(NAME).transcript
        self.path.parent.mkdir(parents=True)
        self.news: list[Report] = []

    def prints(self, *lines: str) -> None:
        with self.path.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def watch(self) -> Attempts:
        """An engine that finds the attempt running."""
        context = EngineContext(
            State(), self.news.append, WorkerPool(SelectReactor()), BatchInputsCache(self.folder), self.folder
        )
        parts = (FakeJobs(), None, lambda _: FakeExecutor(self.path))
        attempts = Attempts(context, *parts)  # type: ignore[arg-type]  # what is used of them
        assert attempts.adopt(ORDER)
        assert self.told() == [AttemptLaunched(NAME, 7)]
        return attempts

    def told(self) -> list[Report]:
        news = list(self.news)
        self.news.clear()
        return news


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_what_is_said_is_reported_and_what_was_told_is_not_told_again(scene: Scene) -> None:
    watch = scene.watch()
    scene.prints("session", "first", "spent", "spent", "works", "session")
    watch.poll_transcripts(time.monotonic())
    assert scene.news == [
        AttemptSession(NAME, "s1"),
        AttemptPhase(NAME, "first"),
        AttemptUsed(NAME, Spend(5)),
    ]


def test_a_refusal_holds_from_now_on(scene: Scene) -> None:
    watch, began = scene.watch(), time.time()
    scene.prints("refused", "later")
    watch.poll_transcripts(time.monotonic())
    first, second = scene.news
    assert isinstance(first, RateLimited)
    assert began + DEFAULT_WAIT_SECONDS <= first.until <= time.time() + DEFAULT_WAIT_SECONDS
    assert second == RateLimited("anthropic", 5_000_000_000.0)


def test_a_wait_that_is_said_again_later_counts_from_then_and_a_burst_is_one(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, now = scene.watch(), [1_800_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    scene.prints("refused", "refused", "refused")
    watch.poll_transcripts(0.0)
    now[0] += 40
    scene.prints("refused")
    watch.poll_transcripts(1.0)
    first, second = [report.until for report in scene.news if isinstance(report, RateLimited)]
    assert (first, second - first) == (1_800_000_000.0 + DEFAULT_WAIT_SECONDS, 40.0)


def test_a_question_after_a_long_silence_stays_open(scene: Scene) -> None:
    """A sign of life means that no question is open: it must not come after the question it is the sign of."""
    watch = scene.watch()
    scene.prints("asks")
    watch.poll_transcripts(time.monotonic() + ACTIVITY_REPORT_SECONDS)
    assert scene.news == [AttemptActive(NAME), AttemptAsked(NAME, "Which?")]


def test_who_takes_over_hears_how_things_stand_and_not_what_is_over(scene: Scene) -> None:
    scene.prints("session", "first", "refused", "asks", "spent", "second", "more", "later", "works")
    watch = scene.watch()
    watch.poll_transcripts(time.monotonic())
    assert scene.told() == [
        AttemptSession(NAME, "s1"),
        AttemptPhase(NAME, "second"),
        AttemptUsed(NAME, Spend(7)),
    ]
    scene.prints("asks", "later")
    watch.poll_transcripts(time.monotonic())
    assert scene.told() == [AttemptAsked(NAME, "Which?"), RateLimited("anthropic", 5_000_000_000.0)]


def test_who_takes_over_hears_the_question_that_is_open(scene: Scene) -> None:
    scene.prints("works", "asks")
    scene.watch().poll_transcripts(time.monotonic())
    assert scene.news == [AttemptAsked(NAME, "Which?")]


def test_what_ended_while_nobody_watched_opens_no_breaker(scene: Scene) -> None:
    scene.prints("session", "refused", "spent", "works")
    scene.watch().on_exited(NAME, 0)
    assert scene.news == [
        AttemptSession(NAME, "s1"),
        AttemptUsed(NAME, Spend(5)),
        AttemptExited(NAME, Outcome(Category.OK, 0)),
    ]
