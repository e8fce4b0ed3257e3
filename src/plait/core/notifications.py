"""Notifications: from records to what a person should know, wherever they are.

A notification describes the present: what no longer holds is left out. One cause gives one notification, however many
records it takes. Entrants of a contest give none, except for questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from plait.core import decisions
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern
from plait.core.reports import AttemptAsked, PublishFailed
from plait.core.scheduler.batches import describe_merged, find_end_status
from plait.core.scheduler.starts import find_queue_head
from plait.core.settings import Mode, NotificationKind
from plait.core.state import BatchState, State, TaskState
from plait.core.status import BatchStatus, TaskStatus
from plait.core.text import shorten

MAX_NOTIFICATION_LINE_CHARS = 300  # characters of text that plait didn't write

# Control and bidirectional characters; and lone surrogates, which can't be encoded.
_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class Notification:
    """What a person should know. `title` is one line and `text` a few, both without control characters. `batch` None:
    it concerns all; `task` None: no single one. `at` and `seq` are of the record that it follows from. `until`: when it
    passes by itself, where it does.
    """

    kind: NotificationKind
    batch: str | None
    task: str | None
    title: str
    text: str
    at: float
    seq: int
    until: float | None = None

    @property
    def id(self) -> tuple[int, str]:
        """An id that is unique in a journal, except for bundled notifications."""
        return self.seq, self.kind.value


def to_plain_line(text: str) -> str:
    """Put a text on one line without control characters, and shorten it."""
    return shorten(" ".join(_CONTROL.sub(" ", text).split()), MAX_NOTIFICATION_LINE_CHARS)


REPEAT_LIMIT_SECONDS = 3600.0  # a limit that lasts this much longer than notified is notified again


# After these, it may be another task's turn in a queue.
_QUEUE_EVENTS = (
    decisions.BackoffEnded,
    decisions.BatchUnpaused,
    decisions.PhaseOpened,
    decisions.RequestGranted,
    decisions.RetryGranted,
    decisions.TaskEnded,
    decisions.TaskInterrupted,
)

# The records that notifications can follow from; all others may be left out.
NOTIFYING_EVENTS: tuple[type, ...] = (
    *_QUEUE_EVENTS,
    decisions.AnswerAwaited,
    AttemptAsked,
    decisions.AttemptStarted,
    decisions.BatchEnded,
    decisions.BatchPaused,
    decisions.BreakerOpened,
    PublishFailed,
)


class NotificationBuilder:
    """Makes notifications from records, the same from many calls as from one call with all records."""

    def __init__(self) -> None:
        self._questions: dict[tuple[str, str], str] = {}
        self._approvals: dict[str, tuple[str, int]] = {}
        self._unpublished: dict[str, int] = {}
        self._limits: dict[str, float] = {}

    def add(self, state: State, records: Iterable[Record]) -> list[Notification]:
        """Return the notifications that follow from `records`, which `state` includes already."""
        records = list(records)
        notifications = [notification for record in records for notification in self._notify_record(state, record)]
        notifications += self._notify_approvals(state, records)
        last = {
            (notification.kind, notification.batch, notification.task, notification.title): notification
            for notification in notifications
        }
        return sorted(last.values(), key=lambda notification: notification.seq)

    def _notify_record(self, state: State, record: Record) -> Iterator[Notification]:
        fact = record.event
        match fact:
            case decisions.BatchEnded():
                yield from self._notify_batch_end(state, record, fact)
            case decisions.TaskEnded():
                self._questions.pop((fact.batch, fact.task), None)
                yield from self._notify_task_end(state, record, fact)
            case decisions.AttemptStarted():  # its question was answered
                self._questions.pop((fact.attempt.batch, fact.attempt.task), None)
            case AttemptAsked():
                task_key = fact.attempt.batch, fact.attempt.task
                yield from self._notify_question(state, record, task_key, fact.question)
            case decisions.AnswerAwaited():
                yield from self._notify_question(state, record, (fact.batch, fact.task), fact.question)
            case decisions.BatchPaused():
                yield from self._notify_pause(state, record, fact)
            case PublishFailed():
                yield from self._notify_publish_failure(state, record, fact)
            case decisions.BreakerOpened():
                yield from self._notify_breaker(state, record, fact)
            case _:
                pass

    def _notify_batch_end(self, state: State, record: Record, fact: decisions.BatchEnded) -> Iterator[Notification]:
        batch = state.batches.get(fact.batch)
        if batch is None or batch.ended is not fact.status or batch.ended_at != record.at:
            return
        if fact.status is BatchStatus.CANCELLED:
            kind = NotificationKind.CANCELLED
        elif fact.status is BatchStatus.COMPLETED and batch.publish_failure is None:
            kind = NotificationKind.FINISHED
        else:
            kind = NotificationKind.FAILED
        yield _make_notification(record, kind, describe_batch_end(batch), batch)

    def _notify_task_end(self, state: State, record: Record, fact: decisions.TaskEnded) -> Iterator[Notification]:
        batch, task = state.find_task(fact.batch, fact.task)
        if batch is None or task is None or task.task.entrant is not None or not fact.status.is_failure:
            return
        if task.status is fact.status and task.ended_at == record.at:
            yield _make_notification(record, NotificationKind.TASK_FAILED, describe_task_failure(task), batch, task)

    def _notify_question(
        self, state: State, record: Record, task_key: tuple[str, str], question: str
    ) -> Iterator[Notification]:
        batch, task = state.find_task(*task_key)
        if batch is None or task is None or not _is_asking(task, question):
            return
        if self._questions.get(task_key) != question:
            self._questions[task_key] = question
            text = f"{to_plain_line(question)}\nplait feedback {batch.id} {to_plain_line(task.task.id)} TEXT"
            words = f"{task.task.id} needs an answer", text
            yield _make_notification(record, NotificationKind.NEEDS_PERSON, words, batch, task)

    def _notify_pause(self, state: State, record: Record, fact: decisions.BatchPaused) -> Iterator[Notification]:
        """Notify of a pause that plait decided: a pause by a person is a request, not this decision."""
        batch = state.batches.get(fact.batch)
        if batch is not None and batch.paused is not None and batch.paused.why == fact.why:
            title = f"batch {batch.id} is paused and needs attention"
            yield _make_notification(record, NotificationKind.NEEDS_PERSON, (title, to_plain_line(fact.why)), batch)

    def _notify_publish_failure(self, state: State, record: Record, fact: PublishFailed) -> Iterator[Notification]:
        """Notify of a failed publish, unless the batch ended with it: the notification about the end says so."""
        batch = state.batches.get(fact.batch)
        known = self._unpublished.get(fact.batch, 0)
        self._unpublished[fact.batch] = max(known, fact.n)
        if batch is None or batch.publish_failure != fact or fact.n <= known or batch.ended_at == record.at:
            return
        text = "\n".join(filter(None, (to_plain_line(fact.why), to_plain_line(fact.hint))))
        title = f"batch {batch.id} could not be published"
        yield _make_notification(record, NotificationKind.UNPUBLISHED, (title, text), batch)

    def _notify_breaker(self, state: State, record: Record, fact: decisions.BreakerOpened) -> Iterator[Notification]:
        """Notify of a provider that refuses; again only if it takes much longer than announced."""
        breaker = state.breakers.get(fact.provider)
        begins = breaker is not None and breaker.streak <= 1 and breaker.opened_at == record.at
        known = None if begins else self._limits.get(fact.provider)
        if known is not None and fact.until - known <= REPEAT_LIMIT_SECONDS:
            return
        self._limits[fact.provider] = fact.until
        if breaker is None or breaker.until != fact.until:
            return
        text = f"{to_plain_line(fact.why)}\nno attempt starts with it for {round_duration(fact.until - record.at)}"
        if fact.rejected:
            kind, title = NotificationKind.NEEDS_PERSON, "rejected the credentials: log in or check billing"
        else:
            kind, title = NotificationKind.LIMIT, "is rate-limited"
        title = to_plain_line(f"{fact.provider} {title}")
        yield Notification(kind, None, None, title, text, record.at, record.seq, until=fact.until)

    def _notify_approvals(self, state: State, records: Sequence[Record]) -> Iterator[Notification]:
        """Notify of tasks that wait for approval. No record says so: it follows from the end of other tasks, also in
        other batches.
        """
        record = next((record for record in reversed(records) if isinstance(record.event, _QUEUE_EVENTS)), None)
        queues = [batch for batch in state.open.values() if batch.settings.mode is Mode.QUEUE]
        for batch in queues if record is not None else ():
            task = _find_task_to_approve(state, batch)
            if record is None or task is None or self._approvals.get(batch.id) == (task.task.id, task.generation):
                continue
            self._approvals[batch.id] = task.task.id, task.generation
            text = "\n".join(filter(None, (to_plain_line(task.task.title), f"plait approve {batch.id}")))
            words = f"{task.task.id} needs approval", text
            yield _make_notification(record, NotificationKind.NEEDS_PERSON, words, batch, task)


def _make_notification(
    record: Record,
    kind: NotificationKind,
    words: tuple[str, str],
    batch: BatchState,
    task: TaskState | None = None,
) -> Notification:
    title, text = words
    name = task.task.id if task is not None else None
    return Notification(kind, batch.id, name, to_plain_line(title), text, record.at, record.seq)


def _is_asking(task: TaskState, question: str) -> bool:
    alive = (attempt.question for attempt in task.alive.values())
    return task.status is None and question in {task.question, *alive}


def _find_task_to_approve(state: State, batch: BatchState) -> TaskState | None:
    """Return the task that would start if it were approved."""
    settings = batch.settings
    if settings.auto_approve or batch.paused is not None or batch.active:
        return None
    task = find_queue_head(state, batch)
    return None if task is None or task.approved or task.holds_locks else task


MAX_TASKS_NAMED = 5  # tasks of a batch that ended badly
MAX_BUNDLE_LINES = 10  # lines of a bundle
_MINUTE_SECONDS, _HOUR_SECONDS, _DAY_SECONDS = 60, 3600, 86_400
_BUNDLE_TITLES = {
    NotificationKind.FINISHED: "batches are done",
    NotificationKind.FAILED: "batches have ended with tasks not done",
    NotificationKind.CANCELLED: "batches were cancelled",
    NotificationKind.TASK_FAILED: "tasks have failed",
    NotificationKind.NEEDS_PERSON: "tasks need attention",
    NotificationKind.LIMIT: "providers are rate-limited",
    NotificationKind.UNPUBLISHED: "batches could not be published",
}


def describe_batch_end(batch: BatchState) -> tuple[str, str]:
    """Return the title and text for a batch's end."""
    requested = [task for task in batch.tasks if task.task.entrant is None]
    unfinished = sum(task.status is not TaskStatus.DONE for task in requested)
    if batch.ended is BatchStatus.CANCELLED:
        title = f"batch {batch.id} was cancelled"
    elif batch.ended is BatchStatus.COMPLETED:
        title = f"batch {batch.id} is done" + (" and not published" if batch.publish_failure else "")
    elif find_end_status(batch) is BatchStatus.PARTIAL:
        title = f"batch {batch.id} is partial: {describe_merged(batch)}"
    else:
        title = f"batch {batch.id} has ended, {unfinished} of {len(requested)} tasks not done"
    bad = [
        f"{task.task.id} {task.status.label}: {task.reason}"
        for task in requested
        if task.status is not None and task.status.is_failure
    ]
    url = batch.published.url if batch.published is not None else ""
    return title, "\n".join(map(to_plain_line, filter(None, (batch.reason, url, *_limit_lines(bad, MAX_TASKS_NAMED)))))


