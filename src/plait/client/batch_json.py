"""A batch, its tasks and its graph as programs see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TypeVar

from plait.client.api_models import (
    Cost,
    Diffstat,
    ProblemDetails,
    Progress,
    SharedFile,
    count_progress,
    make_cost,
    make_diffstat,
)
from plait.client.batch_lookup import find_named_task
from plait.client.json_encoding import OMIT_NONE, api_model, fill_model, to_iso, to_iso_or_none
from plait.core.explain import explain_status
from plait.core.graph import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.settings import (
    Budget,
    ExecutorKind,
    Isolation,
    Mode,
    OnConflict,
    Order,
    Publish,
    SandboxMode,
    Settings,
    WriteBack,
)
from plait.core.state import BatchState, State, TaskState
from plait.core.status import BatchStatus, Category, PauseCause, TaskStatus, WaitReason
from plait.core.task import NeedKind
from plait.core.views import BatchView, TaskView, make_batch_view, make_task_view
from plait.engine.daemon import EngineInfo
from plait.git import refs


@api_model
class PredictedConflict:
    """A predicted conflict; `taskId` null: with the batch branch."""

    task_id: str | None
    files: list[str]


@api_model
class BatchTask:
    """A task of a batch. `short`: the reason without what the status says. `needsYou`: it waits for an answer, an
    approval or a decision. `seconds`: of attempts that have ended; `workingSince`: the start of the running one.
    """

    task_id: str
    title: str
    status: TaskStatus
    reason: str
    short: str
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
    seconds: float
    working_since: str | None
    cost: Cost
    diffstat: Diffstat | None
    commit: str | None
    foreseen: list[PredictedConflict]
    entrant_of: str | None
    winner: str | None


@api_model
class BudgetLimits:
    usd: float | None
    tokens: int | None


@api_model
class BatchSettings:
    """The settings of a batch. Durations are in seconds."""

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
    budget: BudgetLimits | None
    task_budget: BudgetLimits | None
    fallback: list[str]
    write_back: WriteBack
    publish: Publish
    sandbox: SandboxMode
    executor: ExecutorKind


@api_model
class UnwrittenSource:
    """A source that lacks statuses of a batch's tasks. `retried`: plait tries again when it next runs."""

    source: str
    why: str
    hint: str
    retried: bool


@api_model
class BatchHead:
    """A batch without its tasks. `name`: the title that its tasks share, else that of the first one. `reason` explains
    the status, such as why the batch is paused, and `pauseCause` says for programs who or what paused it; `hint`: what
    to do about `unshipped`. `seconds`: time of work, up to `workingSince` if something runs; `agentSeconds`: of all
    attempts that have ended.
    """

    id: str
    name: str
    project_id: str | None
    status: BatchStatus
    reason: str
    pause_cause: PauseCause | None
    mode: Mode
    branch: str | None
    base: str | None
    pr_url: str | None
    shipped: str | None
    unshipped: str | None
    hint: str | None
    unwritten: list[UnwrittenSource]
    settings: BatchSettings
    created_at: str
    started_at: str | None
    completed_at: str | None
    seconds: float
    agent_seconds: float
    working_since: str | None
    eta: str | None
    eta_basis: str | None
    cost: Cost
    progress: Progress


@api_model
class Batch(BatchHead):
    """A batch with its tasks."""

    tasks: list[BatchTask]


@api_model
class ListedBatch(BatchHead):
    """An item of a list; without `tasks` if `?tasks=false`."""

    tasks: list[BatchTask] | None = field(default=None, metadata=OMIT_NONE)


@api_model
class PastBatch:
    """An item of `history --json`. `seconds`: time in which something of it ran; `agent_seconds`: of all attempts."""

    id: str
    status: BatchStatus
    reason: str
    mode: Mode
    sources: list[str]
    branch: str | None
    pr_url: str | None
    created_at: str
    started_at: str | None
    completed_at: str | None
    seconds: float
    agent_seconds: float
    cost: Cost
    progress: Progress


@api_model
class CreatedTask:
    task_id: str
    title: str
    status: TaskStatus
    branch: str | None


