"""ETA: the same agenda, run forward on simulated time in a world where everything succeeds as long as it usually takes.

It costs as much as the batch has left to do, so whoever shows it asks seldom.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import replace
from statistics import median

from plait.core.contest import REFEREE
from plait.core.decisions import (
    AttemptEnding,
    AttemptStarted,
    Decision,
    GateStarted,
    MergeStarted,
    PublishStarted,
    RebuildStarted,
    TaskEnded,
)
from plait.core.drive import decide, take
from plait.core.fork import fork
from plait.core.frozen import dataclass
from plait.core.probe import outstanding
from plait.core.reports import (
    AttemptExited,
    GateDone,
    Merged,
    MergeDone,
    Outcome,
    PublishDone,
    RebuildDone,
    Report,
)
from plait.core.state import BatchState, State
from plait.core.status import Category, EndWhy
from plait.core.task import Step, Task

VERIFY_SHARE = 0.1  # of the writing, until something better is known
GATE = 300.0
JUDGING = 60.0
STEPS_PER_TASK = 50  # a forecast that needs more than this is no forecast


@dataclass(frozen=True, slots=True)
class Forecast:
    """When each task will have ended, as far as no person is needed; `end` is None when one is."""

    tasks: Mapping[str, float]
    end: float | None


def guess(state: State, task: Task, agent: str) -> float:
    """How long writing lasts: what the task says, else what it took before, else the agent's usual pace times the weight,
    else the weight alone. Choosing from what others wrote takes as long as it did before, whatever the task.
    """
    if agent == REFEREE:
        chosen = state.experience.get(agent)
        return median(chosen.paces) * task.weight if chosen is not None and chosen.paces else JUDGING
    if task.estimate is None and task.key in state.lengths:
        return state.lengths[task.key]
    known = state.experience.get(agent)
    if task.estimate is None and known is not None and known.paces:
        return median(known.paces) * task.weight
    return task.expected


def forecast(state: State, batch_id: str, now: float) -> Forecast:
    twin = fork(state)
    for batch in twin.open.values():
        batch.settings = replace(batch.settings, auto_approve=True)
    ahead = _Ahead(twin, now)
    ends = ahead.run(batch_id, STEPS_PER_TASK * (1 + sum(len(batch.tasks) for batch in twin.open.values())))
    batch = twin.batches[batch_id]
    return Forecast(
        ends,
        ahead.now if batch.ended is not None and state.batches[batch_id].ended is None else batch.ended_at,
    )


class _Ahead:
    """A world without surprises."""

    def __init__(self, state: State, now: float) -> None:
        self.state = state
        self.now = now
        self._coming: list[tuple[float, int, Report]] = []
        self._expected = 0
        for decision in outstanding(state):
            self._perform(decision)

    def run(self, batch_id: str, steps: int) -> dict[str, float]:
        ends: dict[str, float] = {}
        for _ in range(steps):
            records, wake = decide(self.state, self.now)
            for record in records:
                if isinstance(record.event, TaskEnded) and record.event.batch == batch_id:
                    ends[record.event.task] = self.now
                self._perform(record.event)  # type: ignore[arg-type]  # decide gives decisions only
            if self.state.batches[batch_id].ended is not None or not self._move_on(wake):
                break
        return ends

    def _move_on(self, wake: float | None) -> bool:
        """Go to the next thing that happens; False when nothing will."""
        if self._coming and (wake is None or self._coming[0][0] <= wake):
            at, _, report = heapq.heappop(self._coming)
            self.now = max(self.now, at)
            take(self.state, [report], self.now)
            return True
        if wake is None:
            return False
        self.now = max(self.now, wake)
        return True

    def _perform(self, decision: Decision) -> None:
        match decision:
            case AttemptStarted():
                self._expect(
                    self._end_of(decision),
                    AttemptExited(decision.attempt, Outcome(Category.OK, tip="written")),
                )
            case AttemptEnding(why=why) if why not in {EndWhy.TIMEOUT, EndWhy.IDLE}:
                self._expect(self.now, AttemptExited(decision.attempt, Outcome(Category.KILLED)))
            case MergeStarted():
                self._expect(self.now, MergeDone(decision.batch, decision.task, decision.n, "ahead"))
            case RebuildStarted():
                self._expect(self.now, _rebuilt(self.state.batches[decision.batch], decision))
            case GateStarted():
                self._expect(self.now + GATE, GateDone(decision.batch, decision.n, passed=True))
            case PublishStarted():
                self._expect(self.now, PublishDone(decision.batch, decision.n, "", decision.commit))
            case _:
                pass  # the rest is bookkeeping, or about time, which does not run out here

    def _expect(self, at: float, report: Report) -> None:
        self._expected += 1
        heapq.heappush(self._coming, (at, self._expected, report))

    def _end_of(self, decision: AttemptStarted) -> float:
        name = decision.attempt
        batch = self.state.batches[name.batch]
        task = batch.tasks[batch.index[name.task]]
        whole = guess(self.state, task.task, decision.agent)
        if name.step is Step.VERIFY:
            whole *= VERIFY_SHARE
        alive = batch.alive.get(name)
        began = alive.started_at if alive is not None else self.now
        return max(self.now, began + whole)


def _rebuilt(batch: BatchState, decision: RebuildStarted) -> RebuildDone:
    names = (batch.tasks[entry.place].task.id for entry in batch.line)
    line = tuple(Merged(name, "ahead") for name in names if name not in decision.without)
    return RebuildDone(batch.id, decision.n, line)
