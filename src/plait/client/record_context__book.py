"""The book of one batch: where each of its tasks was last told to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plait.core.explain import TaskExplanation, explain_status
from plait.core.state import BatchState, State
from plait.core.status import TaskStatus, Waiting

_TERMINAL_STATUSES = tuple(status for status in TaskStatus if status.is_terminal)
_ACTIVE_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING, TaskStatus.MERGING)
# The words of BATCH; those of a status are not always the same.
_PROGRESS_KEYS = {
    TaskStatus.QUEUED: "queued",
    TaskStatus.WAITING: "waiting",
    TaskStatus.RUNNING: "running",
    TaskStatus.DONE: "completed",
    TaskStatus.FAILED: "failed",
    TaskStatus.TIMED_OUT: "timedOut",
    TaskStatus.BLOCKED: "blocked",
    TaskStatus.CONFLICTED: "conflicted",
    TaskStatus.SKIPPED: "skipped",
    TaskStatus.CANCELLED: "cancelled",
    TaskStatus.INTERRUPTED: "interrupted",
}


class StatusTracker:
    """What is noted here costs one task at a time, so that progress can be told without a recount."""

    def __init__(self, batch: BatchState) -> None:
        """Nothing of it was told yet. Entrants are told of, and not counted: their task is."""
        self._entrants = {task.place for task in batch.tasks if task.task.entrant is not None}
        size = len(batch.tasks)
        self._last_status: list[tuple[TaskStatus, Waiting | None] | None] = [None] * size
        self._counts = dict.fromkeys(TaskStatus, 0)

    @classmethod
    def from_state(cls, state: State, batch: BatchState) -> StatusTracker:
        """As if everything had been told up to now."""
        book = cls(batch)
        for task in batch.tasks:
            book.update(task.place, explain_status(state, batch, task))
        return book

    def update(self, place: int, stands: TaskExplanation) -> bool:
        """Whether that is news."""
        before, after = self._last_status[place], (stands.status, stands.waiting)
        if before == after:
            return False
        if place not in self._entrants:
            if before is not None:
                self._counts[before[0]] -= 1
            self._counts[stands.status] += 1
        self._last_status[place] = after
        return True

    def progress(self) -> dict[str, int]:
        return progress_json(len(self._last_status) - len(self._entrants), self._counts)


def progress_json(total: int, counts: Mapping[TaskStatus, int]) -> dict[str, int]:
    """The counts sum to `total`: what is being verified or merged is at work."""
    shown = {word: counts[status] for status, word in _PROGRESS_KEYS.items()}
    shown["running"] = _sum_counts(counts, _ACTIVE_STATUSES)
    ended = _sum_counts(counts, _TERMINAL_STATUSES)
    return {"total": total, **shown, "percentage": 100 * ended // total if total else 100}


def _sum_counts(counts: Mapping[TaskStatus, int], statuses: Iterable[TaskStatus]) -> int:
    return sum(counts[status] for status in statuses)
