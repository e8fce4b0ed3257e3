"""A task as a batch has it, and where the tasks of a batch stand, as programs see it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plait.client.batch_json import batch_summary_json, cost_json, diffstat_json, waiting_json
from plait.client.json_encoding__instant import to_iso_or_none
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, State, TaskState
from plait.core.status import TaskStatus
from plait.core.views import make_task_view

RunJson = dict[str, object]


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A task as a batch has it."""

    batch: BatchState
    task: TaskState


def task_run_json(state: State, run: TaskRun) -> RunJson:
    """`taskId` is what the batch calls it; `review`: it is done on a batch branch that has not been shipped."""
    view = make_task_view(state, run.batch, run.task)
    published = run.batch.published
    shipped = published is not None and published.commit == run.batch.head
    return {
        "batchId": run.batch.id,
        "taskId": view.id,
        "status": view.status.value,
        "reason": view.reason,
        **waiting_json(run.batch, view),
        "category": view.category.value if view.category else None,
        "agent": view.agent,
        "attempt": view.attempt,
        "phase": view.phase,
        "startedAt": to_iso_or_none(view.started_at),
        "completedAt": to_iso_or_none(view.ended_at),
        "cost": cost_json(view.cost),
        "diffstat": diffstat_json(view.diffstat),
        "commit": view.commit,
        "shipped": shipped,
        "review": view.status is TaskStatus.DONE and bool(view.commit) and not shipped,
    }


def task_runs_json(
    state: State, batch: BatchState, names: Sequence[str], *, eta: float | None, project_id: str | None
) -> RunJson:
    """Of the tasks that are asked for, one run each, in that order; without names, of all that were selected."""
    runs = (TaskRun(batch, task) for task in _select_tasks(batch, names))
    head = batch_summary_json(state, batch, eta=eta, project_id=project_id)
    return {"batch": head, "tasks": [task_run_json(state, run) for run in runs]}


def _select_tasks(batch: BatchState, names: Sequence[str]) -> Iterable[TaskState]:
    """An entrant belongs to its task, and is told by its own name only."""
    if not names:
        return [task for task in batch.tasks if task.task.entrant is None]
    known = (batch.find_task(name) for name in dict.fromkeys(names))
    return [task for task in known if task is not None]
