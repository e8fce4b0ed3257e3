"""BATCH: a batch as programs see it, the same from the command line and over HTTP. The shape is relied upon.

A task as a batch has it, and where the tasks of a batch stand, as programs see it.

The graph of a batch as programs see it: its tasks with where they stand, and every edge with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plait.client.json_encoding import Json, cost_json, diffstat_json, progress_json, to_iso, to_iso_or_none
from plait.core.explain import explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.graph import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.settings import Budget, Isolation, Settings
from plait.core.state import BatchState, State, TaskState
from plait.core.status import PauseCause, TaskStatus, Waiting
from plait.core.views import BatchView, TaskView, make_batch_view, make_task_view
from plait.engine.daemon import EngineInfo
from plait.git import refs


def status_json(engine: EngineInfo | None, batches: Sequence[Json]) -> Json:
    seen = engine and {"pid": engine.pid, "since": to_iso(engine.since), "trouble": engine.trouble or None}
    return {"engine": seen, "batches": list(batches)}


def batch_json(state: State, batch: BatchState, *, eta: float | None, project_id: str | None) -> Json:
    """`eta` is the instant at which the batch is expected to end."""
    view = make_batch_view(state, batch)
    tasks = [_batch_task_json(view, batch, task) for task in view.tasks]
    return {**_batch_view_json(view, eta, project_id), "tasks": tasks}


def batch_summary_json(state: State, batch: BatchState, *, eta: float | None, project_id: str | None) -> Json:
    """BATCH without its tasks, at the price of counting them."""
    return _batch_view_json(make_batch_view(state, batch, brief=True), eta, project_id)


def _batch_view_json(view: BatchView, eta: float | None, project_id: str | None) -> Json:
    return {
        "id": view.id,
        "projectId": project_id,
        "status": view.status.value,
        "reason": view.reason,
        "mode": view.mode.value,
        "branch": view.branch or None,
        "base": view.base or None,
        "prUrl": view.pr_url or None,
        "shipped": view.shipped or None,
        "unshipped": view.unshipped,
        "hint": view.way_out or None,
        "settings": settings_json(view.settings),
        "createdAt": to_iso(view.created_at),
        "startedAt": to_iso_or_none(view.started_at),
        "completedAt": to_iso_or_none(view.ended_at),
        "eta": to_iso_or_none(eta),
        "cost": cost_json(view.cost),
        "progress": progress_json(view.progress.total, dict(view.progress.counts)),
    }


def waiting_json(batch: BatchState, task: TaskView) -> Json:
    """What it waits on, and whether that is a person: a question, an approval, or a batch that was not paused by one."""
    waiting, paused = task.waiting, batch.paused
    own = waiting is Waiting.PAUSE and (paused is None or paused.cause in {PauseCause.PERSON, PauseCause.STOP})
    return {
        "waiting": waiting.value if waiting else None,
        "needsYou": waiting is not None and waiting.is_on_person and not own,
    }


def _batch_task_json(view: BatchView, batch: BatchState, task: TaskView) -> Json:
    return {
        "taskId": task.id,
        "title": task.title,
        "status": task.status.value,
        "reason": task.reason,
        **waiting_json(batch, task),
        "category": task.category.value if task.category else None,
        "agent": task.agent,
        "attempt": task.attempt,
        "phase": task.phase,
        "branch": _find_task_branch(view, task),
        "worktreePath": task.workspace or None,
        "sessionId": task.session,
        "error": task.error,
        "startedAt": to_iso_or_none(task.started_at),
        "completedAt": to_iso_or_none(task.ended_at),
        "cost": cost_json(task.cost),
        "diffstat": diffstat_json(task.diffstat),
        "commit": task.commit,
        "foreseen": [{"taskId": other or None, "files": files} for other, files in task.foreseen],
        "entrantOf": task.entrant,
        "winner": task.winner,
    }


def _find_task_branch(batch: BatchView, task: TaskView) -> str | None:
    """Its own, from its first attempt on, where there are worktrees."""
    if batch.settings.isolation is Isolation.IN_PLACE or not task.attempt:
        return None
    return refs.task_branch(batch.id, task.id)


def settings_json(settings: Settings) -> Json:
    """In the words of the HTTP interface; times in seconds."""
    return {
        "agents": settings.agents,
        "maxBatchSize": settings.max_parallel,
        "queueAutoApprove": settings.auto_approve,
        "order": settings.order.value,
        "isolation": settings.isolation.value,
        "verify": settings.verify,
        "gate": settings.gate,
        "timeout": settings.timeout,
        "idleTimeout": settings.idle_timeout,
        "verifyTimeout": settings.verify_timeout,
        "gateTimeout": settings.gate_timeout,
        "retries": settings.retries,
        "repairs": settings.repairs,
        "stopOnFailure": settings.stop_on_fail,
        "conflictBehavior": settings.on_conflict.value,
        "phaseGate": settings.phase_gate,
        "budget": _budget_json(settings.budget),
        "taskBudget": _budget_json(settings.task_budget),
        "fallback": list(settings.fallback),
        "writeBack": settings.write_back.value,
        "publish": settings.publish.value,
    }


def _budget_json(budget: Budget | None) -> Json | None:
    if budget is None:
        return None
    usd = None if budget.microusd is None else budget.microusd / 1e6
    return {"usd": usd, "tokens": budget.tokens}


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


GraphJson = dict[str, object]


def graph_json(state: State, batch: BatchState) -> GraphJson:
    """An edge leads from the task that is needed to the one that needs it."""
    plan = batch.plan
    levels = group_waves(plan)
    wave = {name: number for number, ids in enumerate(levels, 1) for name in ids}
    return {
        "batchId": batch.id,
        "nodes": [_node_json(state, batch, task, wave[task.task.id]) for task in batch.tasks],
        "edges": [
            {
                "from": need.on,
                "to": task.id,
                "kind": need.kind.value,
                "reason": need.reason,
                "at": str(need.at) if need.at else None,
            }
            for task, need in list_edges(plan)
        ],
        "waves": levels,
        "criticalPath": find_critical_path(plan),
        "conflicts": [{"file": shared.file, "tasks": shared.tasks} for shared in find_file_conflicts(plan)],
    }


def _node_json(state: State, batch: BatchState, task: TaskState, wave: int) -> GraphJson:
    stands = explain_status(state, batch, task)
    return {
        "taskId": task.task.id,
        "title": task.task.title,
        "status": stands.status.value,
        "reason": stands.reason,
        "waiting": stands.waiting.value if stands.waiting else None,
        "wave": wave,
        "phase": task.task.phase,
        "weight": task.task.weight,
        "rank": batch.plan.ranks[task.place],
        "touches": task.task.touches,
        "entrantOf": task.task.entrant,
    }