@api_model
class CreatedBatch:
    """A new batch. `problems` are warnings. `accepted`: durable, but no engine has answered yet."""

    id: str
    status: BatchStatus
    mode: Mode
    branch: str | None
    tasks: list[CreatedTask]
    created_at: str
    problems: list[ProblemDetails]
    accepted: bool


@api_model
class ClusterNode:
    """A machine that attempts run on. `problem`: why no attempt is started there now; null if there is no reason."""

    name: str
    address: str
    alive: bool
    slots: int
    used: int
    memory: int | None
    free_memory: int | None
    problem: str | None


@api_model
class EngineStatus:
    """The running engine. `trouble`: what keeps it from working, such as a full disk; null if nothing does. `nodes`: of
    the cluster that it uses.
    """

    pid: int
    since: str
    trouble: str | None = None
    nodes: list[ClusterNode] = field(default_factory=list)


@api_model
class ProviderLimit:
    """A provider that open batches have to wait for. `rejected`: until a person logs in or pays."""

    provider: str
    until: str
    reason: str
    rejected: bool


@api_model
class Batches:
    """All batches, newest first. `engine` null: none is running. `limits`: the providers that refuse open batches."""

    engine: EngineStatus | None
    batches: list[ListedBatch]
    limits: list[ProviderLimit]


# For a task of a source, wherever it ran last; `BatchTask` is a row of one batch.
@api_model
class TaskRun:
    """The status of a task in the newest batch that has it; `taskId` is its id in that batch.

    `short`: the reason without what the status says. `needsYou`: it waits for an answer, an approval or a decision.
    `review`: it is done, and its batch branch isn't published. `seconds`: of attempts that have ended; `workingSince`: the start of the running one.
    """

    batch_id: str
    task_id: str
    status: TaskStatus
    reason: str
    short: str
    waiting: WaitReason | None
    needs_you: bool
    category: Category | None
    agent: str | None
    attempt: int
    phase: str | None
    started_at: str | None
    completed_at: str | None
    seconds: float
    working_since: str | None
    cost: Cost
    diffstat: Diffstat | None
    commit: str | None
    shipped: bool
    review: bool


@api_model
class TaskRuns:
    """The runs of the requested `tasks` in a batch."""

    batch: BatchHead
    tasks: list[TaskRun]


@api_model
class Node:
    """A task in the graph. `rank`: seconds of the longest path from its start to the end. `short`: as that of a run."""

    task_id: str
    title: str
    status: TaskStatus
    reason: str
    short: str
    waiting: WaitReason | None
    wave: int
    phase: str | None
    weight: float
    rank: float
    touches: list[str]
    entrant_of: str | None


@api_model
class Edge:
    """A dependency: `from` is done before `to` starts."""

    from_: str
    to: str
    kind: NeedKind
    reason: str
    at: str | None


@api_model
class GraphPhase:
    """A phase in the graph; `key` is the `phase` of its tasks."""

    key: str
    title: str


@api_model
class Graph:
    batch_id: str
    nodes: list[Node]
    edges: list[Edge]
    waves: list[list[str]]
    phases: list[GraphPhase]
    critical_path: list[str]
    conflicts: list[SharedFile]


HeadT = TypeVar("HeadT", bound=BatchHead)


def _describe_engine(engine: EngineInfo) -> EngineStatus:
    nodes = [
        ClusterNode(
            node.name,
            node.address,
            node.is_alive,
            node.slots,
            node.used,
            node.memory or None,
            node.free_memory or None,
            node.problem or None,
        )
        for node in engine.nodes
    ]
    return EngineStatus(engine.pid, to_iso(engine.since), engine.trouble or None, nodes)


def describe_batches(engine: EngineInfo | None, state: State, batches: Sequence[ListedBatch]) -> Batches:
    running = None if engine is None else _describe_engine(engine)
    limits = [
        ProviderLimit(provider, to_iso(breaker.until), breaker.why, breaker.rejected)
        for provider, breaker in state.breakers.items()
        if breaker.until is not None and state.open
    ]
    return Batches(running, list(batches), limits)


