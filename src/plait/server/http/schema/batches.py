"""BATCH, and what comes with it."""

from __future__ import annotations

from plait.core.settings import Isolation, Mode, OnConflict, Order, Publish, WriteBack
from plait.core.status import BatchStatus, Category, TaskStatus, Waiting
from plait.server.http.schema.base import Problem
from plait.server.http.schema.base__shape import ApiModel


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
