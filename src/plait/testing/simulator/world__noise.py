"""Reports about what never was or is long over, as a confused watcher sends them. None of them may change anything."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from plait.core.reports import (
    AttemptActive,
    AttemptExited,
    AttemptLost,
    AttemptUsed,
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
    SourcesWritten,
)
from plait.core.settings import Spend
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.fault_rates import FaultRates
from plait.testing.simulator.journal_view import JournalView
from plait.testing.simulator.seeded_random import SeededRandom

UNUSED_NUMBER = 999  # a number that no attempt, merge or gate ever reaches


class StaleReports:
    """It lies only about attempts whose end is in the journal: of others it would be a fact."""

    def __init__(
        self, time: EventQueue, chance: SeededRandom, weather: FaultRates, seen: JournalView
    ) -> None:
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
    ]
