"""The gate runs on the merged result; when it fails, halving finds the first merge that breaks it."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import BatchPaused, BatchUnpaused, Decision, GateEnding, GateStarted, TaskEnded
from plait.core.decisions__due import Due, due_now
from plait.core.retry_policy import MAX_LOST_GATES, describe_failure
from plait.core.scheduler.merge_queue__rebuild import is_branch_stable
from plait.core.scheduler.selection__slots import may_continue
from plait.core.state import BatchState, State
from plait.core.status import Category, EndWhy, PauseCause, TaskStatus
from plait.core.status__owed import NextAction


def schedule_gates(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.gate is not None:
            if batch.gate.stale and batch.gate.ending is None:
                yield due_now(GateEnding(batch.id, batch.gate.n, EndWhy.DROP))
        elif batch.settings.gate is None:
            if batch.paused is not None and batch.paused.cause is PauseCause.GATE:
                yield due_now(BatchUnpaused(batch.id, "there is no gate any more"))
        elif _is_gate_due(state, batch):
            decision = _next_gate_step(batch)
            if decision is not None:
                yield due_now(decision)


def schedule_gate_timeouts(state: State) -> Iterator[Due]:
    for at, batch, n in state.gate_deadlines:
        yield Due(at, GateEnding(batch, n, EndWhy.TIMEOUT))


def is_ungated(batch: BatchState) -> bool:
    """What is merged has not passed as it is now: what was taken out of it may have made it pass."""
    if batch.settings.gate is None or batch.cancelled or not batch.merges:
        return False
    return batch.gate_good_size < len(batch.merges) or batch.head not in batch.gate_passed_commits


def _is_gate_due(state: State, batch: BatchState) -> bool:
    ready = is_ungated(batch) and is_branch_stable(batch) and not batch.tasks_by_action[NextAction.FINISH]
    return ready and may_continue(state, batch)


def _next_gate_step(batch: BatchState) -> Decision | None:
    if batch.base_failure is not None:
        why = f"the gate fails on the base, before any task's change: {batch.base_failure}"
        return BatchPaused(batch.id, PauseCause.GATE, why)
    if batch.gate_losses >= MAX_LOST_GATES:
        return BatchPaused(batch.id, PauseCause.GATE, f"the gate was lost {batch.gate_losses} times in a row")
    if batch.gate_bad_size is not None:
        return _bisect(batch, batch.gate_good_size, batch.gate_bad_size)
    if batch.merging is not None or batch.tasks_by_action[NextAction.MERGE]:
        return None  # more is about to be merged: one run for all of it
    return _start_gate(batch, len(batch.merges))


def _bisect(batch: BatchState, good: int, bad: int) -> Decision:
    """The first `good` merges pass together, the first `bad` don't."""
    if bad - good > 1:
        return _start_gate(batch, (good + bad) // 2)
    if good == 0 and not batch.base_passed:
        return _start_gate(batch, 0)
    guilty = batch.tasks[batch.merges[bad - 1].place].task.id
    return TaskEnded(batch.id, guilty, TaskStatus.FAILED, describe_failure(Category.GATE), Category.GATE)


def _start_gate(batch: BatchState, size: int) -> GateStarted:
    commit = batch.merges[size - 1].commit if size else batch.base
    settings = batch.settings
    return GateStarted(batch.id, batch.gates + 1, commit, size, settings.gate_timeout, settings.gate or "")
