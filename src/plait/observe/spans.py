"""Turn records into finished spans: a batch contains its tasks, a task its attempts and merges.

Ids derive from names, so a span that is sent twice is the same span. A batch or task that is reopened is another span of
the same trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from hashlib import sha256
from typing import assert_never

from plait.core import decisions as d, reports as r, requests as q
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.scheduler.batches import is_partial
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import BatchStatus, Category, EndWhy, TaskStatus
from plait.core.task import Attempt, Step
from plait.core.text import join_names

AttributeValue = str | int | float
Attributes = dict[str, AttributeValue]

MAX_TEXT_CHARS = 1000
MAX_NAMES_SHOWN = 20

_OK_CATEGORIES = frozenset({Category.OK, Category.QUESTION})  # a question isn't a failure


@dataclass(frozen=True, slots=True)
class Span:
    """A finished span. `parent` None: a batch. `links` are the spans that it continues."""

    trace: int
    id: int
    parent: int | None
    name: str
    start: float
    end: float
    attributes: tuple[tuple[str, AttributeValue], ...] = ()
    error: str | None = None
    links: tuple[int, ...] = ()


def make_trace_id(journal: str, batch: str) -> int:
    """Return 128 bits, never 0, which means none."""
    return _hash_number(16, journal, batch)


def make_span_id(journal: str, *name: str | int) -> int:
    """Return 64 bits, never 0."""
    return _hash_number(8, journal, *map(str, name))


def _hash_number(size: int, *parts: str) -> int:
    # With lengths, so that ("a", "bc") and ("ab", "c") differ.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return int.from_bytes(sha256(text.encode(errors="surrogatepass")).digest()[:size]) or 1


def clean_text(text: str) -> str:
    """Bound an untrusted text, and replace surrogates in it."""
    return text[:MAX_TEXT_CHARS].encode(errors="replace").decode()


def make_spend_attributes(spend: Spend) -> Attributes:
    """Return the known amounts of a spend as attributes."""
    attributes: Attributes = {"plait.cost.usd": spend.microusd / 1e6, "plait.cost.tokens": spend.tokens}
    return {name: value for name, value in attributes.items() if value}


def make_outcome_attributes(outcome: Outcome) -> Attributes:
    attributes: Attributes = {"plait.category": outcome.category.value}
    if outcome.exit_code is not None:
        attributes["process.exit.code"] = outcome.exit_code
    if outcome.tip:
        attributes["plait.commit"] = outcome.tip
    if outcome.peak:
        attributes["plait.memory.peak_bytes"] = outcome.peak
    if outcome.diffstat is not None:
        names = ("plait.diff.files", "plait.diff.added", "plait.diff.removed")
        attributes.update(zip(names, outcome.diffstat, strict=True))
    return attributes


def find_outcome_error(outcome: Outcome) -> str | None:
    if outcome.category in _OK_CATEGORIES:
        return None
    return f"{outcome.category.value}: {outcome.detail}" if outcome.detail else outcome.category.value


BranchStep = d.MergeStarted | d.RebuildStarted | d.GateStarted | d.PublishStarted


# The kind of step that each event starts or ends.
_STEP_KINDS: Mapping[type, str] = {
    event: kind
    for kind, events in {
        "merge": (d.MergeStarted, r.MergeDone, r.MergeConflicted, r.MergeFailed),
        "rebuild": (d.RebuildStarted, r.RebuildDone, r.RebuildFailed),
        "gate": (d.GateStarted, r.GateDone, r.GateLost),
        "publish": (d.PublishStarted, r.PublishDone, r.PublishFailed),
    }.items()
    for event in events
}


def get_step_name(event: BranchStep | r.BranchEnd) -> tuple[str, str]:
    """Return the kind and the task ("": none) of the step, one per batch at a time, that an event starts or ends."""
    return _STEP_KINDS[type(event)], getattr(event, "task", "")


def describe_branch_result(report: r.BranchEnd) -> tuple[Attributes, str | None]:
    """Return the attributes of the step's span, and its error; None: it succeeded."""
    match report:
        case r.MergeDone():
            return {"plait.commit": report.commit}, None
        case r.MergeConflicted():
            return {}, f"conflict in {join_names(report.files, MAX_NAMES_SHOWN)}"
        case r.RebuildDone():
            clashes = join_names([conflict.task for conflict in report.clashes], MAX_NAMES_SHOWN)
            return {"plait.merges": len(report.line)}, f"conflicts of {clashes}" if clashes else None
        case r.GateDone():
            return {}, None if report.passed else report.detail or "it failed"
        case r.PublishDone():
            url: Attributes = {"plait.url": report.url} if report.url else {}
            return {"plait.commit": report.commit, **url}, None
        case r.MergeFailed() | r.RebuildFailed() | r.GateLost() | r.PublishFailed():
            return {}, report.why
        case _:
            assert_never(report)


