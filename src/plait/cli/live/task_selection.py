"""Choose the tasks to show if there isn't room for all: those that need a person, running, failed, next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from plait.core.fast_dataclass import dataclass
from plait.core.status import TaskStatus, WaitReason
from plait.core.views import TaskView

_MAX_FAILURES = 3  # the latest failures are always shown
_RANKS = {
    TaskStatus.RUNNING: 1,
    TaskStatus.VERIFYING: 1,
    TaskStatus.MERGING: 1,
    TaskStatus.FAILED: 2,
    TaskStatus.TIMED_OUT: 2,
    TaskStatus.CONFLICTED: 2,
    TaskStatus.INTERRUPTED: 3,
    TaskStatus.QUEUED: 3,
    TaskStatus.WAITING: 4,
    TaskStatus.DONE: 5,
    TaskStatus.BLOCKED: 6,
    TaskStatus.CANCELLED: 7,
    TaskStatus.SKIPPED: 7,
}
_FAILED_RANK = 2


@dataclass(frozen=True, slots=True)
class TaskSelection:
    """The tasks to show: `shown` in the plan's order; `hidden` counts the others by status."""

    shown: tuple[TaskView, ...]
    hidden: tuple[tuple[TaskStatus, int], ...] = ()


def select_visible_tasks(tasks: Sequence[TaskView], rows: int) -> TaskSelection:
    """Select as many tasks as fit in `rows`; one row is kept for the count of the others."""
    if len(tasks) <= rows:
        return TaskSelection(tuple(tasks))
    ranked = sorted(range(len(tasks)), key=_make_sort_key(tasks))
    shown = sorted(ranked[: max(0, rows - 1)])
    hidden_counts = Counter(tasks[index].status for index in ranked[max(0, rows - 1) :])
    hidden = sorted(hidden_counts.items(), key=lambda item: (_RANKS[item[0]], item[0]))
    return TaskSelection(tuple(tasks[index] for index in shown), tuple(hidden))


def _make_sort_key(tasks: Sequence[TaskView]) -> Callable[[int], tuple[int, float, int]]:
    """Return a sort key, the most important tasks first; ended tasks from the latest, others in the plan's order."""
    failed = [index for index, task in enumerate(tasks) if _RANKS[task.status] == _FAILED_RANK]
    failed.sort(key=lambda index: -(tasks[index].ended_at or 0.0))
    last = set(failed[:_MAX_FAILURES])

    def sort_key(index: int) -> tuple[int, float, int]:
        task = tasks[index]
        if index in last or task.waiting in {WaitReason.ANSWER, WaitReason.APPROVAL}:
            return 0, 0.0, index
        return _RANKS[task.status], -(task.ended_at or 0.0), index

    return sort_key
