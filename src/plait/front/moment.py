"""One record at the moment it is folded: what folding forgets is looked at before, what it makes is read after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from plait.core.decisions import GateStarted, RequestGranted, RequestRefused
from plait.core.events import Event as Fact, Record
from plait.core.explain import standing
from plait.core.frozen import dataclass
from plait.core.requests import Request, Resume, Unpause
from plait.core.settings import Mode
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Attempt, Step
from plait.front.book import Book
from plait.front.event import Event, EventType


@dataclass(frozen=True, slots=True)
class Before:
    """What was so until this record."""

    attempt: AttemptState | None = None  # alive
    request: Request | None = None  # unanswered
    open: bool = False
    begun: bool = False
    short_of: str | None = None  # what the machine lacks
    status: TaskStatus | None = None
    clash: tuple[str, ...] = ()
    merging: int | None = None
    question: str | None = None
    phase: str = ""
    interrupted: tuple[int, ...] = ()
    publishing: int | None = None
    gate: GateStarted | None = None
    foreseen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def subject(state: State, fact: Fact) -> tuple[str | None, str | None]:
    """The batch and the task that a fact is about; an answer is about what its request is about."""
    if isinstance(fact, RequestGranted | RequestRefused):
        request = state.unanswered.get(fact.request)
        return (None, None) if request is None else subject(state, request)
    attempt: Attempt | None = getattr(fact, "attempt", None)
    if attempt is not None:
        return attempt.batch, attempt.task
    return getattr(fact, "batch", None), getattr(fact, "task", None)


def alive(state: State, fact: Fact) -> AttemptState | None:
    """The attempt that a fact is about, while it is alive."""
    name: Attempt | None = getattr(fact, "attempt", None)
    return state.find(name) if name is not None else None


def before(state: State, fact: Fact, about: tuple[str | None, str | None]) -> Before:
    """`about` is the fact's subject."""
    batch_id, task_id = about
    attempt = alive(state, fact)
    request = state.unanswered.get(getattr(fact, "request", ""))
    batch = state.batches.get(batch_id or "")
    task = batch.task(task_id or "") if batch is not None else None
    return Before(
        attempt=attempt,
        request=request,
        open=batch is not None and batch.ended is None,
        begun=batch is not None and batch.started_at is not None,
        short_of=short_of(state),
        status=task.status if task is not None else None,
        clash=(task.clash or ()) if task is not None else (),
        merging=task.merging if task is not None else None,
        question=attempt.question if attempt is not None else None,
        phase=attempt.phase if attempt is not None else "",
        interrupted=_interrupted(batch) if isinstance(request, Unpause | Resume) else (),
        publishing=batch.publishing.n if batch is not None and batch.publishing is not None else None,
        gate=_gate(batch),
        foreseen=dict(task.foreseen) if task is not None else {},
    )


def _gate(batch: BatchState | None) -> GateStarted | None:
    """The one that runs, as long as its result means something."""
    gate = batch.gate if batch is not None else None
    return gate.decision if gate is not None and not gate.stale else None


def _interrupted(batch: BatchState | None) -> tuple[int, ...]:
    tasks = batch.tasks if batch is not None else ()
    return tuple(task.place for task in tasks if task.interrupted is not None)


@dataclass(frozen=True, slots=True)
class Moment:
    """`book` is the batch's, as it was told before this record."""

    state: State
    record: Record
    before: Before
    batch: BatchState | None
    task: TaskState | None
    book: Book | None

    def tell(self, kind: EventType, task: TaskState | None = None, /, **more: object) -> Event:
        """An event about this task, or about the batch; its attempt is the writing one's number."""
        batch = self.batch.id if self.batch is not None else None
        name, n = (task.task.id, task.numbers.get(Step.WRITE)) if task is not None else (None, None)
        if task is not None and task.task.entrant is not None:
            more = {"entrantOf": task.task.entrant, **more}
        return Event(self.record.seq, self.record.at, kind, batch, name, n, more)

    def note(self, task: TaskState) -> None:
        """It is told by the caller; keep the counts right."""
        if self.batch is not None and self.book is not None:
            self.book.note(task.place, standing(self.state, self.batch, task))

    def stand(self, places: Iterable[int]) -> Iterator[Event]:
        """Those of these tasks that are now told to be queued or waiting, and were not before."""
        if self.batch is None or self.book is None:
            return
        for place in places:
            task = self.batch.tasks[place]
            stands = standing(self.state, self.batch, task)
            if not self.book.note(place, stands):
                continue
            on = stands.on.value if stands.on else None
            if stands.status is TaskStatus.QUEUED:
                yield self.tell(EventType.TASK_QUEUED, task, reason=stands.reason, on=on)
            elif stands.status is TaskStatus.WAITING:
                yield self.tell(EventType.TASK_WAITING, task, reason=stands.reason, on=on)

    def next_in_queue(self) -> Iterator[Event]:
        """In a queue, who comes next may now wait for a person."""
        batch = self.batch
        if batch is not None and batch.settings.mode is Mode.QUEUE and not batch.active:
            heads = self.state.ready.heads(batch.id)
            first = min(heads, key=lambda entry: entry.key, default=None)
            yield from self.stand([first.ref[1]] if first is not None else [])


def short_of(state: State) -> str | None:
    """Why the machine takes no more work at all; None when it takes some."""
    if state.pressure is not None:
        return state.pressure
    return state.room.why if state.room is not None and state.room.slots == 0 else None
