"""What event mapping needs of a record: the state before and after it, and the last published status of each task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Unpack, cast

from plait.client.api_models import Progress, count_progress
from plait.client.event_types import EventFields, EventType, StreamEvent
from plait.client.json_encoding import to_json
from plait.core.decisions import GateStarted, RequestGranted, RequestRefused
from plait.core.events import Event, Record
from plait.core.explain import TaskExplanation, explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.requests import Request, Resume, Unpause
from plait.core.settings import Mode
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import TaskStatus, WaitReason
from plait.core.task import Attempt, Step


class StatusTracker:
    """The last published status of each task; updates cost one task, so progress needs no recount."""

    def __init__(self, batch: BatchState) -> None:
        """Start without a published status. Entrants have events but aren't counted: their task is."""
        self._entrants = {task.index for task in batch.tasks if task.task.entrant is not None}
        size = len(batch.tasks)
        self._last_status: list[tuple[TaskStatus, WaitReason | None] | None] = [None] * size
        self._counts = dict.fromkeys(TaskStatus, 0)

    @classmethod
    def from_state(cls, state: State, batch: BatchState) -> StatusTracker:
        """Make a tracker as if all current statuses had been published."""
        tracker = cls(batch)
        for task in batch.tasks:
            tracker.update(task.index, explain_status(state, batch, task))
        return tracker

    def update(self, index: int, explanation: TaskExplanation) -> bool:
        """Update the status of a task; return whether it changed."""
        before, after = self._last_status[index], (explanation.status, explanation.waiting)
        if before == after:
            return False
        if index not in self._entrants:
            if before is not None:
                self._counts[before[0]] -= 1
            self._counts[explanation.status] += 1
        self._last_status[index] = after
        return True

    def count_progress(self) -> Progress:
        return count_progress(len(self._last_status) - len(self._entrants), self._counts)


@dataclass(frozen=True, slots=True)
class StateBefore:
    """The state before this record."""

    attempt: AttemptState | None = None  # alive
    request: Request | None = None  # unanswered
    open: bool = False
    started: bool = False
    short_of: str | None = None  # what the machine lacks
    status: TaskStatus | None = None
    conflict_files: tuple[str, ...] = ()
    merging: int | None = None
    question: str | None = None
    phase: str = ""
    interrupted: tuple[int, ...] = ()
    publishing: int | None = None
    gate: GateStarted | None = None
    unwritten: bool = False
    predicted_conflicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def find_subject(state: State, event: Event) -> tuple[str | None, str | None]:
    """Return the batch and the task of an event; an answer has those of its request."""
    if isinstance(event, RequestGranted | RequestRefused):
        request = state.unanswered.get(event.request)
        return (None, None) if request is None else find_subject(state, request)
    attempt: Attempt | None = getattr(event, "attempt", None)
    if attempt is not None:
        return attempt.batch, attempt.task
    return getattr(event, "batch", None), getattr(event, "task", None)


def find_live_attempt(state: State, event: Event) -> AttemptState | None:
    """Return the event's attempt, while it is alive."""
    name: Attempt | None = getattr(event, "attempt", None)
    return state.find_attempt(name) if name is not None else None


def capture_state(state: State, event: Event, subject: tuple[str | None, str | None]) -> StateBefore:
    """Capture the state before a record; `subject` is the event's, from `find_subject`."""
    batch_id, task_id = subject
    attempt = find_live_attempt(state, event)
    request = state.unanswered.get(getattr(event, "request", ""))
    batch = state.batches.get(batch_id or "")
    task = batch.find_task(task_id or "") if batch is not None else None
    return StateBefore(
        attempt=attempt,
        request=request,
        open=batch is not None and batch.ended is None,
        started=batch is not None and batch.started_at is not None,
        short_of=find_machine_shortage(state),
        status=task.status if task is not None else None,
        conflict_files=(task.conflict_files or ()) if task is not None else (),
        merging=task.merging if task is not None else None,
        question=attempt.question if attempt is not None else None,
        phase=attempt.phase if attempt is not None else "",
        interrupted=_list_interrupted(batch) if isinstance(request, Unpause | Resume) else (),
        publishing=batch.publishing.n if batch is not None and batch.publishing is not None else None,
        gate=_find_valid_gate(batch),
        unwritten=batch is not None and bool(batch.unwritten),
        predicted_conflicts=dict(task.predicted_conflicts) if task is not None else {},
    )


