"""A message: a tiding on its way, and who gets it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Protocol
from uuid import uuid4

from plait.core.fast_dataclass import dataclass
from plait.core.notifications__tiding import Notification

TEST_TYPE = "test"
_MAX_TIMESTAMP = 253_402_300_799.0  # of the year 9999: what lies beyond can't be written


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    """`type` is the tiding's kind, or `test`. `delivery` is the same however often it is sent."""

    type: str
    title: str
    text: str
    batch: str | None
    task: str | None
    at: float
    until: float | None
    seq: int | None
    project: str
    delivery: str

    def body(self) -> bytes:
        """JSON in ASCII: whatever a task is called, it can be sent."""
        told = {
            "type": self.type,
            "title": self.title,
            "text": self.text,
            "batchId": self.batch,
            "taskId": self.task,
            "at": _format_time(self.at),
            "until": None if self.until is None else _format_time(self.until),
            "seq": self.seq,
            "project": self.project,
        }
        return json.dumps(told).encode("ascii")


class DeliveryError(Exception):  # noqa: N818 - an answer, which becomes a line in the log or in a table
    """Why somebody was not told, without anything secret. `again`: it may be otherwise in a moment."""

    def __init__(self, message: str, *, hint: str = "", is_retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.is_retryable = is_retryable


class NotificationChannel(Protocol):
    @property
    def name(self) -> str:
        """What anybody may see of the address."""

    @property
    def key(self) -> str:
        """It tells this one from all others, and tells nothing about it."""

    def send(self, message: NotificationMessage) -> None:
        """Raises Undelivered. It takes its time, but not for ever."""


def build_message(tiding: Notification, project: str, journal: str) -> NotificationMessage:
    return NotificationMessage(
        tiding.kind.value,
        tiding.title,
        tiding.text,
        tiding.batch,
        tiding.task,
        tiding.at,
        tiding.until,
        tiding.seq,
        project,
        f"{journal}:{tiding.seq}:{tiding.kind.value}",
    )


def build_test_message(project: str, at: float) -> NotificationMessage:
    """For whoever wants to see whether messages arrive."""
    text = "This is a test, and nothing has happened."
    delivery = f"{TEST_TYPE}:{uuid4()}"
    return NotificationMessage(
        TEST_TYPE, "plait reaches you", text, None, None, at, None, None, project, delivery
    )


def _format_time(at: float) -> str:
    told = datetime.fromtimestamp(min(max(at, 0.0), _MAX_TIMESTAMP), UTC)
    return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")
