"""What people said and asked about a task, and the feedback that its agent got beyond the task."""

from __future__ import annotations

import re
from dataclasses import field
from enum import StrEnum

from plait.core import decisions as d, reports as r, requests as q
from plait.core.events import Event
from plait.core.fast_dataclass import dataclass
from plait.core.status import Category, TaskStatus
from plait.core.task import Step

# The first line of comments on a diff, as the page (ui/src/diff/feedback.ts) writes them.
_REVIEW_HEAD = re.compile(r"(?:A comment|\d+ comments) on the changes\b")


class FeedbackSource(StrEnum):
    """The source of feedback. `answer`: a person's, to the agent's question. `review`: comments on its diff. `plait`:
    what plait itself says.
    """

    PERSON = "person"
    ANSWER = "answer"
    REVIEW = "review"
    CHECK = "check"
    CONFLICT = "conflict"
    PLAIT = "plait"


@dataclass(frozen=True, slots=True)
class FeedbackPart:
    """A text for the agent's next attempt, since `at`."""

    at: float
    source: FeedbackSource
    text: str


class EntryKind(StrEnum):
    """The kind of an entry. `retry` is a person's request, `retried` plait's own retry. `feedback` waits for the next
    attempt. `rebuild` made its commit again.
    """

    ATTEMPT = "attempt"
    GATE = "gate"
    MERGE = "merge"
    REBUILD = "rebuild"
    PUBLISH = "publish"
    FEEDBACK = "feedback"
    QUESTION = "question"
    APPROVE = "approve"
    RETRY = "retry"
    RECHECK = "recheck"
    RESOLVE = "resolve"
    CANCEL = "cancel"
    DROP = "drop"
    RETRIED = "retried"
    INTERRUPTED = "interrupted"
    CONFLICT = "conflict"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class TaskNote:
    """A request of a person, a question to one, or a step of plait that is no attempt. `status` is that of a task that ended,
    also of one that is retried.
    """

    at: float
    kind: EntryKind
    text: str = ""
    files: tuple[str, ...] = ()
    status: TaskStatus | None = None


def find_person_source(text: str, *, asked: bool) -> FeedbackSource:
    """Return the source of a person's text; `asked`: the task had a question."""
    if asked:
        return FeedbackSource.ANSWER
    return FeedbackSource.REVIEW if _REVIEW_HEAD.match(text) else FeedbackSource.PERSON


def find_retry_source(category: Category) -> FeedbackSource:
    """Return the source of the feedback that plait gives the agent when it retries a task for this reason."""
    match category:
        case Category.CONFLICT:
            return FeedbackSource.CONFLICT
        case Category.LOST:
            return FeedbackSource.PLAIT
        case _:
            return FeedbackSource.CHECK


@dataclass(slots=True)
class TaskNotes:
    """The notes of one task. `feedback` is what its agent gets next, and again until an attempt succeeds; the first
    `delivered` parts were given to an attempt.
    """

    notes: list[TaskNote] = field(default_factory=list)
    feedback: list[FeedbackPart] = field(default_factory=list)
    delivered: int = 0
    question: str = ""

    def list_waiting(self) -> list[FeedbackPart]:
        return self.feedback[self.delivered :]

    def add(self, at: float, kind: EntryKind, text: str = "", files: tuple[str, ...] = ()) -> None:
        self.notes.append(TaskNote(at, kind, text, files))

    def ask(self, at: float, question: str) -> None:
        """Add an agent's question, which is reported when it asks, and again when its attempt has ended."""
        if question != self.question:
            self.question = question
            self.add(at, EntryKind.QUESTION, question)

    def add_feedback(self, part: FeedbackPart) -> None:
        """Add feedback, unless earlier feedback contains the same text; as in the core."""
        if all(part.text not in known.text for known in self.feedback):
            self.feedback.append(part)

    def deliver(self, at: float, feedback: str) -> tuple[FeedbackPart, ...]:
        """Note that an attempt gets this feedback, and return its parts."""
        self.delivered, self.question = len(self.feedback), ""
        told = tuple(part for part in self.feedback if part.text in feedback)
        return told or ((FeedbackPart(at, FeedbackSource.PLAIT, feedback),) if feedback else ())

    def clear_feedback(self) -> None:
        self.feedback.clear()
        self.delivered, self.question = 0, ""

    def apply_request(self, at: float, request: q.Request) -> None:
        match request:
            case q.Approve():
                self.add(at, EntryKind.APPROVE)
            case q.CancelTask():
                self.add(at, EntryKind.CANCEL)
            case q.Drop():
                self.add(at, EntryKind.DROP)
            case q.Retry():
                ended = next((note for note in reversed(self.notes) if note.kind is EntryKind.ENDED), None)
                status = ended.status if ended is not None else None
                self.notes.append(TaskNote(at, EntryKind.RETRY, request.agent or "", status=status))
            case q.Recheck():
                self.add(at, EntryKind.RECHECK)
            case q.Feedback():
                source = find_person_source(request.text, asked=self.question != "")
                self.add_feedback(FeedbackPart(at, source, request.text))
                self.question = ""
            case _:
                pass


@dataclass(slots=True)
class BatchNotes:
    """The notes of a batch's tasks."""

    tasks: dict[str, TaskNotes] = field(default_factory=dict)

    def get(self, task: str) -> TaskNotes:
        if task not in self.tasks:
            self.tasks[task] = TaskNotes()
        return self.tasks[task]

    def apply(self, at: float, event: Event, request: q.Request | None) -> None:
        """Add what an event says; `request` is the one that it answers."""
        match event:
            case d.RequestGranted() if isinstance(request, q.Approve):
                for name in event.tasks:
                    self.get(name).apply_request(at, request)
            case d.RequestGranted() if isinstance(request, q.TaskRequest):
                self.get(request.task).apply_request(at, request)
            case d.StepPassed() if event.attempt.step is Step.WRITE:
                self.get(event.attempt.task).clear_feedback()
            case r.AttemptAsked():
                self.get(event.attempt.task).ask(at, event.question)
            case d.AnswerAwaited():
                self.get(event.task).ask(at, event.question)
            case r.RebuildDone():
                for conflict in event.clashes:
                    self.get(conflict.task).add(at, EntryKind.CONFLICT, files=conflict.files)
            case d.RetryGranted() | d.TaskInterrupted() | d.TaskEnded():
                self._apply_task_decision(at, event)
            case _:
                pass

    def _apply_task_decision(self, at: float, event: d.RetryGranted | d.TaskInterrupted | d.TaskEnded) -> None:
        task = self.get(event.task)
        match event:
            case d.RetryGranted() if event.feedback:
                task.add_feedback(FeedbackPart(at, find_retry_source(event.category), event.feedback))
            case d.RetryGranted():
                task.add(at, EntryKind.RETRIED, event.why)
            case d.TaskInterrupted():
                task.add(at, EntryKind.INTERRUPTED, event.reason)
            case d.TaskEnded():
                task.clear_feedback()
                task.notes.append(TaskNote(at, EntryKind.ENDED, event.reason, status=event.status))
