"""What is decided about a batch as a whole."""

from __future__ import annotations

from typing import assert_never

from plait.core.contest import is_begun
from plait.core.decisions import (
    BatchDecision,
    BatchEnded,
    BatchHalted,
    BatchPaused,
    BatchUnpaused,
    PhaseOpened,
)
from plait.core.reducers.batches import review_phase
from plait.core.reducers.task_index import reindex_task
from plait.core.state import BatchState, PauseState, PendingEnd, State
from plait.core.status import EndWhy, TaskStatus


def apply_batch_decision(state: State, at: float, decision: BatchDecision) -> None:
    batch = state.batches.get(decision.batch)
    if batch is None:
        return
    match decision:
        case PhaseOpened():
            _open_phase(state, batch, decision.phase)
        case BatchPaused():
            batch.paused = PauseState(decision.cause, decision.why)
        case BatchUnpaused():
            batch.paused = None
        case BatchHalted():
            _halt_batch(state, batch, decision)
        case BatchEnded():
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


def _halt_batch(state: State, batch: BatchState, decision: BatchHalted) -> None:
    batch.halted_by = decision.by
    for task in batch.tasks:
        if task.status is None and not is_begun(batch, task):
            task.pending_end = PendingEnd(TaskStatus.SKIPPED, EndWhy.DROP, decision.why, decision.by)
            reindex_task(state, batch, task)
