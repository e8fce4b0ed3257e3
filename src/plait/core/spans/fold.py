"""Records in, finished spans out. A batch holds its tasks, and a task its attempts and merges.

It follows from the records alone. A batch that is taken up again is another span of the same trace, and so is a task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from typing import assert_never

from plait.core import decisions as d, reports as r, requests as q
from plait.core.events import Record
from plait.core.frozen import dataclass
from plait.core.settings import NO_SPEND, Spend
from plait.core.spans.line import LineStart, done, ends, name_of
from plait.core.spans.span import Attributes, Span, error_of, of_outcome, of_spend, said, span_id, trace_id
from plait.core.status import BatchStatus, Category, EndWhy, TaskStatus
from plait.core.task import Attempt, Step

_Opens = q.Submit | q.Retry | q.Feedback | q.Drop
_BAD = frozenset({TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.BLOCKED, TaskStatus.CONFLICTED})
# What a span's id follows from, within its batch.
_Name = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A span by names; `before` is the one that it goes on from."""

    name: str
    own: _Name
    parent: _Name | None
    start: float
    about: Attributes
    error: str | None = None
    before: _Name | None = None


@dataclass(slots=True)
class _Attempt:
    decision: d.AttemptStarted
    start: float
    used: Spend = NO_SPEND
    ending: EndWhy | None = None


@dataclass(slots=True)
class _Batch:
    """`runs` counts how often it was opened, `ends` how often each task has ended."""

    id: str
    start: float
    about: Attributes
    runs: int = 1
    open: bool = True
    spent: Spend = NO_SPEND
    ends: Counter[str] = field(default_factory=Counter)
    begun: dict[str, float] = field(
        default_factory=dict
    )  # tasks that something was done about, and since when
    line: dict[tuple[str, str], tuple[LineStart, float]] = field(default_factory=dict)

    @property
    def name(self) -> _Name:
        """Of its span: this run's."""
        return ("batch", self.runs)

    def task(self, task: str) -> _Name:
        """Of the span that goes on until the task ends the next time."""
        return ("task", task, self.ends[task] + 1)


