"""Phases: how far each one is, and which of those that wait can be opened or never will be."""

from __future__ import annotations

from plait.core.evolve.index import place
from plait.core.state import BatchState, PhaseState, State, TaskState
from plait.core.status import TaskStatus

_PASSED = (TaskStatus.DONE, TaskStatus.SKIPPED)


def count_phase(
    state: State, batch: BatchState, task: TaskState, before: TaskStatus | None, after: TaskStatus | None
) -> None:
    phase = batch.phases.get(task.task.phase or "")
    if phase is not None and task.task.gating:
        phase.settled += (after in _PASSED) - (before in _PASSED)
        phase.live += (after is None) - (before is None)
        for watcher in phase.watchers:
            review(state, batch, batch.phases[watcher])
    for name in batch.openers.get(task.place, ()):
        review(state, batch, batch.phases[name])


def review(state: State, batch: BatchState, phase: PhaseState) -> None:
    """Note whether this phase can be opened now, or can never be."""
    name = phase.phase.key
    openable = not phase.open and can_open(batch, phase)
    hopeless = not phase.open and not openable and is_hopeless(batch, phase)
    _mark(batch.openable, name, openable)
    if _mark(batch.hopeless, name, hopeless):
        for member in phase.members:
            place(state, batch, batch.tasks[member])


def _mark(marks: dict[str, None], name: str, holds: bool) -> bool:  # noqa: FBT001 - it is what is marked
    """Whether that changed anything."""
    changed = holds is not (name in marks)
    if holds:
        marks[name] = None
    else:
        marks.pop(name, None)
    return changed


def can_open(batch: BatchState, phase: PhaseState) -> bool:
    opener = batch.task(phase.phase.opens_with) if phase.phase.opens_with else None
    if opener is not None and (opener.status is None or opener.status is TaskStatus.DONE):
        return opener.status is TaskStatus.DONE
    earlier = [batch.phases[name] for name in phase.phase.after if name in batch.phases]
    gate = share(batch, phase)
    if all(reached(other, gate) for other in earlier):
        return opener is None or gate < 1.0
    return gate < 1.0 and all(other.live == 0 for other in earlier)


def is_hopeless(batch: BatchState, phase: PhaseState) -> bool:
    """Only a strict gate can close for good: the others open when nothing earlier is left to run."""
    if share(batch, phase) < 1.0:
        return False
    opener = batch.task(phase.phase.opens_with) if phase.phase.opens_with else None
    if opener is not None:
        return opener.status is not None and opener.status is not TaskStatus.DONE
    earlier = (batch.phases[name] for name in phase.phase.after if name in batch.phases)
    return any(other.settled + other.live < other.phase.total for other in earlier)


def reached(phase: PhaseState, gate: float) -> bool:
    # A whole number of tasks is compared, so that 4 of 5 meets 0.8 whatever the binary fraction.
    return phase.settled >= phase.phase.total * gate - 1e-9


def share(batch: BatchState, phase: PhaseState) -> float:
    """How much of the earlier phases this one asks for."""
    return batch.settings.phase_gate if phase.phase.gate is None else phase.phase.gate
