"""The book of one batch: where each of its tasks was last told to be.

One record at the moment it is folded: what folding forgets is looked at before, what it makes is read after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from plait.client.json_encoding import progress_json
from plait.client.stream_event import EventType, StreamEvent
from plait.core.decisions import GateStarted, RequestGranted, RequestRefused
from plait.core.events import Event as Fact, Record
from plait.core.explain import TaskExplanation, explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.requests import Request, Resume, Unpause
from plait.core.settings import Mode
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import TaskStatus, Waiting
from plait.core.task import Attempt, Step


class StatusTracker:
    """What is noted here costs one task at a time, so that progress can be told without a recount."""

    def __init__(self, batch: BatchState) -> None:
        """Nothing of it was told yet. Entrants are told of, and not counted: their task is."""
        self._entrants = {task.place for task in batch.tasks if task.task.entrant is not None}
        size = len(batch.tasks)
        self._last_status: list[tuple[TaskStatus, Waiting | None] | None] = [None] * size
        self._counts = dict.fromkeys(TaskStatus, 0)

    @classmethod
    def from_state(cls, state: State, batch: BatchState) -> StatusTracker:
        """As if everything had been told up to now."""
        book = cls(batch)
        for task in batch.tasks:
            book.update(task.place, explain_status(state, batch, task))
        return book

    def update(self, place: int, stands: TaskExplanation) -> bool:
        """Whether that is news."""
        before, after = self._last_status[place], (stands.status, stands.waiting)
        if before == after:
            return False
        if place not in self._entrants:
            if before is not None:
                self._counts[before[0]] -= 1
            self._counts[stands.status] += 1
        self._last_status[place] = after
        return True

    def progress(self) -> dict[str, int]:
        return progress_json(len(self._last_status) - len(self._entrants), self._counts)


@dataclass(frozen=True, slots=True)
class StateBefore:
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


def find_subject(state: State, fact: Fact) -> tuple[str | None, str | None]:
    """The batch and the task that a fact is about; an answer is about what its request is about."""
    if isinstance(fact, RequestGranted | RequestRefused):
        request = state.unanswered.get(fact.request)
        return (None, None) if request is None else find_subject(state, request)
    attempt: Attempt | None = getattr(fact, "attempt", None)
    if attempt is not None:
        return attempt.batch, attempt.task
    return getattr(fact, "batch", None), getattr(fact, "task", None)


def find_live_attempt(state: State, fact: Fact) -> AttemptState | None:
    """The attempt that a fact is about, while it is alive."""
    name: Attempt | None = getattr(fact, "attempt", None)
    return state.find_attempt(name) if name is not None else None


def capture_state(state: State, fact: Fact, subject: tuple[str | None, str | None]) -> StateBefore:
    """`about` is the fact's subject."""
    batch_id, task_id = subject
    attempt = find_live_attempt(state, fact)
    request = state.unanswered.get(getattr(fact, "request", ""))
    batch = state.batches.get(batch_id or "")
    task = batch.find_task(task_id or "") if batch is not None else None
    return StateBefore(
        attempt=attempt,
        request=request,
        open=batch is not None and batch.ended is None,
        begun=batch is not None and batch.started_at is not None,
        short_of=find_machine_shortage(state),
        status=task.status if task is not None else None,
        clash=(task.conflict_files or ()) if task is not None else (),
        merging=task.merging if task is not None else None,
        question=attempt.question if attempt is not None else None,
        phase=attempt.phase if attempt is not None else "",
        interrupted=_list_interrupted(batch) if isinstance(request, Unpause | Resume) else (),
        publishing=batch.publishing.n if batch is not None and batch.publishing is not None else None,
        gate=_find_valid_gate(batch),
        foreseen=dict(task.predicted_conflicts) if task is not None else {},
    )


def _find_valid_gate(batch: BatchState | None) -> GateStarted | None:
    """The one that runs, as long as its result means something."""
    gate = batch.gate if batch is not None else None
    return gate.decision if gate is not None and not gate.stale else None


def _list_interrupted(batch: BatchState | None) -> tuple[int, ...]:
    tasks = batch.tasks if batch is not None else ()
    return tuple(task.place for task in tasks if task.interrupted is not None)


@dataclass(frozen=True, slots=True)
class RecordContext:
    """`book` is the batch's, as it was told before this record."""

    state: State
    record: Record
    before: StateBefore
    batch: BatchState | None
    task: TaskState | None
    tracker: StatusTracker | None

    def make_event(self, kind: EventType, task: TaskState | None = None, /, **more: object) -> StreamEvent:
        """An event about this task, or about the batch; its attempt is the writing one's number."""
        batch = self.batch.id if self.batch is not None else None
        name, n = (task.task.id, task.attempt_counts.get(Step.WRITE)) if task is not None else (None, None)
        if task is not None and task.task.entrant is not None:
            more = {"entrantOf": task.task.entrant, **more}
        return StreamEvent(self.record.seq, self.record.at, kind, batch, name, n, more)

    def update_status(self, task: TaskState) -> None:
        """It is told by the caller; keep the counts right."""
        if self.batch is not None and self.tracker is not None:
            self.tracker.update(task.place, explain_status(self.state, self.batch, task))

    def make_waiting_events(self, places: Iterable[int]) -> Iterator[StreamEvent]:
        """Those of these tasks that are now told to be queued or waiting, and were not before."""
        if self.batch is None or self.tracker is None:
            return
        for place in places:
            task = self.batch.tasks[place]
            stands = explain_status(self.state, self.batch, task)
            if not self.tracker.update(place, stands):
                continue
            on = stands.waiting.value if stands.waiting else None
            if stands.status is TaskStatus.QUEUED:
                yield self.make_event(EventType.TASK_QUEUED, task, reason=stands.reason, on=on)
            elif stands.status is TaskStatus.WAITING:
                yield self.make_event(EventType.TASK_WAITING, task, reason=stands.reason, on=on)

    def make_queue_head_events(self) -> Iterator[StreamEvent]:
        """In a queue, who comes next may now wait for a person."""
        batch = self.batch
        if batch is not None and batch.settings.mode is Mode.QUEUE and not batch.active:
            heads = self.state.start_queue.heads(batch.id)
            first = min(heads, key=lambda entry: entry.key, default=None)
            yield from self.make_waiting_events([first.place] if first is not None else [])


def find_machine_shortage(state: State) -> str | None:
    """Why the machine takes no more work at all; None when it takes some."""
    if state.pressure is not None:
        return state.pressure
    return state.capacity.why if state.capacity is not None and state.capacity.slots == 0 else None
