"""What somebody sees who reads the journal: enough to ask for something sensible, or to know that all is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

from plait.core.decisions import (
    AnswerAwaited,
    AttemptStarted,
    BatchEnded,
    BatchPaused,
    BatchUnpaused,
    RequestGranted,
    RequestRefused,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.events import Record
from plait.core.reports import AttemptExited, AttemptLost
from plait.core.requests import (
    ChangeSettings,
    Drop,
    Feedback,
    Pause,
    Request,
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
class Sight:
    """One batch, as far as it can be seen from outside."""

    tasks: tuple[str, ...]
    settings: Settings
    ended: bool = False
    held: set[str] = field(default_factory=set)  # by whom or what: a person, a stop, the budget, the gate
    running: set[str] = field(default_factory=set)
    over: dict[str, TaskStatus] = field(default_factory=dict)
    asking: set[str] = field(default_factory=set)
    unmerged: set[str] = field(default_factory=set)  # they failed because merging went wrong

    @property
    def queue(self) -> bool:
        return self.settings.mode is Mode.QUEUE and not self.settings.auto_approve


class Onlooker:
    def __init__(self) -> None:
        self.batches: dict[str, Sight] = {}
        self.over: list[Attempt] = []  # whose end the journal tells
        self._asked: dict[str, Request] = {}

    @property
    def unanswered(self) -> bool:
        """Somebody's request is in the journal, and its answer is not."""
        return bool(self._asked)

    def see(self, record: Record) -> None:
        event = record.event
        match event:
            case RequestGranted(request, tasks):
                self._granted(self._asked.pop(request), tasks)
            case RequestRefused(request):
                del self._asked[request]
            case AttemptExited(attempt) | AttemptLost(attempt):
                self.over.append(attempt)
            case AttemptStarted(attempt):
                self.batches[attempt.batch].running.add(attempt.task)
            case TaskEnded() | AnswerAwaited() | TaskInterrupted():
                self._about_task(self.batches[event.batch], event)
            case BatchPaused() | BatchUnpaused() | BatchEnded():
                self._about_batch(self.batches[event.batch], event)
            case _ if isinstance(event, get_args(Request)):
                self._asked[event.id] = event
            case _:
                pass

    def _about_task(self, sight: Sight, event: TaskEnded | AnswerAwaited | TaskInterrupted) -> None:
        sight.running.discard(event.task)
        match event:
            case TaskEnded(_, task, status):
                sight.over[task] = status
                sight.asking.discard(task)
                sight.unmerged.discard(task)
                if event.category is Category.MERGE:
                    sight.unmerged.add(task)
            case AnswerAwaited(_, task):
                sight.asking.add(task)
            case TaskInterrupted():
                sight.held.add(PauseCause.STOP)

    def _about_batch(self, sight: Sight, event: BatchPaused | BatchUnpaused | BatchEnded) -> None:
        match event:
            case BatchPaused(_, cause):
                sight.held.add(cause)
            case BatchUnpaused():
                sight.held.clear()
            case BatchEnded():
                sight.ended = True
                sight.held.clear()

    def _granted(self, request: Request, tasks: tuple[str, ...]) -> None:
        match request:
            case Submit(_, batch, plan, settings):
                self.batches[batch] = Sight(tuple(task.id for task in plan.tasks), settings)
            case ChangeSettings(_, batch, settings, fields):
                sight = self.batches[batch]
                sight.settings = sight.settings.with_fields(settings, fields)
            case Pause(_, batch):
                self.batches[batch].held.add(PauseCause.PERSON)
            case Stop(_, batch):
                self.batches[batch].held.add(PauseCause.STOP)
            case Unpause(_, batch) | Resume(_, batch):
                self.batches[batch].held.clear()
            case Retry(_, batch, task) | Feedback(_, batch, task) | Drop(_, batch, task):
                sight = self.batches[batch]
                sight.ended = False
                for name in (task, *tasks):
                    sight.over.pop(name, None)
                    sight.asking.discard(name)
                    sight.unmerged.discard(name)
            case _:
                pass
