"""Describe a batch, its tasks and its graph for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from plait.client.api_models import (
    Batch,
    BatchHead,
    BatchSettings,
    BatchTask,
    BudgetShape,
    Edge,
    EngineSeen,
    Foreseen,
    GraphShape,
    Node,
    Progress,
    Run,
    SharedFile,
    Standing,
    make_cost,
    make_diffstat,
    to_json,
)
from plait.client.json_encoding import Json, progress_json, to_iso, to_iso_or_none
from plait.core.explain import explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.graph import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.settings import Budget, Isolation, Settings
from plait.core.state import BatchState, State, TaskState
from plait.core.status import PauseCause, TaskStatus, WaitReason
from plait.core.views import BatchView, TaskView, make_batch_view, make_task_view
from plait.engine.daemon import EngineInfo
from plait.git import refs

HeadT = TypeVar("HeadT", bound=BatchHead)


def status_json(engine: EngineInfo | None, batches: Sequence[Json]) -> Json:
    seen = engine and to_json(EngineSeen(engine.pid, to_iso(engine.since), engine.trouble or None))
    return {"engine": seen, "batches": list(batches)}


def batch_json(state: State, batch: BatchState, *, eta: float | None, project_id: str | None) -> Json:
    """`eta` is when the batch is expected to end."""
    view = make_batch_view(state, batch)
    tasks = [_describe_batch_task(view, batch, task) for task in view.tasks]
    return to_json(_describe_view(Batch, view, eta, project_id, tasks=tasks))


def batch_summary_json(state: State, batch: BatchState, *, eta: float | None, project_id: str | None) -> Json:
    """A batch without its tasks; costs no more than counting them."""
    return to_json(_describe_head(state, batch, eta, project_id))


def _describe_head(state: State, batch: BatchState, eta: float | None, project_id: str | None) -> BatchHead:
    return _describe_view(BatchHead, make_batch_view(state, batch, brief=True), eta, project_id)


def _describe_view(
    model: Callable[..., HeadT], view: BatchView, eta: float | None, project_id: str | None, **more: object
) -> HeadT:
    return model(
        id=view.id,
        project_id=project_id,
        status=view.status,
        reason=view.reason,
        mode=view.mode,
        branch=view.branch or None,
        base=view.base or None,
        pr_url=view.pr_url or None,
        shipped=view.shipped or None,
        unshipped=view.unshipped,
        hint=view.way_out or None,
        settings=_describe_settings(view.settings),
        created_at=to_iso(view.created_at),
        started_at=to_iso_or_none(view.started_at),
        completed_at=to_iso_or_none(view.ended_at),
        eta=to_iso_or_none(eta),
        cost=make_cost(view.cost),
        progress=Progress(*progress_json(view.progress.total, dict(view.progress.counts)).values()),
        **more,
    )


def _needs_person(batch: BatchState, task: TaskView) -> bool:
    """Whether it waits for an answer, an approval, or a batch that no person paused."""
    waiting, paused = task.waiting, batch.paused
    by_person = waiting is WaitReason.PAUSE and (paused is None or paused.cause in {PauseCause.PERSON, PauseCause.STOP})
    return waiting is not None and waiting.is_on_person and not by_person


def _describe_batch_task(view: BatchView, batch: BatchState, task: TaskView) -> BatchTask:
    has_branch = view.settings.isolation is not Isolation.IN_PLACE and task.attempt
    return BatchTask(
        task_id=task.id,
        title=task.title,
        status=task.status,
        reason=task.reason,
        waiting=task.waiting,
        needs_you=_needs_person(batch, task),
        category=task.category,
        agent=task.agent,
        attempt=task.attempt,
        phase=task.phase,
        branch=refs.task_branch(view.id, task.id) if has_branch else None,
        worktree_path=task.workspace or None,
        session_id=task.session,
        error=task.error,
        started_at=to_iso_or_none(task.started_at),
        completed_at=to_iso_or_none(task.ended_at),
        cost=make_cost(task.cost),
        diffstat=make_diffstat(task.diffstat),
        commit=task.commit,
        foreseen=[Foreseen(other or None, list(files)) for other, files in task.foreseen],
        entrant_of=task.entrant,
        winner=task.winner,
    )


def _describe_settings(settings: Settings) -> BatchSettings:
    return BatchSettings(
        agents=list(settings.agents),
        max_batch_size=settings.max_parallel,
        queue_auto_approve=settings.auto_approve,
        order=settings.order,
        isolation=settings.isolation,
        verify=settings.verify,
        gate=settings.gate,
        timeout=settings.timeout,
        idle_timeout=settings.idle_timeout,
        verify_timeout=settings.verify_timeout,
        gate_timeout=settings.gate_timeout,
        retries=settings.retries,
        repairs=settings.repairs,
        stop_on_failure=settings.stop_on_fail,
        conflict_behavior=settings.on_conflict,
        phase_gate=settings.phase_gate,
        budget=_describe_budget(settings.budget),
        task_budget=_describe_budget(settings.task_budget),
        fallback=list(settings.fallback),
        write_back=settings.write_back,
        publish=settings.publish,
    )


def _describe_budget(budget: Budget | None) -> BudgetShape | None:
    if budget is None:
        return None
    return BudgetShape(None if budget.microusd is None else budget.microusd / 1e6, budget.tokens)


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A task in a batch."""

    batch: BatchState
    task: TaskState