_OpeningRequest = q.Submit | q.Retry | q.Recheck | q.Resolve | q.Feedback | q.Drop


_FAILED_STATUSES = frozenset({TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.BLOCKED, TaskStatus.CONFLICTED})


# Determines a span's id within its batch.
_SpanName = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A span whose parent and predecessor are names; `previous` is the one that it continues."""

    name: str
    key: _SpanName
    parent: _SpanName | None
    start: float
    attributes: Attributes
    error: str | None = None
    previous: _SpanName | None = None


@dataclass(slots=True)
class _Attempt:
    decision: d.AttemptStarted
    start: float
    used: Spend = NO_SPEND
    ending: EndWhy | None = None


@dataclass(slots=True)
class _Batch:
    """A batch and its current span. `runs` counts how often it was opened."""

    id: str
    start: float
    attributes: Attributes
    runs: int = 1
    open: bool = True
    spent: Spend = NO_SPEND
    requested: frozenset[str] = frozenset()  # its tasks without entrants
    task_ends: dict[str, d.TaskEnded] = field(default_factory=dict)
    task_end_counts: Counter[str] = field(default_factory=Counter)
    task_starts: dict[str, float] = field(default_factory=dict)  # when work on each task began
    steps: dict[tuple[str, str], tuple[BranchStep, float]] = field(default_factory=dict)

    @property
    def name(self) -> _SpanName:
        """The name of the batch's current span."""
        return ("batch", self.runs)

    def task(self, task: str) -> _SpanName:
        """Return the name of the task's current span."""
        return ("task", task, self.task_end_counts[task] + 1)


