"""A phase opens when enough of the earlier ones is done; tasks of one that can never open are blocked."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.decisions import PhaseOpened, TaskEnded
from plait.core.state import BatchState, PhaseState, State
from plait.core.status import TaskStatus


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for name in batch.openable:
            yield now(PhaseOpened(batch.id, name, _why(batch, batch.phases[name])))
        for name in batch.hopeless:
            yield from _block(batch, batch.phases[name])


def _why(batch: BatchState, phase: PhaseState) -> str:
    opener = phase.phase.opens_with
    if opener is not None:
        return f"{opener} is done"
    return "; ".join(progress(batch, name) for name in phase.phase.after if name in batch.phases)


def progress(batch: BatchState, name: str) -> str:
    """How far a phase is, in words: "phase 1: 4 of 5 done, 80% needed"."""
    phase = batch.phases[name]
    needed = f"{batch.settings.phase_gate:.0%} needed"
    return f"{name}: {phase.settled} of {phase.phase.total} done, {needed}"


def _block(batch: BatchState, phase: PhaseState) -> Iterator[Due]:
    for member in phase.members:
        task = batch.tasks[member]
        if task.status is None and task.closed and task.doom is None and not task.lost:
            opener = phase.phase.opens_with
            why = f"{opener} did not get done" if opener else _why(batch, phase)
            reason = f"its phase {phase.phase.key} can't open any more ({why})"
            yield now(TaskEnded(batch.id, task.task.id, TaskStatus.BLOCKED, reason))
