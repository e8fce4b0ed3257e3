"""JSON objects that several subjects share: problems, costs, sizes of changes, dependencies, progress."""

from __future__ import annotations

from collections.abc import Mapping

from plait.client.json_encoding import api_model
from plait.core.plan import Problem, Severity
from plait.core.settings import Spend
from plait.core.status import TaskStatus
from plait.core.task import Need, NeedKind

_TERMINAL_STATUSES = tuple(status for status in TaskStatus if status.is_terminal)
_ACTIVE_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING, TaskStatus.MERGING)


@api_model
class ProblemDetails:
    """A problem: what is wrong, where, and what to do."""

    severity: Severity
    message: str
    file: str | None
    line: int | None
    hint: str | None


def make_problem(problem: Problem) -> ProblemDetails:
    at = problem.at
    line = (at.line or None) if at else None
    return ProblemDetails(problem.severity, problem.message, at.file if at else None, line, problem.hint or None)


@api_model
class Cost:
    usd: float
    tokens: int


def make_cost(spend: Spend) -> Cost:
    return Cost(spend.microusd / 1e6, spend.tokens)


@api_model
class Diffstat:
    files: int
    added: int
    removed: int


def make_diffstat(stat: tuple[int, int, int] | None) -> Diffstat | None:
    return None if stat is None else Diffstat(*stat)


@api_model
class SharedFile:
    """A file that several tasks name, so that they run one after another."""

    file: str
    tasks: list[str]


@api_model
class Dependency:
    """A dependency of a task; `at` is where it is declared: `file:line`."""

    id: str
    kind: NeedKind
    reason: str
    at: str | None


def make_dependency(need: Need) -> Dependency:
    return Dependency(need.on, need.kind, need.reason, str(need.at) if need.at else None)


@api_model
class Progress:
    """How many tasks have each status; the counts sum to `total`."""

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


def count_progress(total: int, counts: Mapping[TaskStatus, int]) -> Progress:
    """Count the progress. The counts sum to `total`; verifying and merging count as running."""
    ended = sum(counts[status] for status in _TERMINAL_STATUSES)
    return Progress(
        total=total,
        queued=counts[TaskStatus.QUEUED],
        waiting=counts[TaskStatus.WAITING],
        running=sum(counts[status] for status in _ACTIVE_STATUSES),
        completed=counts[TaskStatus.DONE],
        failed=counts[TaskStatus.FAILED],
        timed_out=counts[TaskStatus.TIMED_OUT],
        blocked=counts[TaskStatus.BLOCKED],
        conflicted=counts[TaskStatus.CONFLICTED],
        skipped=counts[TaskStatus.SKIPPED],
        cancelled=counts[TaskStatus.CANCELLED],
        interrupted=counts[TaskStatus.INTERRUPTED],
        percentage=100 * ended // total if total else 100,
    )
