"""Applies a granted plan and decisions about a whole batch; keeps count of its phases."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from plait.core import decisions, reports
from plait.core.contest import is_begun
from plait.core.phases import is_held_by_phase
from plait.core.reducers.file_conflicts import recall_changed_files
from plait.core.reducers.task_index import reindex_task, scope_locks
from plait.core.requests import Submit
from plait.core.start_queue import QueueKey
from plait.core.state import BatchState, PauseState, PendingEnd, PhaseState, State, TaskState
from plait.core.status import EndWhy, TaskStatus
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


def apply_source_report(state: State, _at: float, report: reports.SourceReport) -> None:
    """Record which sources lack statuses, for views only: the write-back derives this from the journal."""
    batch = state.batches.get(report.batch)
    if batch is None:
        return
    match report:
        case reports.SourcesUnwritten():
            batch.unwritten[report.source] = report
        case reports.SourcesWritten():
            for source, unwritten in list(batch.unwritten.items()):
                left = tuple(task for task in unwritten.tasks if task not in report.tasks)
                if not left:
                    del batch.unwritten[source]
                elif left != unwritten.tasks:
                    batch.unwritten[source] = replace(unwritten, tasks=left)
        case _:
            assert_never(report)


def find_agents(batch: BatchState, task: Task, chosen: str | None = None) -> tuple[str, ...]:
    """Return the agents a task may be given to: the one a person chose, else its own, else the batch's."""
    agent = chosen or task.agent
    return (agent,) if agent else batch.settings.agents


def _add_tasks(state: State, batch: BatchState) -> None:
    plan = batch.plan
    for position, (task, needs, holds) in enumerate(zip(plan.tasks, plan.needs, plan.holds, strict=True)):
        entrants = tuple(need for need in needs if plan.tasks[need].entrant == task.id)
        key = QueueKey(batch.id, find_agents(batch, task), bool(task.entrant or entrants))
        added = TaskState(task, position, scope_locks(batch, holds), key, entrants=entrants, pending_needs=len(needs))
        batch.tasks.append(added)
        batch.index[task.id] = position
    batch.plan_locks = frozenset(lock for task in batch.tasks for lock in task.locks)
    for added in batch.tasks if state.changed_files else ():
        recall_changed_files(state, batch, added)
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
            own.members.append(task.index)
            own.live += task.task.gating
            task.phase_closed = not own.open and is_held_by_phase(task.task, own.phase)
    for joined in batch.phases.values():
        review_phase(state, batch, joined)


def apply_batch_decision(state: State, at: float, decision: decisions.BatchDecision) -> None:
    batch = state.batches.get(decision.batch)
    if batch is None:
        return
    match decision:
        case decisions.PhaseOpened():
            _open_phase(state, batch, decision.phase)
        case decisions.BatchPaused():
            batch.paused = PauseState(decision.cause, decision.why)
        case decisions.BatchUnpaused():
            batch.paused = None
        case decisions.BatchHalted():
            _halt_batch(state, batch, decision)
        case decisions.BatchEnded():
            batch.ended, batch.reason, batch.ended_at = decision.status, decision.reason, at
            batch.paused = None
            batch.stopping = batch.stop_now = False
            state.open.pop(batch.id, None)
        case _:
            assert_never(decision)


def _open_phase(state: State, batch: BatchState, name: str) -> None:
    phase = batch.phases.get(name)
    if phase is None:
        return
    phase.open = True
    review_phase(state, batch, phase)
    for member in phase.members:
        batch.tasks[member].phase_closed = False
        reindex_task(state, batch, batch.tasks[member])


def _halt_batch(state: State, batch: BatchState, decision: decisions.BatchHalted) -> None:
    batch.halted_by = decision.by
    for task in batch.tasks:
        if task.status is None and not is_begun(batch, task):
            task.pending_end = PendingEnd(TaskStatus.SKIPPED, EndWhy.DROP, decision.why, decision.by)
            reindex_task(state, batch, task)


_PASSED_STATUSES = (TaskStatus.DONE, TaskStatus.SKIPPED)


def update_phase_counts(
    state: State, batch: BatchState, task: TaskState, before: TaskStatus | None, after: TaskStatus | None
) -> None:
    phase = batch.phases.get(task.task.phase or "")
    if phase is not None and task.task.gating:
        phase.settled += (after in _PASSED_STATUSES) - (before in _PASSED_STATUSES)
        phase.live += (after is None) - (before is None)
        for watcher in phase.watchers:
            review_phase(state, batch, batch.phases[watcher])
    for name in batch.phases_by_opener.get(task.index, ()):
        review_phase(state, batch, batch.phases[name])


def review_phase(state: State, batch: BatchState, phase: PhaseState) -> None:
    """Note whether this phase can be opened now, or can never be."""
    name = phase.phase.key
    openable = not phase.open and can_open(batch, phase)
    hopeless = not phase.open and not openable and can_never_open(batch, phase)
    _set_mark(batch.openable_phases, name, marked=openable)
    if _set_mark(batch.unopenable_phases, name, marked=hopeless):
        for member in phase.members:
            reindex_task(state, batch, batch.tasks[member])


def _set_mark(marks: dict[str, None], name: str, *, marked: bool) -> bool:
    """Add or remove the name; return whether that changed anything."""
    changed = marked is not (name in marks)
    if marked:
        marks[name] = None
    else:
        marks.pop(name, None)
    return changed


def can_open(batch: BatchState, phase: PhaseState) -> bool:
    opener = batch.find_task(phase.phase.opens_with)
    if opener is not None and (opener.status is None or opener.status is TaskStatus.DONE):
        return opener.status is TaskStatus.DONE
    earlier = batch.find_earlier_phases(phase)
    gate = required_share(batch, phase)
    if all(has_reached(other, gate) for other in earlier):
        return opener is None or gate < 1.0
    return gate < 1.0 and all(other.live == 0 for other in earlier)


def can_never_open(batch: BatchState, phase: PhaseState) -> bool:
    """Whether the phase stays closed. Only a strict gate can: others open when nothing earlier is left to run."""
    if required_share(batch, phase) < 1.0:
        return False
    opener = batch.find_task(phase.phase.opens_with)
    if opener is not None:
        return opener.status is not None and opener.status is not TaskStatus.DONE
    return any(other.settled + other.live < other.phase.total for other in batch.find_earlier_phases(phase))


def has_reached(phase: PhaseState, gate: float) -> bool:
    # A whole number of tasks is compared, so that 4 of 5 meets 0.8 whatever the binary fraction.
    return phase.settled >= phase.phase.total * gate - 1e-9


def required_share(batch: BatchState, phase: PhaseState) -> float:
    """Return the share of the earlier phases that must be done before this one opens."""
    return batch.settings.phase_gate if phase.phase.gate is None else phase.phase.gate
