"""Counters over the whole journal, for dashboards: the state doesn't keep what has ended.

They follow from the records alone, from the first one on, so a restart gives the same numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from plait.core import decisions as d, reports as r
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.settings import NO_SPEND, Spend
from plait.core.state import AttemptState, State
from plait.core.status import BatchStatus, Category, TaskStatus
from plait.core.task import Attempt, Step
from plait.core.views import find_batch_status

# Seconds. Agents take minutes or hours, checks take seconds or minutes.
DURATION_BOUNDS_SECONDS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400)
MAX_LABELS = 50  # agents and providers with a label of their own: a journal may contain any number of them
MAX_LABEL_CHARS = 80
OTHER_LABEL = "(others)"

# Operations on a batch branch and their results; None: the operation begins, or the event has the result.
_BRANCH_OPERATIONS: Mapping[type, tuple[str, str | None]] = {
    d.MergeStarted: ("merge", None),
    r.MergeDone: ("merge", "done"),
    r.MergeConflicted: ("merge", "conflicted"),
    r.MergeFailed: ("merge", "failed"),
    d.RebuildStarted: ("rebuild", None),
    r.RebuildDone: ("rebuild", "done"),
    r.RebuildFailed: ("rebuild", "failed"),
    d.GateStarted: ("gate", None),
    r.GateDone: ("gate", "passed"),
    r.GateLost: ("gate", "lost"),
    d.PublishStarted: ("publish", None),
    r.PublishDone: ("publish", "done"),
    r.PublishFailed: ("publish", "failed"),
}


@dataclass(slots=True)
class DurationHistogram:
    """Counts of durations: `counts[i]` up to `BOUNDS[i]` and above the bound before; the last one above all."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(DURATION_BOUNDS_SECONDS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(DURATION_BOUNDS_SECONDS, seconds)] += 1
        self.seconds += seconds


