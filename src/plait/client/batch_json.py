"""BATCH: a batch as programs see it, the same from the command line and over HTTP. The shape is relied upon."""

from __future__ import annotations

from collections.abc import Sequence

from plait.client.json_encoding__instant import to_iso, to_iso_or_none
from plait.client.record_context__book import progress_json
from plait.core.settings import Budget, Isolation, Settings, Spend
from plait.core.state import BatchState, State
from plait.core.status import PauseCause, Waiting
from plait.core.views import BatchView, TaskView, make_batch_view
from plait.git import refs
from plait.store.project_files import EngineInfo

Json = dict[str, object]


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
    own = waiting is Waiting.PAUSE and (
        paused is None or paused.cause in {PauseCause.PERSON, PauseCause.STOP}
    )
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


def diffstat_json(stat: tuple[int, int, int] | None) -> Json | None:
    return None if stat is None else dict(zip(("files", "added", "removed"), stat, strict=True))


def cost_json(spend: Spend) -> Json:
    return {"usd": spend.microusd / 1e6, "tokens": spend.tokens}


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