def task_run_json(state: State, run: TaskRun) -> Json:
    return to_json(_describe_run(state, run))


def _describe_run(state: State, run: TaskRun) -> Run:
    view = make_task_view(state, run.batch, run.task)
    published = run.batch.published
    shipped = published is not None and published.commit == run.batch.head
    return Run(
        batch_id=run.batch.id,
        task_id=view.id,
        status=view.status,
        reason=view.reason,
        waiting=view.waiting,
        needs_you=_needs_person(run.batch, view),
        category=view.category,
        agent=view.agent,
        attempt=view.attempt,
        phase=view.phase,
        started_at=to_iso_or_none(view.started_at),
        completed_at=to_iso_or_none(view.ended_at),
        cost=make_cost(view.cost),
        diffstat=make_diffstat(view.diffstat),
        commit=view.commit,
        shipped=shipped,
        review=view.status is TaskStatus.DONE and bool(view.commit) and not shipped,
    )


def task_runs_json(
    state: State, batch: BatchState, names: Sequence[str], *, eta: float | None, project_id: str | None
) -> Json:
    """One run for each of these tasks, in this order; without names, for each selected task.

    An entrant is included only under its own name: it belongs to its task.
    """
    if names:
        tasks = [task for task in map(batch.find_task, dict.fromkeys(names)) if task is not None]
    else:
        tasks = [task for task in batch.tasks if task.task.entrant is None]
    head = _describe_head(state, batch, eta, project_id)
    return to_json(Standing(head, [_describe_run(state, TaskRun(batch, task)) for task in tasks]))


def graph_json(state: State, batch: BatchState) -> Json:
    """An edge leads from a dependency to the task that needs it."""
    plan = batch.plan
    waves = group_waves(plan)
    wave = {name: number for number, names in enumerate(waves, 1) for name in names}
    graph = GraphShape(
        batch_id=batch.id,
        nodes=[_describe_node(state, batch, task, wave[task.task.id]) for task in batch.tasks],
        edges=[
            Edge(need.on, task.id, need.kind, need.reason, str(need.at) if need.at else None)
            for task, need in list_edges(plan)
        ],
        waves=waves,
        critical_path=find_critical_path(plan),
        conflicts=[SharedFile(shared.file, list(shared.tasks)) for shared in find_file_conflicts(plan)],
    )
    return to_json(graph)


def _describe_node(state: State, batch: BatchState, task: TaskState, wave: int) -> Node:
    explanation = explain_status(state, batch, task)
    return Node(
        task_id=task.task.id,
        title=task.task.title,
        status=explanation.status,
        reason=explanation.reason,
        waiting=explanation.waiting,
        wave=wave,
        phase=task.task.phase,
        weight=task.task.weight,
        rank=batch.plan.ranks[task.place],
        touches=list(task.task.touches),
        entrant_of=task.task.entrant,
    )