def describe_batch(state: State, batch: BatchState, *, eta: float | None, project_id: str | None) -> Batch:
    """Describe a batch; `eta` is when it is expected to end."""
    return _describe_full(Batch, state, batch, eta, project_id)


def list_batch(
    state: State, batch: BatchState, *, eta: float | None, project_id: str | None, tasks: bool = True
) -> ListedBatch:
    """Describe a batch for a list. Without its tasks, it costs no more than counting them."""
    if tasks:
        return _describe_full(ListedBatch, state, batch, eta, project_id)
    view = make_batch_view(state, batch, brief=True)
    return _describe_view(ListedBatch, view, _describe_eta(state, batch, eta), project_id, tasks=None)


def _describe_full(
    model: type[HeadT], state: State, batch: BatchState, eta: float | None, project_id: str | None
) -> HeadT:
    view = make_batch_view(state, batch)
    tasks = [_describe_batch_task(view, batch, task) for task in view.tasks]
    return _describe_view(model, view, _describe_eta(state, batch, eta), project_id, tasks=tasks)


def describe_past_batch(view: BatchView, now: float) -> PastBatch:
    return fill_model(
        PastBatch,
        view,
        branch=view.branch or None,
        pr_url=view.pr_url or None,
        created_at=to_iso(view.created_at),
        started_at=to_iso_or_none(view.started_at),
        completed_at=to_iso_or_none(view.ended_at),
        seconds=round(view.wall_time.measure(now), 3),
        agent_seconds=round(view.agent_time.measure(now), 3),
        cost=make_cost(view.cost),
        progress=count_progress(view.progress.total, dict(view.progress.counts)),
    )


def describe_created(batch: Batch, problems: Sequence[ProblemDetails], *, accepted: bool) -> CreatedBatch:
    tasks = [fill_model(CreatedTask, task) for task in batch.tasks]
    return fill_model(CreatedBatch, batch, tasks=tasks, problems=list(problems), accepted=accepted)


def _describe_eta(state: State, batch: BatchState, eta: float | None) -> tuple[float, str] | None:
    """Return the expected end and what it is based on; None if unknown."""
    if eta is None:
        return None
    from plait.client.eta import describe_eta_basis  # only for batches with an estimate

    basis = describe_eta_basis(state, batch)
    return None if basis is None else (eta, basis)


def _describe_view(
    model: type[HeadT], view: BatchView, eta: tuple[float, str] | None, project_id: str | None, **values: object
) -> HeadT:
    return fill_model(
        model,
        view,
        project_id=project_id,
        branch=view.branch or None,
        base=view.base or None,
        pr_url=view.pr_url or None,
        shipped=view.shipped or None,
        hint=view.unshipped_hint or None,
        unwritten=[fill_model(UnwrittenSource, unwritten) for unwritten in view.unwritten],
        settings=_describe_settings(view.settings),
        created_at=to_iso(view.created_at),
        started_at=to_iso_or_none(view.started_at),
        completed_at=to_iso_or_none(view.ended_at),
        seconds=round(view.wall_time.over, 3),
        agent_seconds=round(view.agent_time.over, 3),
        working_since=to_iso_or_none(min(view.wall_time.since, default=None)),
        eta=to_iso_or_none(eta and eta[0]),
        eta_basis=eta and eta[1],
        cost=make_cost(view.cost),
        progress=count_progress(view.progress.total, dict(view.progress.counts)),
        **values,
    )


def _needs_person(batch: BatchState, task: TaskView) -> bool:
    """Whether the task waits for an answer, an approval, or a batch that no person paused."""
    waiting, paused = task.waiting, batch.paused
    by_person = waiting is WaitReason.PAUSE and (paused is None or paused.cause in {PauseCause.PERSON, PauseCause.STOP})
    return waiting is not None and waiting.is_on_person and not by_person


