"""A batch as a graph, and as a timeline."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from plait.core.status import Category, EndWhy, TaskStatus, Waiting
from plait.core.task import NeedKind
from plait.server.http.schema.base__shape import ApiModel
from plait.server.http.schema.tasks import SharedFile


class Node(ApiModel):
    """`rank`: seconds of the longest path from its start to the end."""

    task_id: str
    title: str
    status: TaskStatus
    reason: str
    waiting: Waiting | None
    wave: int
    phase: str | None
    weight: float
    rank: float
    touches: list[str]
    entrant_of: str | None


class Edge(ApiModel):
    """`from` is done before `to` starts."""

    from_: str = Field(alias="from")
    to: str
    kind: NeedKind
    reason: str
    at: str | None


class GraphShape(ApiModel):
    batch_id: str
    nodes: list[Node]
    edges: list[Edge]
    waves: list[list[str]]
    critical_path: list[str]
    conflicts: list[SharedFile]


class SpanKind(StrEnum):
    WRITE = "write"
    VERIFY = "verify"
    MERGE = "merge"
    GATE = "gate"
    PAUSE = "pause"
    REBUILD = "rebuild"
    PUBLISH = "publish"


class SpanShape(ApiModel):
    """`completedAt` null: it is not over. `result` of an attempt is its category."""

    kind: SpanKind
    started_at: str
    completed_at: str | None
    n: int | None
    agent: str | None
    result: str | None
    detail: str | None
    ended_for: EndWhy | None


class Wait(ApiModel):
    started_at: str
    completed_at: str | None


class RetryShape(ApiModel):
    """Only a counted one uses up a retry."""

    at: str
    retry_at: str
    why: str
    category: Category
    counted: bool


class TaskTimeline(ApiModel):
    """`status` null: it has not ended. `waits`: when nothing of it was at work."""

    task_id: str
    title: str
    status: TaskStatus | None
    spans: list[SpanShape]
    waits: list[Wait]
    retries: list[RetryShape]


class TimelineShape(ApiModel):
    """`spans` are the batch's own: gates, pauses, rebuilds, publishing."""

    batch_id: str
    started_at: str | None
    completed_at: str | None
    tasks: list[TaskTimeline]
    spans: list[SpanShape]