def describe_task_failure(task: TaskState) -> tuple[str, str]:
    status = task.status.label if task.status is not None else ""
    name, title = task.task.id, task.task.title
    named = f"{name} ({title})" if title and title != name else name
    return f"{named} {'has ' if status == 'failed' else ''}{status}", to_plain_line(task.reason)


def round_duration(seconds: float) -> str:
    """Format a duration for people, rounded."""
    if seconds < 2 * _MINUTE_SECONDS:
        return f"{max(1, round(seconds))} s"
    if seconds < 2 * _HOUR_SECONDS:
        return f"{round(seconds / _MINUTE_SECONDS)} min"
    return (
        f"{round(seconds / _HOUR_SECONDS)} h" if seconds < 2 * _DAY_SECONDS else f"{round(seconds / _DAY_SECONDS)} days"
    )


def group_by_kind(notifications: Sequence[Notification]) -> list[tuple[Notification, ...]]:
    """Group notifications by kind, so that each group fits into one message."""
    groups: dict[NotificationKind, list[Notification]] = {}
    for each in notifications:
        groups.setdefault(each.kind, []).append(each)
    return sorted((tuple(each) for each in groups.values()), key=lambda each: each[-1].seq)


def bundle_notifications(bundle: Sequence[Notification]) -> Notification:
    """Make one notification for all of these, which are of one kind; it takes the place of the last."""
    last = bundle[-1]
    if len(bundle) == 1:
        return last
    batches = {notification.batch for notification in bundle}
    batch = last.batch if len(batches) == 1 else None
    where = f" in batch {batch}" if batch is not None else ""
    lines = [
        ": ".join(filter(None, (notification.title, notification.text.partition("\n")[0]))) for notification in bundle
    ]
    return Notification(
        last.kind,
        batch,
        last.task if len({(notification.batch, notification.task) for notification in bundle}) == 1 else None,
        f"{len(bundle)} {_BUNDLE_TITLES[last.kind]}{where}",
        "\n".join(_limit_lines(lines, MAX_BUNDLE_LINES)),
        last.at,
        last.seq,
        last.until,
    )


def _limit_lines(lines: Sequence[str], limit: int) -> list[str]:
    rest = [f"and {len(lines) - limit} more"] if len(lines) > limit else []
    return [*lines[:limit], *rest]
