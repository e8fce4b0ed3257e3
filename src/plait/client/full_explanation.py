"""What `plait explain` and its API route show: why a task has its status, its attempts, and where its result is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from plait.client.api_models import Cost, Diffstat, make_cost, make_diffstat
from plait.client.conflicts import ConflictView, view_conflict
from plait.client.history import BatchHistory, GateRun, PastAttempt, read_history
from plait.client.json_encoding import api_model, fill_model, to_iso, to_iso_or_none
from plait.client.next_step import suggest_next_step
from plait.client.result_files import ContestResult, describe_contest
from plait.client.task_notes import FeedbackPart, FeedbackSource
from plait.core.explain import TaskExplanation, explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.settings import ExecutorKind, Isolation
from plait.core.state import BatchState, State, TaskState
from plait.core.status import Category, EndWhy, TaskStatus, WaitReason
from plait.core.task import Attempt, Need, NeedKind, Step
from plait.git import refs
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.interfaces import JournalMissingError


@dataclass(frozen=True, slots=True)
class FullExplanation:
    state: State
    batch: BatchState
    task: TaskState
    attempts: Sequence[PastAttempt]
    result: TaskResultDetails | None
    contest: ContestResult | None
    conflict: ConflictView | None
    nodes: Mapping[Attempt, str]


def explain_fully(location: RepoLocation, state: State, batch: BatchState, task: TaskState) -> FullExplanation:
    """Explain a task; this reads the journal and asks git."""
    try:
        with closing(project_files.open_project_journal(location)) as reader:
            history = read_history(reader.read(), batch.id)
    except JournalMissingError:
        history = BatchHistory(batch.id)
    explanation = build_explanation(location, state, batch, task, history)
    return replace(explanation, result=confirm_result(location, explanation.result))


def build_explanation(
    location: RepoLocation, state: State, batch: BatchState, task: TaskState, history: BatchHistory
) -> FullExplanation:
    """Explain a task without asking git: its `result` is the expected one."""
    task_id = task.task.id
    attempts = history.list_attempts(task_id)
    files = next((past.outcome.files for past in reversed(attempts) if past.outcome and past.outcome.files), ())
    return FullExplanation(
        state,
        batch,
        task,
        attempts,
        derive_result(batch, task, files, history.find_deciding_gate(task_id)),
        describe_contest(project_files.open_state_paths(location), batch, task) if task.entrants else None,
        view_conflict(batch, task, history.find_conflict(task_id)),
        find_nodes(location, batch, attempts),
    )


def find_nodes(location: RepoLocation, batch: BatchState, attempts: Iterable[PastAttempt]) -> Mapping[Attempt, str]:
    """Return the names of the cluster's nodes that attempts were sent to. Attempts that ran on this machine have none."""
    if batch.settings.executor is ExecutorKind.LOCAL:
        return {}
    from plait.runtime.ray.placements import Placements  # few batches run on a cluster

    placements = Placements(project_files.open_state_paths(location))
    found = ((past.attempt, placements.read(past.attempt)) for past in attempts)
    return {attempt: placement.node_name for attempt, placement in found if placement is not None}


@api_model
class DependencyStatus:
    """A dependency and its status; null: it is not in this batch."""

    id: str
    kind: NeedKind
    reason: str
    at: str | None
    status: TaskStatus | None


@api_model
class ToldFeedback:
    at: str
    source: FeedbackSource
    text: str


@api_model
class AttemptSummary:
    """An attempt. `completedAt` null: it is running. `told` is the feedback that its agent got beyond the task; if
    there is any, also the end of what the verification `toldCheck` printed. `commit` is its result. `node` is that of a
    cluster; null: it ran on this machine, or nowhere yet.
    """

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
    told: list[ToldFeedback]
    told_check: int | None
    cost: Cost | None
    diffstat: Diffstat | None
    commit: str | None
    node: str | None


@api_model
class GateResult:
    """A run of the gate. `passed` null: it is running, or its result is unknown."""

    gate: int
    commit: str
    passed: bool | None


@api_model
class TaskResult:
    branch: str | None
    tip: str | None
    ref: str | None
    worktree_path: str | None
    files: list[str]
    commit: str | None
    place: int | None
    gate: GateResult | None
    published: str | None


@api_model
class ConflictSummary:
    """A conflict. `with` is the commit of the batch branch that the change was merged onto."""

    with_: str
    files: list[str]


@api_model
class Explanation:
    """Why a task has its status. `way`: what would make it continue, as a sentence."""

    batch_id: str
    task_id: str
    title: str
    source: str | None
    status: TaskStatus
    reason: str
    waiting: WaitReason | None
    needs: list[DependencyStatus]
    attempts: list[AttemptSummary]
    way: str
    result: TaskResult | None
    contest: ContestResult | None
    conflict: ConflictSummary | None


