"""The gate runs on the merged result; when it fails, halving finds the first merge that breaks it."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.agenda.rebuild import line_stands
from plait.core.agenda.slots import may_go_on
from plait.core.decisions import BatchPaused, BatchUnpaused, Decision, GateEnding, GateStarted, TaskEnded
from plait.core.owed import Owed
from plait.core.policy import GATE_LOSSES, words
from plait.core.state import BatchState, State
from plait.core.status import Category, EndWhy, PauseCause, TaskStatus


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.gate is not None:
            if batch.gate.stale and batch.gate.ending is None:
                yield now(GateEnding(batch.id, batch.gate.n, EndWhy.DROP))
        elif batch.settings.gate is None:
            if batch.paused is not None and batch.paused.cause is PauseCause.GATE:
                yield now(BatchUnpaused(batch.id, "there is no gate any more"))
        elif _may_gate(state, batch):
            decision = _next(batch)
            if decision is not None:
                yield now(decision)


def later(state: State) -> Iterator[Due]:
    for at, batch, n in state.gate_deadlines:
        yield Due(at, GateEnding(batch, n, EndWhy.TIMEOUT))


def ungated(batch: BatchState) -> bool:
    """What is merged has not passed as it is now: what was taken out of it may have made it pass."""
    if batch.settings.gate is None or batch.cancelled or not batch.line:
        return False
    return batch.gated < len(batch.line) or batch.head not in batch.passed


def _may_gate(state: State, batch: BatchState) -> bool:
    ready = ungated(batch) and line_stands(batch) and not batch.owed[Owed.FINISH]
    return ready and may_go_on(state, batch)


def _next(batch: BatchState) -> Decision | None:
    if batch.base_bad is not None:
        why = f"the gate fails on the base, before any task's change: {batch.base_bad}"
        return BatchPaused(batch.id, PauseCause.GATE, why)
    if batch.gate_losses >= GATE_LOSSES:
        return BatchPaused(batch.id, PauseCause.GATE, f"the gate was lost {batch.gate_losses} times in a row")
    if batch.bad is not None:
        return _bisect(batch, batch.gated, batch.bad)
    if batch.merging is not None or batch.owed[Owed.MERGE]:
        return None  # more is about to be merged: one run for all of it
    return _run(batch, len(batch.line))


def _bisect(batch: BatchState, good: int, bad: int) -> Decision:
    """The first `good` merges pass together, the first `bad` don't."""
    if bad - good > 1:
        return _run(batch, (good + bad) // 2)
    if good == 0 and not batch.base_good:
        return _run(batch, 0)
    guilty = batch.tasks[batch.line[bad - 1].place].task.id
    return TaskEnded(batch.id, guilty, TaskStatus.FAILED, words(Category.GATE), Category.GATE)


def _run(batch: BatchState, size: int) -> GateStarted:
    commit = batch.line[size - 1].commit if size else batch.base
    settings = batch.settings
    return GateStarted(batch.id, batch.gates + 1, commit, size, settings.gate_timeout, settings.gate or "")