class Spans:
    """`journal` is the journal's id: the same batch in another journal is another trace."""

    def __init__(self, journal: str) -> None:
        self._journal = journal
        self._asked: dict[str, _Opens] = {}
        self._batches: dict[str, _Batch] = {}
        self._alive: dict[Attempt, _Attempt] = {}

    def take(self, record: Record) -> list[Span]:
        """What this record brings to its end."""
        at, event = record.at, record.event
        match event:
            case q.Submit() | q.Retry() | q.Feedback() | q.Drop():
                self._asked[event.id] = event
            case d.RequestGranted() | d.RequestRefused():
                self._answer(at, event)
            case d.AttemptStarted() | d.AttemptEnding() | r.AttemptUsed():
                self._attempt(at, event)
            case d.MergeStarted() | d.RebuildStarted() | d.GateStarted() | d.PublishStarted():
                self._begin(at, event)
            case r.AttemptExited():
                return [*self._over(at, event.attempt, event.outcome)]
            case r.AttemptLost():
                return [*self._over(at, event.attempt, r.Outcome(Category.LOST, detail=event.why))]
            case d.TaskEnded():
                return [*self._task(at, event)]
            case d.BatchEnded():
                return [*self._batch(at, event)]
            case _ if isinstance(event, r.LineReport):
                return [*self._line(at, event)]
            case _:  # nothing begins or ends with it
                pass
        return []

    def _answer(self, at: float, event: d.AboutRequest) -> None:
        request = self._asked.pop(event.request, None)
        if request is None or isinstance(event, d.RequestRefused):
            return
        batch = self._batches.get(request.batch)
        if isinstance(request, q.Submit):
            if batch is None:
                tasks = sum(task.entrant is None for task in request.plan.tasks)
                about: Attributes = {"plait.tasks": tasks, "plait.mode": request.settings.mode.value}
                self._batches[request.batch] = _Batch(request.batch, at, about)
        elif batch is not None and not batch.open:
            batch.open, batch.start, batch.spent = True, at, NO_SPEND
            batch.runs += 1

    def _attempt(self, at: float, event: d.AttemptStarted | d.AttemptEnding | r.AttemptUsed) -> None:
        name = event.attempt
        batch, attempt = self._batches.get(name.batch), self._alive.get(name)
        match event:
            case d.AttemptStarted():
                if batch is not None and attempt is None:
                    self._alive[name] = _Attempt(event, at)
                    batch.begun.setdefault(name.task, at)
            case d.AttemptEnding():
                if attempt is not None:
                    attempt.ending = attempt.ending or event.why
            case r.AttemptUsed():
                if attempt is not None:
                    attempt.used = attempt.used.at_least(event.spend)
            case _:
                assert_never(event)

    def _begin(self, at: float, event: LineStart) -> None:
        batch = self._batches.get(event.batch)
        if batch is not None:
            what, task = name_of(event)
            batch.line[what, task] = (event, at)
            if task:
                batch.begun.setdefault(task, at)

    def _over(self, at: float, name: Attempt, outcome: r.Outcome) -> Iterator[Span]:
        batch, attempt = self._batches.get(name.batch), self._alive.pop(name, None)
        if batch is None or attempt is None:
            return
        used = attempt.used.at_least(outcome.spend)
        batch.spent += used
        about: Attributes = {
            "plait.task.id": name.task,
            "plait.step": name.step.value,
            "plait.attempt": name.n,
            **of_outcome(outcome),
            **of_spend(used),
        }
        if name.step is Step.WRITE:
            about |= {"plait.agent": attempt.decision.agent, "plait.provider": attempt.decision.provider}
        if attempt.ending is not None:
            about["plait.ended_by"] = attempt.ending.value
        step, task = name.step.value, name.task
        before = (step, task, name.n - 1) if name.n > 1 else None
        draft = _Draft(
            step, (step, task, name.n), batch.task(task), attempt.start, about, error_of(outcome), before
        )
        yield self._span(batch, at, draft)

    def _line(self, at: float, report: r.LineReport) -> Iterator[Span]:
        """Reports come late and twice: what is not under way has no span."""
        batch = self._batches.get(report.batch)
        what, task = ends(report)
        start = batch.line.get((what, task)) if batch is not None else None
        if batch is None or start is None or start[0].n != report.n:
            return
        del batch.line[what, task]
        how = done(report)
        about = how.about | ({"plait.task.id": task} if task else {})
        parent = batch.task(task) if task else batch.name
        yield self._span(batch, at, _Draft(what, (what, task, report.n), parent, start[1], about, how.error))

    def _task(self, at: float, event: d.TaskEnded) -> Iterator[Span]:
        batch = self._batches.get(event.batch)
        if batch is None:
            return
        about: Attributes = {"plait.task.id": event.task, "plait.status": event.status.value}
        if event.category is not None:
            about["plait.category"] = event.category.value
        own, last = batch.task(event.task), batch.ends[event.task]
        batch.ends[event.task] = last + 1
        start = batch.begun.pop(event.task, at)
        error = event.reason if event.status in _BAD else None
        before = ("task", event.task, last) if last else None
        draft = _Draft(f"task {event.task}", own, batch.name, start, about, error, before)
        yield self._span(batch, at, draft)

    def _batch(self, at: float, event: d.BatchEnded) -> Iterator[Span]:
        batch = self._batches.get(event.batch)
        if batch is None or not batch.open:
            return
        batch.open = False
        about = batch.about | {"plait.status": event.status.value} | of_spend(batch.spent)
        error = event.reason if event.status is BatchStatus.FAILED else None
        before = ("batch", batch.runs - 1) if batch.runs > 1 else None
        yield self._span(batch, at, _Draft("batch", batch.name, None, batch.start, about, error, before))

    def _span(self, batch: _Batch, at: float, draft: _Draft) -> Span:
        """A clock that was set back makes it short, and never ends it before its start."""

        def number(name: _Name) -> int:
            return span_id(self._journal, batch.id, *name)

        about = {"plait.batch.id": batch.id, **draft.about}
        return Span(
            trace_id(self._journal, batch.id),
            number(draft.own),
            None if draft.parent is None else number(draft.parent),
            said(draft.name),
            draft.start,
            max(draft.start, at),
            tuple((key, said(value) if isinstance(value, str) else value) for key, value in about.items()),
            None if draft.error is None else said(draft.error),
            () if draft.before is None else (number(draft.before),),
        )
