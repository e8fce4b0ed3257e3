"""What is decided about a batch as a whole."""

from __future__ import annotations

from typing import assert_never

from plait.core.contest import begun
from plait.core.decisions import AboutBatch, BatchEnded, BatchHalted, BatchPaused, BatchUnpaused, PhaseOpened
from plait.core.evolve.index import place
from plait.core.evolve.phases import review
from plait.core.state import BatchState, Doom, Paused, State
from plait.core.status import EndWhy, TaskStatus


def decided(state: State, at: float, decision: AboutBatch) -> None:
    batch = state.batches.get(decision.batch)
    if batch is None:
        return
    match decision:
        case PhaseOpened():
            _open_phase(state, batch, decision.phase)
        case BatchPaused():
            batch.paused = Paused(decision.cause, decision.why)
        case BatchUnpaused():
            batch.paused = None
        case BatchHalted():
            _halt(state, batch, decision)
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
    review(state, batch, phase)
    for member in phase.members:
        batch.tasks[member].closed = False
        place(state, batch, batch.tasks[member])


def _halt(state: State, batch: BatchState, decision: BatchHalted) -> None:
    batch.halted = decision.by
    for task in batch.tasks:
        if task.status is None and not begun(batch, task):
            task.doom = Doom(TaskStatus.SKIPPED, EndWhy.DROP, decision.why, decision.by)
            place(state, batch, task)
