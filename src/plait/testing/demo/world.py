"""A pretended world: agents that take their time, merges that work, a gate that passes."""

from __future__ import annotations

import heapq
from dataclasses import replace

from plait.core.decisions import AttemptStarted, Decision, GateStarted, MergeStarted
from plait.core.reports import AttemptExited, AttemptPhase, GateDone, MergeDone, Report
from plait.core.task import Step
from plait.testing.demo.plan import GATE_MINUTES, MINUTE, part


class DemoWorld:
    """It outlives the engine, as real agents do: what it was asked to do once, it does once."""

    def __init__(self) -> None:
        self._coming: list[tuple[float, int, Report]] = []
        self._asked: set[object] = set()

    def perform(self, decision: Decision, now: float) -> None:
        match decision:
            case AttemptStarted(attempt=attempt) if self._is_new(attempt):
                self._work(decision, now)
            case MergeStarted() if self._is_new((decision.task, decision.n)):
                commit = f"{decision.onto}+{decision.task[:2]}"
                self._expect(now + 1.0, MergeDone(decision.batch, decision.task, decision.n, commit))
            case GateStarted() if self._is_new(decision.n):
                self._expect(now + GATE_MINUTES * MINUTE, GateDone(decision.batch, decision.n, passed=True))
            case _:
                pass  # the rest needs nothing of the world

    def next_at(self) -> float | None:
        return self._coming[0][0] if self._coming else None

    def reports(self, now: float) -> list[Report]:
        arrived = []
        while self._coming and self._coming[0][0] <= now:
            arrived.append(heapq.heappop(self._coming)[2])
        return arrived

    def _is_new(self, name: object) -> bool:
        new = name not in self._asked
        self._asked.add(name)
        return new

    def _work(self, decision: AttemptStarted, now: float) -> None:
        name = decision.attempt
        played = part(name.task, name.n, verifying=name.step is Step.VERIFY)
        lasts = played.minutes * MINUTE
        for count, words in enumerate(played.says):
            self._expect(now + lasts * (count + 0.1) / len(played.says), AttemptPhase(name, words))
        tip = f"commit-{name.task}" if played.outcome.category == "ok" else None
        self._expect(now + lasts, AttemptExited(name, replace(played.outcome, tip=tip)))

    def _expect(self, at: float, report: Report) -> None:
        heapq.heappush(self._coming, (at, len(self._asked) * 1000 + len(self._coming), report))