def _find_valid_gate(batch: BatchState | None) -> GateStarted | None:
    """Return the running gate, unless its result no longer counts."""
    gate = batch.gate if batch is not None else None
    return gate.decision if gate is not None and not gate.stale else None


def _list_interrupted(batch: BatchState | None) -> tuple[int, ...]:
    tasks = batch.tasks if batch is not None else ()
    return tuple(task.index for task in tasks if task.interrupted is not None)


@dataclass(frozen=True, slots=True)
class RecordContext:
    """A record and its context. `tracker` is the batch's, as of before this record."""

    state: State
    record: Record
    before: StateBefore
    batch: BatchState | None
    task: TaskState | None
    tracker: StatusTracker | None

    def make_event(
        self, kind: EventType, task: TaskState | None = None, /, **fields: Unpack[EventFields]
    ) -> StreamEvent:
        """Make an event of this task, or of the batch; `attempt` is the number of the write attempt."""
        batch = self.batch.id if self.batch is not None else None
        name, n = (task.task.id, task.attempt_counts.get(Step.WRITE)) if task is not None else (None, None)
        if task is not None and task.task.entrant is not None:
            fields = {"entrantOf": task.task.entrant, **fields}
        return StreamEvent(self.record.seq, self.record.at, kind, batch, name, n, fields)

    def encode_progress(self) -> Progress | None:
        """Return the counts of the batch, as JSON."""
        return cast("Progress", to_json(self.tracker.count_progress())) if self.tracker is not None else None

    def make_progress_events(
        self, task: TaskState | None = None, /, **extra: Unpack[EventFields]
    ) -> Iterator[StreamEvent]:
        """Yield the counts of the batch, and more."""
        if self.tracker is not None:
            fields = cast("EventFields", {**to_json(self.tracker.count_progress()), **extra})
            yield self.make_event(EventType.BATCH_PROGRESS, task, **fields)

    def update_status(self, task: TaskState) -> None:
        """Record the status that the caller publishes."""
        if self.batch is not None and self.tracker is not None:
            self.tracker.update(task.index, explain_status(self.state, self.batch, task))

    def make_waiting_events(self, indexes: Iterable[int]) -> Iterator[StreamEvent]:
        """Yield events for those of these tasks that are queued or waiting now and weren't before."""
        if self.batch is None or self.tracker is None:
            return
        for index in indexes:
            task = self.batch.tasks[index]
            explanation = explain_status(self.state, self.batch, task)
            if not self.tracker.update(index, explanation):
                continue
            on = explanation.waiting
            if explanation.status is TaskStatus.QUEUED:
                yield self.make_event(EventType.TASK_QUEUED, task, reason=explanation.reason, on=on)
            elif explanation.status is TaskStatus.WAITING:
                yield self.make_event(EventType.TASK_WAITING, task, reason=explanation.reason, on=on)

    def make_queue_head_events(self) -> Iterator[StreamEvent]:
        """Yield events for the next task of a queue, which may now wait for a person."""
        batch = self.batch
        if batch is not None and batch.settings.mode is Mode.QUEUE and not batch.active:
            heads = self.state.start_queue.heads(batch.id)
            first = min(heads, key=lambda entry: entry.key, default=None)
            yield from self.make_waiting_events([first.index] if first is not None else [])


def find_machine_shortage(state: State) -> str | None:
    """Say why the machine takes no more work; None if it does."""
    if state.pressure is not None:
        return state.pressure
    return state.capacity.why if state.capacity is not None and state.capacity.slots == 0 else None
