"""A phase opens when enough of the earlier ones is done; tasks of one that can never open are blocked."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.decisions import PhaseOpened
from plait.core.evolve.phases import share
from plait.core.state import BatchState, PhaseState, State, TaskState
from plait.core.status import TaskStatus


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for name in batch.openable:
            yield now(PhaseOpened(batch.id, name, _why(batch, batch.phases[name])))


def _why(batch: BatchState, phase: PhaseState) -> str:
    opener = batch.task(phase.phase.opens_with) if phase.phase.opens_with else None
    if opener is not None and opener.status is TaskStatus.DONE:
        return f"{opener.task.id} is done"
    return progress(batch, phase)


def progress(batch: BatchState, phase: PhaseState) -> str:
    """How far the phases are that this one waits for, in words: "1: 4 of 5 done, 80% needed"."""
    needed = f"{share(batch, phase):.0%} needed"
    earlier = (batch.phases[name] for name in phase.phase.after if name in batch.phases)
    return "; ".join(
        f"{other.phase.key}: {other.settled} of {other.phase.total} done, {needed}" for other in earlier
    )


def shut_out(batch: BatchState, task: TaskState) -> str:
    """Why a task of a phase that can't open any more is blocked."""
    phase = batch.phases[task.task.phase or ""]
    opener = phase.phase.opens_with
    why = f"{opener} did not get done" if opener in batch.index else _why(batch, phase)
    return f"its phase {phase.phase.key} can't open any more ({why})"
