"""What programs see of batches, plans and tasks: each JSON object declared once.

`--json`, HTTP, MCP and OpenAPI follow from these classes: keys are the fields in camelCase, and the order of fields is the
order of keys. Class names are component names of the OpenAPI document.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Literal, TypeVar, dataclass_transform

from plait.client.json_encoding import Json
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem as PlanProblem, Severity
from plait.core.settings import Isolation, Mode, OnConflict, Order, Publish, Spend, WriteBack
from plait.core.status import BatchStatus, Category, EndWhy, TaskStatus, WaitReason
from plait.core.task import NeedKind, Step
from plait.git.interfaces import ConflictKind
from plait.sources.source_model import SourceStatus

T = TypeVar("T")


def to_camel(name: str) -> str:
    """`started_at` is `startedAt`; `from_` is `from`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)


_KEYS: dict[type, tuple[tuple[str, str], ...]] = {}  # of each model: its fields and their keys


@dataclass_transform(frozen_default=True)
def api_model(cls: type[T]) -> type[T]:
    """A frozen dataclass that pydantic documents in camelCase."""
    cls.__pydantic_config__ = {"alias_generator": to_camel}  # type: ignore[attr-defined]  # read by pydantic only
    doc = cls.__doc__
    model = dataclass(frozen=True, slots=True)(cls)
    model.__doc__ = doc  # dataclass() would make one up, and it would be in the OpenAPI document
    _KEYS[model] = tuple((name, to_camel(name)) for name in model.__dataclass_fields__)  # type: ignore[attr-defined]
    return model


def to_json(model: object) -> Json:
    """The JSON object of a model."""
    return {key: _to_json_value(getattr(model, name)) for name, key in _KEYS[type(model)]}


_PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})


def _to_json_value(value: object) -> object:
    if type(value) in _PLAIN_TYPES:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_to_json_value(each) for each in value]
    return to_json(value)


@api_model
class Problem:
    """What is wrong, where, and the way out."""

    severity: Severity
    message: str
    file: str | None
    line: int | None
    hint: str | None


def make_problem(problem: PlanProblem) -> Problem:
    at = problem.at
    line = (at.line or None) if at else None
    return Problem(problem.severity, problem.message, at.file if at else None, line, problem.hint or None)


@api_model
class Cost:
    usd: float
    tokens: int


def make_cost(spend: Spend) -> Cost:
    return Cost(spend.microusd / 1e6, spend.tokens)


@api_model
class BudgetShape:
    usd: float | None
    tokens: int | None


@api_model
class Diffstat:
    files: int
    added: int
    removed: int


def make_diffstat(stat: tuple[int, int, int] | None) -> Diffstat | None:
    return None if stat is None else Diffstat(*stat)


@api_model
class Foreseen:
    """A predicted conflict; `taskId` null: with the batch branch."""

    task_id: str | None
    files: list[str]


@api_model
class BatchTask:
    """`needsYou`: it waits for an answer, an approval or a decision."""

    task_id: str
    title: str
    status: TaskStatus
    reason: str
    waiting: WaitReason | None
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


@api_model
class Progress:
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


@api_model
class BatchSettings:
    """Durations in seconds."""

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


@api_model
class BatchHead:
    """A batch without its tasks. `reason` explains the status, such as what paused it; `hint`: what to do about
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


@api_model
class Batch(BatchHead):
    """A batch with its tasks."""

    tasks: list[BatchTask]


@api_model
class EngineSeen:
    """`trouble`: what keeps it from working, such as a full disk; null if nothing does."""

    pid: int
    since: str
    trouble: str | None = None


@api_model
class Run:
    """The status of a task in the newest batch that has it; `taskId` is its id in that batch.

    `needsYou`: it waits for an answer, an approval or a decision. `review`: it is done, and its batch branch isn't
    published.
    """

    batch_id: str
    task_id: str
    status: TaskStatus
    reason: str
    waiting: WaitReason | None
    needs_you: bool
    category: Category | None
    agent: str | None
    attempt: int
    phase: str | None
    started_at: str | None
    completed_at: str | None
    cost: Cost
    diffstat: Diffstat | None
    commit: str | None
    shipped: bool
    review: bool


@api_model
class Standing:
    """Of `tasks`, the requested ones."""

    batch: BatchHead
    tasks: list[Run]


@api_model
class Node:
    """`rank`: seconds of the longest path from its start to the end."""

    task_id: str
    title: str
    status: TaskStatus
    reason: str
    waiting: WaitReason | None
    wave: int
    phase: str | None
    weight: float
    rank: float
    touches: list[str]
    entrant_of: str | None


@api_model
class Edge:
    """`from` is done before `to` starts."""

    from_: str
    to: str
    kind: NeedKind
    reason: str
    at: str | None


@api_model
class SharedFile:
    """Its tasks run one after another."""

    file: str
    tasks: list[str]


@api_model
class GraphShape:
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


@api_model
class SpanShape:
    """`completedAt` null: it hasn't ended. `result` of an attempt is its category."""

    kind: SpanKind
    started_at: str
    completed_at: str | None
    n: int | None
    agent: str | None
    result: str | None
    detail: str | None
    ended_for: EndWhy | None