def _describe_batch_task(view: BatchView, batch: BatchState, task: TaskView) -> BatchTask:
    has_branch = view.settings.isolation is not Isolation.IN_PLACE and task.attempt
    return fill_model(
        BatchTask,
        task,
        task_id=task.id,
        needs_you=_needs_person(batch, task),
        branch=refs.task_branch(view.id, task.id) if has_branch else None,
        worktree_path=task.workspace or None,
        session_id=task.session,
        started_at=to_iso_or_none(task.started_at),
        seconds=round(task.work.over, 3),
        working_since=to_iso_or_none(min(task.work.since, default=None)),
        completed_at=to_iso_or_none(task.ended_at),
        cost=make_cost(task.cost),
        diffstat=make_diffstat(task.diffstat),
        foreseen=[PredictedConflict(other or None, list(files)) for other, files in task.predicted_conflicts],
        entrant_of=task.entrant,
    )


def _describe_settings(settings: Settings) -> BatchSettings:
    return fill_model(
        BatchSettings,
        settings,
        max_batch_size=settings.max_parallel,
        queue_auto_approve=settings.auto_approve,
        stop_on_failure=settings.stop_on_fail,
        conflict_behavior=settings.on_conflict,
        budget=_describe_budget(settings.budget),
        task_budget=_describe_budget(settings.task_budget),
    )


def _describe_budget(budget: Budget | None) -> BudgetLimits | None:
    if budget is None:
        return None
    return BudgetLimits(None if budget.microusd is None else budget.microusd / 1e6, budget.tokens)


def describe_run(state: State, batch: BatchState, task: TaskState) -> TaskRun:
    view = make_task_view(state, batch, task)
    published = batch.published
    shipped = published is not None and published.commit == batch.head
    return fill_model(
        TaskRun,
        view,
        batch_id=batch.id,
        task_id=view.id,
        needs_you=_needs_person(batch, view),
        seconds=round(view.work.over, 3),
        working_since=to_iso_or_none(min(view.work.since, default=None)),
        started_at=to_iso_or_none(view.started_at),
        completed_at=to_iso_or_none(view.ended_at),
        cost=make_cost(view.cost),
        diffstat=make_diffstat(view.diffstat),
        shipped=shipped,
        review=view.status is TaskStatus.DONE and bool(view.commit) and not shipped,
    )


def describe_runs(
    state: State, batch: BatchState, names: Sequence[str], *, eta: float | None, project_id: str | None
) -> TaskRuns:
    """Describe one run for each of these tasks, in this order; without names, for each selected task.

    An entrant is included only under its own name: it belongs to its task.
    """
    if names:
        tasks = [task for name in dict.fromkeys(names) if (task := find_named_task(batch, name)) is not None]
    else:
        tasks = [task for task in batch.tasks if task.task.entrant is None]
    view = make_batch_view(state, batch, brief=True)
    head = _describe_view(BatchHead, view, _describe_eta(state, batch, eta), project_id)
    return TaskRuns(head, [describe_run(state, batch, task) for task in tasks])


def describe_graph(state: State, batch: BatchState) -> Graph:
    """Describe the graph. An edge leads from a dependency to the task that needs it."""
    plan = batch.plan
    waves = group_waves(plan)
    wave = {name: number for number, names in enumerate(waves, 1) for name in names}
    return Graph(
        batch_id=batch.id,
        nodes=[_describe_node(state, batch, task, wave[task.task.id]) for task in batch.tasks],
        edges=[
            Edge(need.on, task.id, need.kind, need.reason, str(need.at) if need.at else None)
            for task, need in list_edges(plan)
        ],
        waves=waves,
        phases=[GraphPhase(phase.key, phase.title or phase.key) for phase in plan.phases],
        critical_path=find_critical_path(plan),
        conflicts=[fill_model(SharedFile, shared) for shared in find_file_conflicts(plan)],
    )


def _describe_node(state: State, batch: BatchState, task: TaskState, wave: int) -> Node:
    explanation = explain_status(state, batch, task)
    return fill_model(
        Node,
        task.task,
        task_id=task.task.id,
        status=explanation.status,
        reason=explanation.reason,
        short=explanation.short,
        waiting=explanation.waiting,
        wave=wave,
        rank=batch.plan.ranks[task.index],
        entrant_of=task.task.entrant,
    )