class SpanBuilder:
    """Builds spans from records. `journal` is the journal's id, which is part of every trace id."""

    def __init__(self, journal: str) -> None:
        self._journal = journal
        self._requests: dict[str, _OpeningRequest] = {}
        self._batches: dict[str, _Batch] = {}
        self._attempts: dict[Attempt, _Attempt] = {}

    def add(self, record: Record) -> list[Span]:
        """Add a record; return the spans that it ends."""
        at, event = record.at, record.event
        match event:
            case q.Submit() | q.Retry() | q.Recheck() | q.Resolve() | q.Feedback() | q.Drop():
                self._requests[event.id] = event
            case d.RequestGranted() | d.RequestRefused():
                self._handle_answer(at, event)
            case d.AttemptStarted() | d.AttemptEnding() | r.AttemptUsed():
                self._update_attempt(at, event)
            case d.MergeStarted() | d.RebuildStarted() | d.GateStarted() | d.PublishStarted():
                self._start_step(at, event)
            case r.AttemptExited():
                return [*self._end_attempt(at, event.attempt, event.outcome)]
            case r.AttemptLost():
                return [
                    *self._end_attempt(
                        at,
                        event.attempt,
                        r.Outcome(Category.OUTAGE if event.outage else Category.LOST, detail=event.why),
                    )
                ]
            case d.TaskEnded():
                return [*self._end_task(at, event)]
            case d.BatchEnded():
                return [*self._end_batch(at, event)]
            case _ if isinstance(event, r.BranchEnd):
                return [*self._end_step(at, event)]
            case _:
                pass
        return []

    def _handle_answer(self, at: float, event: d.RequestDecision) -> None:
        request = self._requests.pop(event.request, None)
        if request is None or isinstance(event, d.RequestRefused):
            return
        batch = self._batches.get(request.batch)
        if isinstance(request, q.Submit):
            if batch is None:
                requested = frozenset(task.id for task in request.plan.tasks if task.entrant is None)
                about: Attributes = {"plait.tasks": len(requested), "plait.mode": request.settings.mode.value}
                self._batches[request.batch] = _Batch(request.batch, at, about, requested=requested)
        elif batch is not None and not batch.open:
            batch.open, batch.start, batch.spent = True, at, NO_SPEND
            batch.runs += 1

    def _update_attempt(self, at: float, event: d.AttemptStarted | d.AttemptEnding | r.AttemptUsed) -> None:
        name = event.attempt
        batch, attempt = self._batches.get(name.batch), self._attempts.get(name)
        match event:
            case d.AttemptStarted():
                if batch is not None and attempt is None:
                    self._attempts[name] = _Attempt(event, at)
                    batch.task_starts.setdefault(name.task, at)
            case d.AttemptEnding():
                if attempt is not None:
                    attempt.ending = attempt.ending or event.why
            case r.AttemptUsed():
                if attempt is not None:
                    attempt.used = attempt.used.at_least(event.spend)
            case _:
                assert_never(event)

    def _start_step(self, at: float, event: BranchStep) -> None:
        batch = self._batches.get(event.batch)
        if batch is not None:
            what, task = get_step_name(event)
            batch.steps[what, task] = (event, at)
            if task:
                batch.task_starts.setdefault(task, at)

    def _end_attempt(self, at: float, name: Attempt, outcome: r.Outcome) -> Iterator[Span]:
        batch, attempt = self._batches.get(name.batch), self._attempts.pop(name, None)
        if batch is None or attempt is None:
            return
        used = attempt.used.at_least(outcome.spend)
        batch.spent += used
        about: Attributes = {
            "plait.task.id": name.task,
            "plait.step": name.step.value,
            "plait.attempt": name.n,
            **make_outcome_attributes(outcome),
            **make_spend_attributes(used),
        }
        if name.step is Step.WRITE:
            about |= {"plait.agent": attempt.decision.agent, "plait.provider": attempt.decision.provider}
        if attempt.ending is not None:
            about["plait.ended_by"] = attempt.ending.value
        step, task = name.step.value, name.task
        before = (step, task, name.n - 1) if name.n > 1 else None
        draft = _Draft(
            step, (step, task, name.n), batch.task(task), attempt.start, about, find_outcome_error(outcome), before
        )
        yield self._make_span(batch, at, draft)

    def _end_step(self, at: float, report: r.BranchEnd) -> Iterator[Span]:
        """Yield the span of a step. Reports may come late or twice: a step that isn't in progress has no span."""
        batch = self._batches.get(report.batch)
        what, task = get_step_name(report)
        start = batch.steps.get((what, task)) if batch is not None else None
        if batch is None or start is None or start[0].n != report.n:
            return
        del batch.steps[what, task]
        about, error = describe_branch_result(report)
        if task:
            about["plait.task.id"] = task
        parent = batch.task(task) if task else batch.name
        yield self._make_span(batch, at, _Draft(what, (what, task, report.n), parent, start[1], about, error))

    def _end_task(self, at: float, event: d.TaskEnded) -> Iterator[Span]:
        batch = self._batches.get(event.batch)
        if batch is None:
            return
        about: Attributes = {"plait.task.id": event.task, "plait.status": event.status.value}
        if event.category is not None:
            about["plait.category"] = event.category.value
        own, last = batch.task(event.task), batch.task_end_counts[event.task]
        batch.task_end_counts[event.task] = last + 1
        batch.task_ends[event.task] = event
        start = batch.task_starts.pop(event.task, at)
        error = event.reason if event.status in _FAILED_STATUSES else None
        before = ("task", event.task, last) if last else None
        draft = _Draft(f"task {event.task}", own, batch.name, start, about, error, before)
        yield self._make_span(batch, at, draft)

    def _end_batch(self, at: float, event: d.BatchEnded) -> Iterator[Span]:
        batch = self._batches.get(event.batch)
        if batch is None or not batch.open:
            return
        batch.open = False
        ends = [end for task, end in batch.task_ends.items() if task in batch.requested]
        partial = event.status is BatchStatus.FAILED and is_partial((end.status, end.by) for end in ends)
        status = BatchStatus.PARTIAL if partial else event.status
        about = batch.attributes | {"plait.status": status.value} | make_spend_attributes(batch.spent)
        error = event.reason if event.status is BatchStatus.FAILED else None
        before = ("batch", batch.runs - 1) if batch.runs > 1 else None
        yield self._make_span(batch, at, _Draft("batch", batch.name, None, batch.start, about, error, before))

    def _make_span(self, batch: _Batch, at: float, draft: _Draft) -> Span:
        """Make a span. If the clock was set back, it is short, but never ends before its start."""

        def number(name: _SpanName) -> int:
            return make_span_id(self._journal, batch.id, *name)

        about = {"plait.batch.id": batch.id, **draft.attributes}
        return Span(
            make_trace_id(self._journal, batch.id),
            number(draft.key),
            None if draft.parent is None else number(draft.parent),
            clean_text(draft.name),
            draft.start,
            max(draft.start, at),
            tuple((key, clean_text(value) if isinstance(value, str) else value) for key, value in about.items()),
            None if draft.error is None else clean_text(draft.error),
            () if draft.previous is None else (number(draft.previous),),
        )
