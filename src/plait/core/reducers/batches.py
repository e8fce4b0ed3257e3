"""Phases: how far each one is, and which of those that wait can be opened or never will be."""

from __future__ import annotations

from plait.core.reducers.task_index import reindex_task
from plait.core.state import BatchState, PhaseState, State, TaskState
from plait.core.status import TaskStatus

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
    for name in batch.phases_by_opener.get(task.place, ()):
        review_phase(state, batch, batch.phases[name])


def review_phase(state: State, batch: BatchState, phase: PhaseState) -> None:
    """Note whether this phase can be opened now, or can never be."""
    name = phase.phase.key
    openable = not phase.open and can_open(batch, phase)
    hopeless = not phase.open and not openable and can_never_open(batch, phase)
    _set_mark(batch.openable_phases, name, openable)
    if _set_mark(batch.unopenable_phases, name, hopeless):
        for member in phase.members:
            reindex_task(state, batch, batch.tasks[member])


def _set_mark(marks: dict[str, None], name: str, holds: bool) -> bool:  # noqa: FBT001 - it is what is marked
    """Whether that changed anything."""
    changed = holds is not (name in marks)
    if holds:
        marks[name] = None
    else:
        marks.pop(name, None)
    return changed


def can_open(batch: BatchState, phase: PhaseState) -> bool:
    opener = batch.find_task(phase.phase.opens_with) if phase.phase.opens_with else None
    if opener is not None and (opener.status is None or opener.status is TaskStatus.DONE):
        return opener.status is TaskStatus.DONE
    earlier = [batch.phases[name] for name in phase.phase.after if name in batch.phases]
    gate = required_share(batch, phase)
    if all(has_reached(other, gate) for other in earlier):
        return opener is None or gate < 1.0
    return gate < 1.0 and all(other.live == 0 for other in earlier)


def can_never_open(batch: BatchState, phase: PhaseState) -> bool:
    """Only a strict gate can close for good: the others open when nothing earlier is left to run."""
    if required_share(batch, phase) < 1.0:
        return False
    opener = batch.find_task(phase.phase.opens_with) if phase.phase.opens_with else None
    if opener is not None:
        return opener.status is not None and opener.status is not TaskStatus.DONE
    earlier = (batch.phases[name] for name in phase.phase.after if name in batch.phases)
    return any(other.settled + other.live < other.phase.total for other in earlier)


def has_reached(phase: PhaseState, gate: float) -> bool:
    # A whole number of tasks is compared, so that 4 of 5 meets 0.8 whatever the binary fraction.
    return phase.settled >= phase.phase.total * gate - 1e-9


def required_share(batch: BatchState, phase: PhaseState) -> float:
    """How much of the earlier phases this one asks for."""
    return batch.settings.phase_gate if phase.phase.gate is None else phase.phase.gate
