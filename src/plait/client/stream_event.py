"""Events about batches for people and programs, in one vocabulary for JSON lines and SSE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from plait.client.json_encoding import encode_json, to_iso
from plait.core.fast_dataclass import dataclass


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


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """`seq` is that of its record; None: it isn't in the journal. `batch` None: it concerns all."""

    seq: int | None
    at: float
    type: EventType
    batch: str | None = None
    task: str | None = None
    attempt: int | None = None
    data: Mapping[str, object] = field(default_factory=dict)

    def concerns(self, batch: str) -> bool:
        return self.batch is None or self.batch == batch

    def to_json(self) -> dict[str, object]:
        """`more` never repeats one of the first six keys."""
        return {
            "seq": self.seq,
            "at": to_iso(self.at),
            "type": self.type.value,
            "batchId": self.batch,
            "taskId": self.task,
            "attempt": self.attempt,
            **self.data,
        }


def format_json_line(event: StreamEvent) -> str:
    """One line of JSON, whatever texts are in it."""
    return encode_json(event.to_json()).decode()
