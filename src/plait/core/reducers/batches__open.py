"""A granted plan becomes a batch."""

from __future__ import annotations

from plait.core.phases import is_held_by_phase
from plait.core.reducers.batches import review_phase
from plait.core.reducers.file_conflicts import recall_changed_files
from plait.core.reducers.task_index import reindex_task, scope_locks
from plait.core.requests import Submit
from plait.core.state import BatchState, PhaseState, State, TaskState
from plait.core.task import Task


def open_batch(state: State, at: float, request: Submit) -> None:
    if not request.plan.is_consistent:
        return
    batch = BatchState(
        id=request.batch,
        plan=request.plan,
        settings=request.settings,
        base=request.base,
        branch=request.branch,
        seed=request.seed,
        order=len(state.batches),
        submitted_at=at,
        head=request.base,
        sources=request.sources,
        unfinished_count=len(request.plan.tasks),
    )
    state.batches[batch.id] = state.open[batch.id] = batch
    _add_tasks(state, batch)
    _add_phases(state, batch)
    for task in batch.tasks:
        reindex_task(state, batch, task)


def find_agents(batch: BatchState, task: Task, chosen: str | None = None) -> tuple[str, ...]:
    """The agents a task may be given to: the one a person chose, its own, else the batch's."""
    one = chosen or task.agent
    return (one,) if one else batch.settings.agents


def _add_tasks(state: State, batch: BatchState) -> None:
    plan = batch.plan
    for position, (task, needs, holds) in enumerate(zip(plan.tasks, plan.needs, plan.holds, strict=True)):
        entrants = tuple(need for need in needs if plan.tasks[need].entrant == task.id)
        lane = (batch.id, find_agents(batch, task), bool(task.entrant or entrants))
        made = TaskState(
            task, position, scope_locks(batch, holds), lane, entrants=entrants, pending_needs=len(needs)
        )
        batch.tasks.append(made)
        batch.index[task.id] = position
    batch.plan_locks = frozenset(token for task in batch.tasks for token in task.locks)
    for made in batch.tasks if state.changed_files else ():
        recall_changed_files(state, batch, made)
    for position, needs in enumerate(plan.needs):
        for need in needs:
            batch.tasks[need].dependents.append(position)


def _add_phases(state: State, batch: BatchState) -> None:
    for phase in batch.plan.phases:
        gated = bool(phase.after) or phase.opens_with is not None
        batch.phases[phase.key] = PhaseState(phase, settled=phase.settled, open=not gated)
        if phase.opens_with in batch.index:
            batch.phases_by_opener.setdefault(batch.index[phase.opens_with], []).append(phase.key)
    for joined in batch.phases.values():
        for earlier in joined.phase.after:
            if earlier in batch.phases:
                batch.phases[earlier].watchers.append(joined.phase.key)
    for task in batch.tasks:
        own = batch.phases.get(task.task.phase or "")
        if own is not None:
            own.members.append(task.place)
            own.live += task.task.gating
            task.phase_closed = not own.open and is_held_by_phase(task.task, own.phase)
    for joined in batch.phases.values():
        review_phase(state, batch, joined)
