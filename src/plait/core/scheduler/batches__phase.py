"""A phase opens when enough of the earlier ones is done; tasks of one that can never open are blocked."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import PhaseOpened
from plait.core.decisions__due import Due, due_now
from plait.core.reducers.batches import required_share
from plait.core.state import BatchState, PhaseState, State, TaskState
from plait.core.status import TaskStatus


def schedule_phase_openings(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for name in batch.openable_phases:
            yield due_now(PhaseOpened(batch.id, name, _why_phase_opens(batch, batch.phases[name])))


def _why_phase_opens(batch: BatchState, phase: PhaseState) -> str:
    opener = batch.find_task(phase.phase.opens_with) if phase.phase.opens_with else None
    if opener is not None and opener.status is TaskStatus.DONE:
        return f"{opener.task.id} is done"
    return describe_phase_progress(batch, phase)


def describe_phase_progress(batch: BatchState, phase: PhaseState) -> str:
    """How far the phases are that this one waits for, in words: "1: 4 of 5 done, 80% needed"."""
    needed = f"{required_share(batch, phase):.0%} needed"
    earlier = (batch.phases[name] for name in phase.phase.after if name in batch.phases)
    return "; ".join(
        f"{other.phase.key}: {other.settled} of {other.phase.total} done, {needed}" for other in earlier
    )


def why_phase_blocked(batch: BatchState, task: TaskState) -> str:
    """Why a task of a phase that can't open any more is blocked."""
    phase = batch.phases[task.task.phase or ""]
    opener = phase.phase.opens_with
    why = f"{opener} did not get done" if opener in batch.index else _why_phase_opens(batch, phase)
    return f"its phase {phase.phase.key} can't open any more ({why})"
