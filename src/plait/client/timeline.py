"""The timeline of a batch: who worked when, what waited, what was merged, as its records tell it.

A timeline as programs see it: for a chart of who worked when.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import assert_never

from plait.client.json_encoding import to_iso, to_iso_or_none
from plait.core.decisions import (
    AttemptEnding,
    AttemptStarted,
    BatchEnded,
    BatchPaused,
    BatchUnpaused,
    GateStarted,
    MergeStarted,
    PublishStarted,
    RebuildStarted,
    RequestGranted,
    RequestRefused,
    RetryGranted,
    TaskEnded,
)
from plait.core.events import Event, Record
from plait.core.fast_dataclass import dataclass
from plait.core.reports import (
    AttemptExited,
    AttemptLost,
    GateDone,
    GateLost,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    PublishDone,
    PublishFailed,
    RebuildDone,
    RebuildFailed,
)
from plait.core.requests import Feedback, Pause, Resume, Retry, Stop, Submit, Unpause
from plait.core.status import Category, EndWhy, TaskStatus

_OpeningRequest = Submit | Retry | Feedback | Pause | Stop | Unpause | Resume


@dataclass(slots=True)
class TimelineSpan:
    """From `start` to `end`; None: it is not over. `result` is a word for how it ended, `detail` a sentence."""

    kind: str
    start: float
    end: float | None = None
    n: int | None = None
    agent: str | None = None
    result: str | None = None
    detail: str = ""
    why: EndWhy | None = None

    def close(self, at: float, result: str | None = None, detail: str = "") -> None:
        """A report may come twice, and the first one counted; a clock may be set back, and nothing ends before it begins."""
        if self.end is None:
            self.end, self.result, self.detail = max(at, self.start), result, detail or self.detail


@dataclass(frozen=True, slots=True)
class TimelineRetry:
    """The task goes again, not before `retry_at`."""

    at: float
    retry_at: float
    why: str
    category: Category
    counted: bool


@dataclass(slots=True)
class TaskHistory:
    """What one task went through. `lives`: from when it could have run until it ended, and so again after a retry."""

    task: str
    title: str
    lifetimes: list[TimelineSpan] = field(default_factory=list)
    spans: list[TimelineSpan] = field(default_factory=list)
    retries: list[TimelineRetry] = field(default_factory=list)
    status: TaskStatus | None = None

    def list_waits(self) -> list[tuple[float, float | None]]:
        """When it lived and nothing of it was at work."""
        busy = sorted(self.spans, key=lambda span: span.start)
        return [gap for life in self.lifetimes for gap in _find_gaps(life, busy)]


@dataclass(slots=True)
class BatchTimeline:
    """`spans` are those of the whole batch: gates, pauses, rebuilds, publishing."""

    batch: str
    start: float | None = None
    end: float | None = None
    tasks: dict[str, TaskHistory] = field(default_factory=dict)
    spans: list[TimelineSpan] = field(default_factory=list)
    _requests: dict[str, _OpeningRequest] = field(default_factory=dict)
    _open: dict[object, TimelineSpan] = field(default_factory=dict)

    def apply(self, record: Record) -> None:
        """Records of other batches pass by."""
        at, event = record.at, record.event
        match event:
            case _ if isinstance(event, _OpeningRequest):
                if event.batch == self.batch:
                    self._requests[event.id] = event
            case RequestGranted(request=request) if request in self._requests:
                self._apply_granted(at, event, self._requests.pop(request))
            case RequestRefused(request=request):
                self._requests.pop(request, None)
            case AttemptStarted(attempt=name) if name.batch == self.batch:
                self._begin(name, TimelineSpan(name.step.value, at, n=name.n, agent=event.agent), name.task)
            case AttemptEnding(attempt=name, why=why) if name in self._open:
                self._open[name].why = self._open[name].why or why
            case AttemptExited(attempt=name, outcome=outcome):
                self._close(name, at, outcome.category.value, outcome.detail)
            case AttemptLost(attempt=name, why=why):
                self._close(name, at, Category.LOST.value, why)
            case _ if getattr(event, "batch", None) == self.batch:
                self._apply_batch_event(at, event)
            case _:
                pass

    def _apply_batch_event(self, at: float, event: Event) -> None:
        match event:
            case RetryGranted():
                again = TimelineRetry(at, event.at, event.why, event.category, event.counted)
                self._get_task(event.task).retries.append(again)
            case TaskEnded():
                course = self._get_task(event.task)
                course.status = event.status
                for life in course.lifetimes[-1:]:
                    life.close(at, event.status.value, event.reason)
            case BatchPaused():
                self._begin("pause", TimelineSpan("pause", at, detail=event.why))
            case BatchUnpaused():
                self._close("pause", at)
            case BatchEnded():
                self.end = at
                self._close("pause", at)
            case _:
                self._apply_branch_event(at, event)

    def _apply_branch_event(self, at: float, event: Event) -> None:
        match event:
            case MergeStarted():
                self._begin(("merge", event.task), TimelineSpan("merge", at, n=event.n), event.task)
            case MergeDone():
                self._close(("merge", event.task), at, "merged")
            case MergeConflicted():
                self._close(("merge", event.task), at, "conflicted", ", ".join(event.files))
            case MergeFailed():
                self._close(("merge", event.task), at, "failed", event.why)
            case GateStarted() | RebuildStarted() | PublishStarted():
                kind = _BRANCH_SPAN_KINDS[type(event)]
                self._begin(kind, TimelineSpan(kind, at, n=event.n))
            case GateDone():
                self._close("gate", at, "passed" if event.passed else "failed", event.detail)
            case RebuildDone():
                self._close("rebuild", at, "done")
            case PublishDone():
                self._close("publish", at, "done", event.url)
            case GateLost() | RebuildFailed() | PublishFailed():
                self._close(_BRANCH_SPAN_KINDS[type(event)], at, "failed", event.why)
            case _:
                pass

    def _apply_granted(self, at: float, granted: RequestGranted, request: _OpeningRequest) -> None:
        match request:
            case Submit():
                self.start = at
                for task in request.plan.tasks:
                    self.tasks[task.id] = TaskHistory(task.id, task.title, [TimelineSpan("life", at)])
            case Pause() | Stop():
                self._begin("pause", TimelineSpan("pause", at, detail="by a person"))
            case Unpause() | Resume():
                self._close("pause", at)
            case Retry() | Feedback():
                for name in granted.tasks:
                    self._reopen(at, self._get_task(name))
            case _:
                assert_never(request)

    def _reopen(self, at: float, course: TaskHistory) -> None:
        """One that has ended lives again, and the batch with it."""
        if course.lifetimes and course.lifetimes[-1].end is not None:
            course.lifetimes.append(TimelineSpan("life", at))
            course.status, self.end = None, None

    def _get_task(self, task: str) -> TaskHistory:
        return self.tasks.setdefault(task, TaskHistory(task, ""))

    def _begin(self, name: object, span: TimelineSpan, task: str | None = None) -> None:
        """A decision that is performed again after a crash is the same one."""
        known = self._open.get(name)
        if known is not None and known.n == span.n and known.end is None:
            return
        self._open[name] = span
        (self.spans if task is None else self._get_task(task).spans).append(span)

    def _close(self, name: object, at: float, result: str | None = None, detail: str = "") -> None:
        span = self._open.pop(name, None)
        if span is not None:
            span.close(at, result, detail)


_BRANCH_SPAN_KINDS = {
    GateStarted: "gate",
    GateLost: "gate",
    RebuildStarted: "rebuild",
    RebuildFailed: "rebuild",
    PublishStarted: "publish",
    PublishFailed: "publish",
}


def build_timeline(records: Iterable[Record], batch: str) -> BatchTimeline:
    found = BatchTimeline(batch)
    for record in records:
        found.apply(record)
    return found


def _find_gaps(life: TimelineSpan, busy: Iterable[TimelineSpan]) -> list[tuple[float, float | None]]:
    """The parts of a life in which nothing was at work; the last one is open if the life is."""
    gaps: list[tuple[float, float | None]] = []
    at: float | None = life.start
    for span in busy:
        if at is None or (life.end is not None and span.start >= life.end):
            break
        if span.end is not None and span.end <= at:
            continue
        if span.start > at:
            gaps.append((at, span.start))
        at = span.end if span.end is None else max(at, span.end)
    if at is not None and (life.end is None or at < life.end):
        gaps.append((at, life.end))
    return gaps


Json = dict[str, object]


def timeline_json(found: BatchTimeline) -> Json:
    """`spans` of the batch are gates, pauses, rebuilds and publishing; what is not over has no `completedAt`."""
    return {
        "batchId": found.batch,
        "startedAt": to_iso_or_none(found.start),
        "completedAt": to_iso_or_none(found.end),
        "tasks": [_task_timeline_json(course) for course in found.tasks.values()],
        "spans": [_span_json(span) for span in found.spans],
    }


def _task_timeline_json(course: TaskHistory) -> Json:
    return {
        "taskId": course.task,
        "title": course.title,
        "status": course.status.value if course.status else None,
        "spans": [_span_json(span) for span in sorted(course.spans, key=lambda span: span.start)],
        "waits": [
            {"startedAt": to_iso(start), "completedAt": to_iso_or_none(end)} for start, end in course.list_waits()
        ],
        "retries": [_retry_json(again) for again in course.retries],
    }


def _span_json(span: TimelineSpan) -> Json:
    return {
        "kind": span.kind,
        "startedAt": to_iso(span.start),
        "completedAt": to_iso_or_none(span.end),
        "n": span.n,
        "agent": span.agent,
        "result": span.result,
        "detail": span.detail or None,
        "endedFor": span.why.value if span.why else None,
    }


def _retry_json(again: TimelineRetry) -> Json:
    return {
        "at": to_iso(again.at),
        "retryAt": to_iso(again.retry_at),
        "why": again.why,
        "category": again.category.value,
        "counted": again.counted,
    }
