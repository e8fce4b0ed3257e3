"""BATCH, and what comes with it.

A batch as a graph, and as a timeline.

A pull request before it is opened, or brought up to date.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from plait.core.settings import Isolation, Mode, OnConflict, Order, Publish, WriteBack
from plait.core.status import BatchStatus, Category, EndWhy, TaskStatus, Waiting
from plait.core.task import NeedKind
from plait.server.http.schema.base import ApiModel, Problem


class Cost(ApiModel):
    usd: float
    tokens: int


class BudgetShape(ApiModel):
    usd: float | None
    tokens: int | None


class Diffstat(ApiModel):
    files: int
    added: int
    removed: int


class Foreseen(ApiModel):
    """A conflict to come; `taskId` null: with the batch branch."""

    task_id: str | None
    files: list[str]


class BatchTask(ApiModel):
    """`needsYou`: it waits for an answer, an approval or a decision."""

    task_id: str
    title: str
    status: TaskStatus
    reason: str
    waiting: Waiting | None
    needs_you: bool
    category: Category | None
    agent: str | None
    attempt: int
    phase: str | None
    branch: str | None
    worktree_path: str | None
    session_id: str | None
    error: str | None
    started_at: str | None
    completed_at: str | None
    cost: Cost
    diffstat: Diffstat | None
    commit: str | None
    foreseen: list[Foreseen]
    entrant_of: str | None
    winner: str | None


class Progress(ApiModel):
    """The counts sum to `total`."""

    total: int
    queued: int
    waiting: int
    running: int
    completed: int
    failed: int
    timed_out: int
    blocked: int
    conflicted: int
    skipped: int
    cancelled: int
    interrupted: int
    percentage: int


class BatchSettings(ApiModel):
    """Lengths of time in seconds."""

    agents: list[str]
    max_batch_size: int
    queue_auto_approve: bool
    order: Order
    isolation: Isolation
    verify: str | None
    gate: str | None
    timeout: float
    idle_timeout: float
    verify_timeout: float
    gate_timeout: float
    retries: int
    repairs: int
    stop_on_failure: bool
    conflict_behavior: OnConflict
    phase_gate: float
    budget: BudgetShape | None
    task_budget: BudgetShape | None
    fallback: list[str]
    write_back: WriteBack
    publish: Publish


class BatchHead(ApiModel):
    """A batch without its tasks. `reason`: why it is where it is, such as what paused it; `hint`: what to do about
    `unshipped`.
    """

    id: str
    project_id: str | None
    status: BatchStatus
    reason: str
    mode: Mode
    branch: str | None
    base: str | None
    pr_url: str | None
    shipped: str | None
    unshipped: str | None
    hint: str | None
    settings: BatchSettings
    created_at: str
    started_at: str | None
    completed_at: str | None
    eta: str | None
    cost: Cost
    progress: Progress


class Batch(BatchHead):
    tasks: list[BatchTask]


class BatchListed(BatchHead):
    """As in a list: `tasks` is left out with `?tasks=false`."""

    tasks: list[BatchTask] | None = None


class EngineSeen(ApiModel):
    """`trouble`: what keeps it from going on, such as a disk without room; null if nothing does."""

    pid: int
    since: str
    trouble: str | None = None


class Batches(ApiModel):
    """The newest first. `engine` null: none is at work."""

    engine: EngineSeen | None
    batches: list[BatchListed]


class CreatedTask(ApiModel):
    task_id: str
    title: str
    status: TaskStatus
    branch: str | None


class Created(ApiModel):
    """`problems` are warnings. `accepted`: it is safe, and no engine has taken it yet."""

    id: str
    status: BatchStatus
    mode: Mode
    branch: str | None
    tasks: list[CreatedTask]
    created_at: str
    problems: list[Problem]
    accepted: bool


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


class PullText(ApiModel):
    title: str
    body: str


class PullRequest(ApiModel):
    """`title` and `body` are what would be sent now, `own` what plait would write by itself. `target` null: only the
    remote knows it. `shipped`: the branch is published as it is. `why` says why no pull request can be opened, as far
    as that can be told without a network; with `canPush`, the branch can be pushed all the same.
    """

    batch_id: str
    title: str
    body: str
    own: PullText
    branch: str | None
    target: str | None
    url: str | None
    shipped: bool
    under_way: bool
    can_publish: bool
    can_push: bool
    why: str | None
    hint: str | None


class SharedFile(ApiModel):
    """Its tasks run one after another."""

    file: str
    tasks: list[str]