class LabelSet:
    """The first names that occur, and one name for all others. Only records add names and reading adds none, so a restart
    gives the same names.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def add(self, name: str) -> None:
        name = _replace_surrogates(name)
        if len(self._known) < MAX_LABELS and len(name) <= MAX_LABEL_CHARS:
            self._known.add(name)

    def __call__(self, name: str) -> str:
        name = _replace_surrogates(name)
        return name if name in self._known else OTHER_LABEL


def _replace_surrogates(name: str) -> str:
    return name.encode(errors="replace").decode()  # lone surrogates can't be encoded


@dataclass(frozen=True, slots=True)
class EndCounts:
    """How batches, and the tasks in them, have ended. Entrants of a contest are not counted."""

    batches: Counter[BatchStatus]
    tasks: Counter[TaskStatus]

    def __add__(self, other: EndCounts) -> EndCounts:
        return EndCounts(self.batches + other.batches, self.tasks + other.tasks)

    def __sub__(self, other: EndCounts) -> EndCounts:
        return EndCounts(self.batches - other.batches, self.tasks - other.tasks)


class JournalCounters:
    """The counters. `apply` takes constant time, except for the end of a batch, which counts its tasks."""

    def __init__(self) -> None:
        self.attempts = Counter[tuple[str, Step, Category]]()  # ended attempts, by agent
        self.durations: dict[tuple[str, Step], DurationHistogram] = {}
        self.spent: dict[str, Spend] = {}  # by agent
        self.retries = Counter[Category]()
        self.tasks = Counter[TaskStatus]()
        self.batches = Counter[BatchStatus]()
        self.branch_operations = Counter[tuple[str, str]]()  # merges, rebuilds, gates, publishes, and how they ended
        self.breaker_openings = Counter[str]()  # of breakers, by provider
        self.requests = Counter[str]()
        self.engine_starts = 0
        self._agents = LabelSet()
        self._providers = LabelSet()
        self._alive: dict[Attempt, tuple[AttemptState, Spend]] = {}  # with the part of it that is in `spent`
        self._in_progress: dict[tuple[str, str, str], int] = {}
        self._ended: dict[str, EndCounts] = {}
        self._ended_sum = EndCounts(Counter(), Counter())  # the sum of these

    def apply(self, state: State, record: Record) -> None:
        """Count a record, which `state` has already."""
        event = record.event
        if type(event) in _BRANCH_OPERATIONS:
            self._count_branch_operation(*_BRANCH_OPERATIONS[type(event)], event)
            return
        match event:
            case d.AttemptStarted() | r.AttemptUsed() | r.AttemptExited() | r.AttemptLost():
                self._apply_attempt(state, event)
            case d.RetryGranted():
                self.retries[event.category] += 1
            case d.TaskEnded():
                self._count_task_end(state, event)
            case d.BatchEnded():
                self._count_batch_end(state, event)
            case d.BreakerOpened() | d.LimitRaised():
                self._providers.add(event.provider)
                self.breaker_openings[self._providers(event.provider)] += isinstance(event, d.BreakerOpened)
            case d.RequestGranted():
                self.requests["granted"] += 1
            case d.RequestRefused():
                self.requests["refused"] += 1
            case r.EngineTaken():
                self.engine_starts += 1
            case _:  # not counted
                pass

    @property
    def running(self) -> Counter[tuple[str, Step]]:
        """The running attempts, by agent."""
        alive = (attempt for attempt, _ in self._alive.values())
        return Counter((self._agents(attempt.agent), attempt.name.step) for attempt in alive)

    def get_provider_label(self, name: str) -> str:
        """Return the provider's label."""
        return self._providers(name)

    def count_ended(self, state: State) -> EndCounts:
        """Count the ends that are still true. The cost grows with open batches, not with all that ever ended."""
        counts = self._ended_sum
        for reopened in state.open.keys() & self._ended.keys():
            counts -= self._ended[reopened]
        return counts

    # Any: an event of the kind named, of which only the fields below are read.
    def _count_branch_operation(self, operation: str, status: str | None, event: Any) -> None:
        """Count the end of a branch operation in progress; other reports come late or twice."""
        key = (operation, event.batch, getattr(event, "task", ""))
        if status is None:
            self._in_progress[key] = event.n
        elif self._in_progress.get(key) == event.n:
            del self._in_progress[key]
            self.branch_operations[operation, status if getattr(event, "passed", True) else "failed"] += 1

    def _add_spend(self, attempt: AttemptState, counted: Spend) -> None:
        new_spend = attempt.used - counted
        if new_spend:
            agent = self._agents(attempt.agent)
            self.spent[agent] = self.spent.get(agent, NO_SPEND) + new_spend

    def _apply_attempt(self, state: State, event: d.AttemptStarted | r.AttemptUsed | r.AttemptEnd) -> None:
        alive = self._alive.get(event.attempt)
        if isinstance(event, d.AttemptStarted):
            attempt = state.find_attempt(event.attempt)
            if alive is None and attempt is not None:
                self._agents.add(attempt.agent)
                self._alive[event.attempt] = (attempt, NO_SPEND)
        elif alive is not None:
            self._add_spend(*alive)
            if isinstance(event, r.AttemptUsed):
                self._alive[event.attempt] = (alive[0], alive[0].used)
            else:
                del self._alive[event.attempt]
                self._count_attempt(alive[0])

    def _count_attempt(self, attempt: AttemptState) -> None:
        assert attempt.outcome is not None
        assert attempt.ended_at is not None
        agent, step = self._agents(attempt.agent), attempt.name.step
        self.attempts[agent, step, attempt.outcome.category] += 1
        seconds = max(0.0, attempt.ended_at - attempt.started_at)
        self.durations.setdefault((agent, step), DurationHistogram()).add(seconds)

    def _count_task_end(self, state: State, event: d.TaskEnded) -> None:
        batch = state.batches.get(event.batch)
        task = batch.find_task(event.task) if batch is not None else None
        if task is not None and task.task.entrant is None:
            self.tasks[event.status] += 1

    def _count_batch_end(self, state: State, event: d.BatchEnded) -> None:
        batch = state.batches.get(event.batch)
        if batch is None:
            return
        status = find_batch_status(batch)[0]
        self.batches[status] += 1
        before = self._ended.pop(batch.id, None)
        if before is not None:  # it was reopened
            self._ended_sum -= before
        tasks = (task.status for task in batch.tasks if task.task.entrant is None)
        now = EndCounts(Counter([status]), Counter(status for status in tasks if status is not None))
        self._ended[batch.id] = now
        self._ended_sum += now