def describe_explanation(explanation: FullExplanation) -> Explanation:
    state, batch, task = explanation.state, explanation.batch, explanation.task
    status = explain_status(state, batch, task)
    conflict = explanation.conflict
    return Explanation(
        batch_id=batch.id,
        task_id=task.task.id,
        title=task.task.title,
        source=str(task.task.origin) if task.task.origin else None,
        status=status.status,
        reason=status.reason,
        waiting=status.waiting,
        needs=[_describe_need(state, batch, need) for need in task.task.needs],
        attempts=[describe_attempt(past, explanation.nodes.get(past.attempt)) for past in explanation.attempts],
        way=suggest_next_step(state, batch, task),
        result=describe_result(explanation.result),
        contest=explanation.contest,
        conflict=None if conflict is None else ConflictSummary(conflict.merge.onto, list(conflict.files)),
    )


def _describe_need(state: State, batch: BatchState, need: Need) -> DependencyStatus:
    other = explain_need(state, batch, need)
    return DependencyStatus(
        need.on, need.kind, need.reason, str(need.at) if need.at else None, other.status if other else None
    )


def describe_attempt(attempt: PastAttempt, node: str | None = None) -> AttemptSummary:
    outcome = attempt.outcome
    return AttemptSummary(
        step=attempt.attempt.step,
        attempt=attempt.attempt.n,
        agent=attempt.agent,
        started_at=to_iso(attempt.started_at),
        completed_at=to_iso_or_none(attempt.ended_at),
        category=outcome.category if outcome else None,
        exit_code=outcome.exit_code if outcome else None,
        detail=outcome.detail if outcome else None,
        ended_for=attempt.ending,
        retried_for=attempt.then or None,
        told=[describe_feedback(part) for part in attempt.told],
        told_check=attempt.told_check.n if attempt.told_check is not None else None,
        cost=make_cost(outcome.spend) if outcome else None,
        diffstat=make_diffstat(outcome.diffstat) if outcome else None,
        commit=outcome.tip if outcome else None,
        node=node or None,
    )


def describe_feedback(part: FeedbackPart) -> ToldFeedback:
    return fill_model(ToldFeedback, part, at=to_iso(part.at))


def describe_gate(gate: GateRun) -> GateResult:
    return GateResult(gate.decision.n, gate.decision.commit, gate.passed)


def describe_result(result: TaskResultDetails | None) -> TaskResult | None:
    if result is None:
        return None
    gate = result.gate
    return TaskResult(
        branch=result.branch if result.tip else None,
        tip=result.tip or None,
        ref=result.kept or None,
        worktree_path=result.workspace or None,
        files=list(result.files),
        commit=result.merged or None,
        place=result.place or None,
        gate=None if gate is None else describe_gate(gate),
        published=result.published or None,
    )


def explain_need(state: State, batch: BatchState, need: Need) -> TaskExplanation | None:
    """Return the status of a dependency; None if it is not in this batch."""
    other = batch.find_task(need.on)
    return None if other is None else explain_status(state, batch, other)


@dataclass(frozen=True, slots=True)
class TaskResultDetails:
    """The result of a task. `branch` is its own and `tip` that branch's commit; if the branch is gone, `tip` is "" and
    `kept` is the ref that has its work, if any. `merged` is the commit in the batch branch, `place` its number there,
    from 1.
    """

    branch: str
    tip: str = ""
    kept: str = ""
    workspace: str = ""
    files: tuple[str, ...] = ()
    diffstat: tuple[int, int, int] | None = None
    merged: str = ""
    place: int = 0
    gate: GateRun | None = None
    published: str = ""


def derive_result(
    batch: BatchState, task: TaskState, files: Sequence[str], gate: GateRun | None
) -> TaskResultDetails | None:
    """Derive the result from the state alone: `kept` is the expected ref. None if the task has no result of its own.

    `files` are those that its last good attempt changed.
    """
    if batch.settings.isolation is Isolation.IN_PLACE or not task.attempt_counts:
        return None
    is_here = batch.settings.executor is ExecutorKind.LOCAL
    has_workspace = is_here and task.status is None and task.last is not None
    published = batch.published
    return TaskResultDetails(
        refs.task_branch(batch.id, task.task.id),
        kept=refs.attempt_ref(task.last_write.name) if task.last_write is not None else "",
        workspace=task.last.workspace if has_workspace and task.last is not None else "",
        files=tuple(files),
        diffstat=task.diffstat,
        merged=(task.commit or "") if task.is_merged else "",
        place=task.merge_position + 1 if task.is_merged else 0,
        gate=gate,
        published=batch.head if task.is_merged and published is not None and published.commit == batch.head else "",
    )


def confirm_result(location: RepoLocation, result: TaskResultDetails | None) -> TaskResultDetails | None:
    """Ask git whether the branch and the ref still exist."""
    from plait.git.command import Git, GitError

    if result is None or not location.repository:
        return None
    branch = f"refs/heads/{result.branch}"
    command = ("for-each-ref", "--format=%(refname) %(objectname)", "--", *filter(None, (branch, result.kept)))
    try:
        output = Git(location.state.parent).text(*command)
    except GitError:
        return replace(result, kept="")
    existing = dict(line.split(" ", 1) for line in output.splitlines())
    tip = existing.get(branch, "")
    return replace(result, tip=tip, kept=result.kept if not tip and result.kept in existing else "")
