"""The types and fields of a batch's events, the same in JSON lines and in the event stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum
from typing import Literal, Required, TypedDict, cast

from plait.client.api_models import Progress
from plait.client.json_encoding import Json, encode_plain, to_iso
from plait.core.ballot import BallotResult
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Mode, Publish
from plait.core.status import BatchStatus, Category, PauseCause, WaitReason
from plait.core.task import Attempt, Step


class EventType(StrEnum):
    """All types of events. The values are public."""

    BATCH_CREATED = "batch:created"
    BATCH_STARTED = "batch:started"
    BATCH_PROGRESS = "batch:progress"
    BATCH_PAUSED = "batch:paused"
    BATCH_UNPAUSED = "batch:unpaused"
    BATCH_MERGING = "batch:merging"
    BATCH_GATING = "batch:gating"
    BATCH_COMPLETED = "batch:completed"
    BATCH_FAILED = "batch:failed"
    BATCH_CANCELLED = "batch:cancelled"
    BATCH_JOBS = "batch:jobs"
    BATCH_CONTEST = "batch:contest"
    TASK_QUEUED = "batch:task:queued"
    TASK_WAITING = "batch:task:waiting"
    TASK_STARTED = "batch:task:started"
    TASK_PHASE = "batch:task:phase"
    TASK_NEEDS_INPUT = "batch:task:needs_input"
    TASK_VERIFYING = "batch:task:verifying"
    TASK_VERIFIED = "batch:task:verified"
    TASK_MERGED = "batch:task:merged"
    TASK_CONFLICTED = "batch:task:conflicted"
    TASK_COMPLETED = "batch:task:completed"
    TASK_FAILED = "batch:task:failed"
    TASK_TIMED_OUT = "batch:task:timed_out"
    TASK_BLOCKED = "batch:task:blocked"
    TASK_SKIPPED = "batch:task:skipped"
    TASK_CANCELLED = "batch:task:cancelled"
    TASK_INTERRUPTED = "batch:task:interrupted"
    TASK_RETRY = "batch:task:retry"
    LIMIT_OPENED = "limit:opened"
    LIMIT_CLOSED = "limit:closed"
    ENGINE_TAKEN = "engine:taken"
    ENGINE_RELEASED = "engine:released"
    EXECUTION_LOG = "execution:log"


class LogEntry(TypedDict, total=False):
    """A line of agent output (`text`), or how much was left out (`bytes`)."""

    kind: Required[Literal["activity", "skipped"]]
    text: str
    bytes: int


class OutputEntry(TypedDict):
    """A line as it was printed, in `logs --json`."""

    kind: Literal["output"]
    text: str


class GateProgress(TypedDict, total=False):
    gate: int
    commit: str
    merges: int
    result: Literal["passed", "failed", "lost"]
    error: str
    suspects: Sequence[str]


class CommonEventFields(TypedDict, total=False):
    """Fields that the OpenAPI document names, in their JSON names; which event has which is in docs/events.md."""

    agent: str | None
    by: str | None
    category: Category | None
    cause: PauseCause | None
    commit: str | None
    conflictsWith: str | None
    counted: bool | None
    entrantOf: str | None
    entry: LogEntry | None
    error: str | None
    files: Sequence[str] | None
    hint: str | None
    offset: int | None
    on: WaitReason | None
    percentage: int | None
    phase: str | None
    progress: Progress | None
    prUrl: str | None
    provider: str | None
    publishing: Literal["started", "waiting", "done", "failed"] | None
    question: str | None
    reason: str | None
    retryAt: str | None
    status: BatchStatus | None
    step: Step | None
    title: str | None
    until: str | None
    unwritten: str | None
    why: str | None


class ProgressFields(TypedDict, total=False):
    """The fields of `Progress`, which a progress event has besides its own."""

    total: int
    queued: int
    waiting: int
    running: int
    completed: int
    failed: int
    timedOut: int
    blocked: int
    conflicted: int
    skipped: int
    cancelled: int
    interrupted: int


class EventFields(CommonEventFields, ProgressFields, total=False):
    """All fields of events, including those of single event types."""

    again: bool
    gate: int
    merges: int
    branch: str | None
    command: str | None
    entrants: Sequence[Json]
    gating: GateProgress
    host: str
    jobs: Sequence[Json]
    mode: Mode
    passed: int
    pid: int
    processed: int
    publish: Publish
    result: BallotResult | None
    sources: Sequence[str]
    summary: str | None
    tasks: Sequence[Json]
    version: str
    votes: Sequence[Json]
    without: Sequence[str]


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event. `seq` is that of its record; None: it isn't in the journal. `batch` None: it concerns all."""

    seq: int | None
    at: float
    type: EventType
    batch: str | None = None
    task: str | None = None
    attempt: int | None = None
    data: EventFields = field(default_factory=EventFields)

    def concerns(self, batch: str) -> bool:
        return self.batch is None or self.batch == batch

    def to_json(self) -> Json:
        """Return the event as JSON; `data` never repeats the first six keys."""
        return {
            "seq": self.seq,
            "at": to_iso(self.at),
            "type": self.type.value,
            "batchId": self.batch,
            "taskId": self.task,
            "attempt": self.attempt,
            **self.data,
        }


def make_log_event(attempt: Attempt, at: float, offset: int, entry: LogEntry | OutputEntry) -> StreamEvent:
    """Make an event for agent output. It isn't in the journal; a client that missed some reads it by offset."""
    step = cast("Step", "gate") if attempt.is_gate else attempt.step
    data: EventFields = {"step": step, "offset": offset, "entry": cast("LogEntry", entry)}
    return StreamEvent(None, at, EventType.EXECUTION_LOG, attempt.batch, attempt.task or None, attempt.n, data)


def format_json_line(event: StreamEvent) -> str:
    """Format an event as one line of JSON, whatever texts are in it."""
    return encode_plain(event.to_json()).decode()
