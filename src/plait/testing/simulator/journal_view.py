"""What a user sees in the journal: enough to make a sensible request, or to know that everything has ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

from plait.core.decisions import (
    AnswerAwaited,
    AttemptStarted,
    BatchEnded,
    BatchPaused,
    BatchUnpaused,
    MergeStarted,
    RequestGranted,
    RequestRefused,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.events import Record
from plait.core.reports import AttemptExited, AttemptLost, MergeDone, RebuildDone
from plait.core.requests import (
    ChangeSettings,
    Drop,
    Feedback,
    Pause,
    Recheck,
    Request,
    Resolve,
    Resume,
    Retry,
    Stop,
    Submit,
    Unpause,
)
from plait.core.settings import Mode, Settings
from plait.core.status import Category, PauseCause, TaskStatus
from plait.core.task import Attempt


@dataclass(slots=True)
class BatchSight:
    """One batch, as far as a user can see it."""

    tasks: tuple[str, ...]
    settings: Settings
    base: str = ""
    head: str = ""
    tips: dict[str, str] = field(default_factory=dict)  # what was merged last of each task, or was to be
    is_ended: bool = False
    pause_causes: set[str] = field(default_factory=set)  # by whom or what: a person, a stop, the budget, the gate
    running: set[str] = field(default_factory=set)
    end_statuses: dict[str, TaskStatus] = field(default_factory=dict)
    asking: set[str] = field(default_factory=set)
    worth_retrying: set[str] = field(default_factory=set)  # nothing is wrong with its change, or judges rejected all

    @property
    def needs_approval(self) -> bool:
        return self.settings.mode is Mode.QUEUE and not self.settings.auto_approve


class JournalView:
    def __init__(self) -> None:
        self.batches: dict[str, BatchSight] = {}
        self.ended_attempts: list[Attempt] = []  # whose end the journal tells
        self._unanswered_requests: dict[str, Request] = {}

    @property
    def has_unanswered(self) -> bool:
        """Whether a request is in the journal, and its answer is not."""
        return bool(self._unanswered_requests)

    def observe(self, record: Record) -> None:
        event = record.event
        match event:
            case RequestGranted(request, tasks):
                self._fold_granted(self._unanswered_requests.pop(request), tasks)
            case RequestRefused(request):
                del self._unanswered_requests[request]
            case AttemptExited(attempt) | AttemptLost(attempt):
                self.ended_attempts.append(attempt)
            case AttemptStarted(attempt):
                self.batches[attempt.batch].running.add(attempt.task)
            case TaskEnded() | AnswerAwaited() | TaskInterrupted():
                self._fold_task(self.batches[event.batch], event)
            case BatchPaused() | BatchUnpaused() | BatchEnded():
                self._fold_batch(self.batches[event.batch], event)
            case MergeStarted() | MergeDone() | RebuildDone() if event.batch in self.batches:
                self._fold_merge(self.batches[event.batch], event)
            case _ if isinstance(event, get_args(Request)):
                self._unanswered_requests[event.id] = event
            case _:
                pass

    def _fold_task(self, sight: BatchSight, event: TaskEnded | AnswerAwaited | TaskInterrupted) -> None:
        sight.running.discard(event.task)
        match event:
            case TaskEnded(_, task, status):
                sight.end_statuses[task] = status
                sight.asking.discard(task)
                sight.worth_retrying.discard(task)
                if event.category in {Category.COMMIT, Category.LOST, Category.MERGE, Category.REJECTED}:
                    sight.worth_retrying.add(task)
            case AnswerAwaited(_, task):
                sight.asking.add(task)
            case TaskInterrupted():
                sight.pause_causes.add(PauseCause.STOP)

    def _fold_batch(self, sight: BatchSight, event: BatchPaused | BatchUnpaused | BatchEnded) -> None:
        match event:
            case BatchPaused(_, cause):
                sight.pause_causes.add(cause)
            case BatchUnpaused():
                sight.pause_causes.clear()
            case BatchEnded():
                sight.is_ended = True
                sight.pause_causes.clear()

    def _fold_merge(self, sight: BatchSight, event: MergeStarted | MergeDone | RebuildDone) -> None:
        match event:
            case MergeStarted(_, task):
                sight.tips[task] = event.tip
            case MergeDone():
                sight.head = event.commit
            case RebuildDone():
                sight.head = event.line[-1].commit if event.line else sight.base

    def _fold_granted(self, request: Request, tasks: tuple[str, ...]) -> None:
        match request:
            case Submit(_, batch, plan, settings):
                base = request.base
                self.batches[batch] = BatchSight(tuple(task.id for task in plan.tasks), settings, base, base)
            case ChangeSettings(_, batch, settings, fields):
                sight = self.batches[batch]
                sight.settings = sight.settings.with_fields(settings, fields)
            case Pause(_, batch):
                self.batches[batch].pause_causes.add(PauseCause.PERSON)
            case Stop(_, batch):
                self.batches[batch].pause_causes.add(PauseCause.STOP)
            case Unpause(_, batch) | Resume(_, batch):
                self.batches[batch].pause_causes.clear()
            case Retry() | Recheck() | Resolve() | Feedback() | Drop():
                batch, task = request.batch, request.task
                sight = self.batches[batch]
                sight.is_ended = False
                for name in (task, *tasks):
                    sight.end_statuses.pop(name, None)
                    sight.asking.discard(name)
                    sight.worth_retrying.discard(name)
            case _:
                pass
