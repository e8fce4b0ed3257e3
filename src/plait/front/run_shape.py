"""A task as a batch has it, and where the tasks of a batch stand, as programs see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plait.core.frozen import dataclass
from plait.core.state import BatchState, State, TaskState
from plait.core.status import TaskStatus
from plait.core.views import task_view
from plait.front.instant import iso_or_none
from plait.front.shape import brief_json, cost_json, diffstat_json, standing_json

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Run:
    """A task as a batch has it."""

    batch: BatchState
    task: TaskState


def run_json(state: State, run: Run) -> Json:
    """`taskId` is what the batch calls it; `review`: it is done on a batch branch that has not been shipped."""
    view = task_view(state, run.batch, run.task)
    published = run.batch.published
    shipped = published is not None and published.commit == run.batch.head
    return {
        "batchId": run.batch.id,
        "taskId": view.id,
        "status": view.status.value,
        "reason": view.reason,
        **standing_json(run.batch, view),
        "category": view.category.value if view.category else None,
        "agent": view.agent,
        "attempt": view.attempt,
        "phase": view.phase,
        "startedAt": iso_or_none(view.started_at),
        "completedAt": iso_or_none(view.ended_at),
        "cost": cost_json(view.cost),
        "diffstat": diffstat_json(view.diffstat),
        "commit": view.commit,
        "shipped": shipped,
        "review": view.status is TaskStatus.DONE and bool(view.commit) and not shipped,
    }


def standings_json(
    state: State, batch: BatchState, names: Sequence[str], *, eta: float | None, project_id: str | None
) -> Json:
    """Of the tasks that are asked for, one run each, in that order; without names, of all that were selected."""
    runs = (Run(batch, task) for task in _asked(batch, names))
    head = brief_json(state, batch, eta=eta, project_id=project_id)
    return {"batch": head, "tasks": [run_json(state, run) for run in runs]}


def _asked(batch: BatchState, names: Sequence[str]) -> Iterable[TaskState]:
    """An entrant belongs to its task, and is told by its own name only."""
    if not names:
        return [task for task in batch.tasks if task.task.entrant is None]
    known = (batch.task(name) for name in dict.fromkeys(names))
    return [task for task in known if task is not None]
