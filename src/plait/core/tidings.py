"""From records to tidings: what of all that happens people want to be told of.

A tiding says what is so: what has passed by the time somebody looks is not told. One cause is told once, however many
records it takes; an entrant of a contest is none of its own, unless it asks for something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from plait.core.decisions import (
    AnswerAwaited,
    AttemptStarted,
    BackoffEnded,
    BatchEnded,
    BatchPaused,
    BatchUnpaused,
    BreakerOpened,
    PhaseOpened,
    RequestGranted,
    RetryGranted,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.events import Record
from plait.core.reports import AttemptAsked, PublishFailed
from plait.core.settings import Mode
from plait.core.state import BatchState, State, TaskState
from plait.core.status import BatchStatus, TaskStatus
from plait.core.tiding import Tiding, TidingKind, plain
from plait.core.tidings_words import ended, lasts, lost

LONGER = 3600.0  # seconds: a limit that lasts so much longer than was told is told again
_LOST = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)
# After these, it may be another task's turn in a queue.
_TURNS = (
    BackoffEnded,
    BatchUnpaused,
    PhaseOpened,
    RequestGranted,
    RetryGranted,
    TaskEnded,
    TaskInterrupted,
)
# The records that tidings can follow from; all others may be left out.
TELLING: tuple[type, ...] = (
    *_TURNS,
    AnswerAwaited,
    AttemptAsked,
    AttemptStarted,
    BatchEnded,
    BatchPaused,
    BreakerOpened,
    PublishFailed,
)


def tidings(state: State, records: Iterable[Record]) -> list[Tiding]:
    """What follows from these records, by the state that has them all."""
    return Tidings().take(state, records)


class Tidings:
    """It knows what it has told, for as long as that lasts: many calls tell no more than one with all records would."""

    def __init__(self) -> None:
        self._questions: dict[tuple[str, str], str] = {}
        self._turns: dict[str, tuple[str, int]] = {}
        self._unpublished: dict[str, int] = {}
        self._limits: dict[str, float] = {}

    def take(self, state: State, records: Iterable[Record]) -> list[Tiding]:
        """`records` are in the state already."""
        records = list(records)
        found = [tiding for record in records for tiding in self._of(state, record)]
        found += self._approvals(state, records)
        last = {(tiding.kind, tiding.batch, tiding.task, tiding.title): tiding for tiding in found}
        return sorted(last.values(), key=lambda tiding: tiding.seq)

    def _of(self, state: State, record: Record) -> Iterator[Tiding]:
        fact = record.event
        match fact:
            case BatchEnded():
                yield from self._batch_ended(state, record, fact)
            case TaskEnded():
                self._questions.pop((fact.batch, fact.task), None)
                yield from self._task_ended(state, record, fact)
            case AttemptStarted():  # whatever the task asked, it was answered
                self._questions.pop((fact.attempt.batch, fact.attempt.task), None)
            case AttemptAsked():
                where = fact.attempt.batch, fact.attempt.task
                yield from self._asked(state, record, where, fact.question)
            case AnswerAwaited():
                yield from self._asked(state, record, (fact.batch, fact.task), fact.question)
            case BatchPaused():
                yield from self._paused(state, record, fact)
            case PublishFailed():
                yield from self._publish_failed(state, record, fact)
            case BreakerOpened():
                yield from self._breaker_opened(state, record, fact)
            case _:
                pass

    def _batch_ended(self, state: State, record: Record, fact: BatchEnded) -> Iterator[Tiding]:
        batch = state.batches.get(fact.batch)
        if batch is None or batch.ended is not fact.status or batch.ended_at != record.at:
            return
        if fact.status is BatchStatus.CANCELLED:
            kind = TidingKind.CANCELLED
        elif fact.status is BatchStatus.COMPLETED and batch.unpublished is None:
            kind = TidingKind.FINISHED
        else:
            kind = TidingKind.FAILED
        yield _tiding(record, kind, ended(batch), batch)

    def _task_ended(self, state: State, record: Record, fact: TaskEnded) -> Iterator[Tiding]:
        batch, task = _find(state, fact.batch, fact.task)
        if batch is None or task is None or task.task.entrant is not None or fact.status not in _LOST:
            return
        if task.status is fact.status and task.ended_at == record.at:
            yield _tiding(record, TidingKind.TASK_FAILED, lost(task), batch, task)

    def _asked(self, state: State, record: Record, where: tuple[str, str], question: str) -> Iterator[Tiding]:
        batch, task = _find(state, *where)
        if batch is None or task is None or not _asks(task, question):
            return
        if self._questions.get(where) != question:
            self._questions[where] = question
            text = f"{plain(question)}\nplait feedback {batch.id} {plain(task.task.id)} TEXT"
            words = f"{task.task.id} asks you", text
            yield _tiding(record, TidingKind.NEEDS_PERSON, words, batch, task)

    def _paused(self, state: State, record: Record, fact: BatchPaused) -> Iterator[Tiding]:
        """What a person pauses is a request, and no such decision."""
        batch = state.batches.get(fact.batch)
        if batch is not None and batch.paused is not None and batch.paused.why == fact.why:
            title = f"batch {batch.id} is paused and needs you"
            yield _tiding(record, TidingKind.NEEDS_PERSON, (title, plain(fact.why)), batch)

    def _publish_failed(self, state: State, record: Record, fact: PublishFailed) -> Iterator[Tiding]:
        """Where the batch has ended over it, its end says so."""
        batch = state.batches.get(fact.batch)
        known = self._unpublished.get(fact.batch, 0)
        self._unpublished[fact.batch] = max(known, fact.n)
        if batch is None or batch.unpublished != fact or fact.n <= known or batch.ended_at == record.at:
            return
        text = "\n".join(filter(None, (plain(fact.why), plain(fact.hint))))
        title = f"batch {batch.id} could not be published"
        yield _tiding(record, TidingKind.UNPUBLISHED, (title, text), batch)

    def _breaker_opened(self, state: State, record: Record, fact: BreakerOpened) -> Iterator[Tiding]:
        """A provider that was tried again and still refuses is no news, unless it takes much longer than was said."""
        breaker = state.breakers.get(fact.provider)
        begins = breaker is not None and breaker.streak <= 1 and breaker.opened_at == record.at
        known = None if begins else self._limits.get(fact.provider)
        if known is not None and fact.until - known <= LONGER:
            return
        self._limits[fact.provider] = fact.until
        if breaker is None or breaker.until != fact.until:
            return
        text = f"{plain(fact.why)}\nnothing is started there for {lasts(fact.until - record.at)}"
        if fact.rejected:
            title, kind = f"{fact.provider} rejects you: log in there, or pay", TidingKind.NEEDS_PERSON
        else:
            title, kind = f"{fact.provider} takes no work for now", TidingKind.LIMIT
        yield Tiding(kind, None, None, plain(title), text, record.at, record.seq, until=fact.until)

    def _approvals(self, state: State, records: Sequence[Record]) -> Iterator[Tiding]:
        """Nothing in the journal says that a task waits for approval: it follows from what comes to an end, here or in
        another batch.
        """
        record = next((record for record in reversed(records) if isinstance(record.event, _TURNS)), None)
        queues = [batch for batch in state.open.values() if batch.settings.mode is Mode.QUEUE]
        for batch in queues if record is not None else ():
            task = _next_in_queue(state, batch)
            if record is None or task is None or self._turns.get(batch.id) == (task.task.id, task.life):
                continue
            self._turns[batch.id] = task.task.id, task.life
            text = "\n".join(filter(None, (plain(task.task.title), f"plait approve {batch.id}")))
            words = f"{task.task.id} waits for your approval", text
            yield _tiding(record, TidingKind.NEEDS_PERSON, words, batch, task)


def _tiding(
    record: Record,
    kind: TidingKind,
    words: tuple[str, str],
    batch: BatchState,
    task: TaskState | None = None,
) -> Tiding:
    title, text = words
    name = task.task.id if task is not None else None
    return Tiding(kind, batch.id, name, plain(title), text, record.at, record.seq)


def _find(state: State, batch: str, task: str) -> tuple[BatchState | None, TaskState | None]:
    found = state.batches.get(batch)
    return found, found.task(task) if found is not None else None


def _asks(task: TaskState, question: str) -> bool:
    alive = (attempt.question for attempt in task.alive.values())
    return task.status is None and question in {task.question, *alive}


def _next_in_queue(state: State, batch: BatchState) -> TaskState | None:
    """The task that would start if only somebody approved it."""
    settings = batch.settings
    if settings.auto_approve or batch.paused is not None or batch.active:
        return None
    head = min(state.ready.heads(batch.id), key=lambda entry: entry.key, default=None)
    task = batch.tasks[head.ref[1]] if head is not None else None
    return None if task is None or task.approved or task.started else task