@api_model
class Wait:
    started_at: str
    completed_at: str | None


@api_model
class RetryShape:
    """Only a counted one uses up a retry."""

    at: str
    retry_at: str
    why: str
    category: Category
    counted: bool


@api_model
class TaskTimeline:
    """`status` null: it hasn't ended. `waits`: when nothing of it was running."""

    task_id: str
    title: str
    status: TaskStatus | None
    spans: list[SpanShape]
    waits: list[Wait]
    retries: list[RetryShape]


@api_model
class TimelineShape:
    """`spans` are the batch's own: gates, pauses, rebuilds, publishing."""

    batch_id: str
    started_at: str | None
    completed_at: str | None
    tasks: list[TaskTimeline]
    spans: list[SpanShape]


@api_model
class NeedShape:
    """`at` is where it is declared: `file:line`."""

    id: str
    kind: NeedKind
    reason: str
    at: str | None


@api_model
class PlanTask:
    id: str
    title: str
    status: SourceStatus
    source: str | None
    needs: list[NeedShape]
    touches: list[str]
    phase: str | None
    wave: int
    weight: float
    agent: str | None
    entrant_of: str | None


@api_model
class PhaseShape:
    id: str
    title: str
    after: list[str]
    total: int
    settled: int
    gate: float | None
    opens_with: str | None


@api_model
class PlanShape:
    """As `plan --json`. Without a plan there are no tasks, and the problems say why; with one and an error, it can't be
    started now. `eta` (in seconds) and `cost` are present if history allows an estimate.
    """

    tasks: list[PlanTask]
    waves: list[list[str]]
    conflicts: list[SharedFile]
    critical_path: list[str]
    phases: list[PhaseShape]
    eta: float | None
    cost: Cost | None
    problems: list[Problem]


@api_model
class NeedStanding:
    """`status` null: it is not in this batch."""

    id: str
    kind: NeedKind
    reason: str
    at: str | None
    status: TaskStatus | None


@api_model
class Try:
    """An attempt. `completedAt` null: it is running."""

    step: Step
    attempt: int
    agent: str
    started_at: str
    completed_at: str | None
    category: Category | None
    exit_code: int | None
    detail: str | None
    ended_for: EndWhy | None
    retried_for: str | None


@api_model
class GateSeen:
    """`passed` null: it is running, or its result is unknown."""

    gate: int
    commit: str
    passed: bool | None


@api_model
class ResultShape:
    branch: str | None
    tip: str | None
    ref: str | None
    worktree_path: str | None
    files: list[str]
    commit: str | None
    place: int | None
    gate: GateSeen | None
    published: str | None


@api_model
class Entrant:
    entrant: str
    agent: str
    status: TaskStatus | None
    verdict: str
    seconds: float | None
    cost: Cost
    diffstat: Diffstat | None
    rank: int | None
    score: float | None
    branch: str | None


@api_model
class ContestShape:
    why: str | None
    entrants: list[Entrant]


@api_model
class ConflictMet:
    """`with` is the commit of the batch branch that it was merged onto."""

    with_: str
    files: list[str]


@api_model
class Explanation:
    """`way`: what would make it continue, as a sentence."""

    batch_id: str
    task_id: str
    title: str
    source: str | None
    status: TaskStatus
    reason: str
    waiting: WaitReason | None
    needs: list[NeedStanding]
    attempts: list[Try]
    way: str
    result: ResultShape | None
    contest: ContestShape | None
    conflict: ConflictMet | None


@api_model
class ConflictFile:
    """`ours` is the batch branch's, `theirs` the task's, `merged` has both between markers. Null: it doesn't exist on that
    side, or it is `binary`, or its name is in `cut`, since it is too long. `touchedBy` are the tasks whose change of it is
    on the branch, the newest first; `said` is git's message about it.
    """

    path: str
    kind: ConflictKind
    said: str
    binary: bool
    base: str | None
    ours: str | None
    theirs: str | None
    merged: str | None
    cut: list[Literal["base", "ours", "theirs", "merged"]]
    touched_by: list[str]


@api_model
class ConflictShape:
    """`with` is the commit of the batch branch that the change from `base` to `tip` was merged onto. `more`: number of
    files that are left out.
    """

    batch_id: str
    task_id: str
    with_: str
    base: str
    tip: str
    files: list[ConflictFile]
    more: int


@api_model
class ChangedFile:
    """`before` is its former name if it was renamed; lines of binary files are not counted."""

    path: str
    before: str | None
    plus: int
    minus: int
    binary: bool


@api_model
class DiffSummary:
    """A diff without its text. `tip` null: the files of a workspace as they are now."""

    batch_id: str
    task_id: str | None
    attempt: int | None
    base: str
    tip: str | None
    plus: int
    minus: int
    files: list[ChangedFile]


@api_model
class DiffShape(DiffSummary):
    """`cut`: the diff is longer; format=text has all of it. `tip` null: files that are being written."""

    diff: str
    cut: bool
