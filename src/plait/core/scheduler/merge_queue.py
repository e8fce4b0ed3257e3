"""The batch branch: merges, rebuilds and the gate.

Verified changes are merged one at a time in plan order. What was merged and is no longer wanted is removed by rebuilding
the branch without it. The gate runs on the merged result; when it fails, bisection finds the first merge that breaks it.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core import decisions
from plait.core.decisions import Decision, Due
from plait.core.retry_policy import MAX_LOST_GATES, MAX_REBUILD_TRIES, describe_failure
from plait.core.scheduler.starts import may_continue
from plait.core.settings import ExecutorKind
from plait.core.state import BatchState, State
from plait.core.status import Category, EndWhy, NextAction, PauseCause, TaskStatus, WaitReason
from plait.core.task import Step
from plait.core.text import format_duration


def schedule_merges(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        for index in batch.tasks_by_action[NextAction.FINISH]:
            gated = " and passed the gate" if batch.settings.gate else ""
            yield decisions.TaskEnded(batch.id, batch.tasks[index].task.id, TaskStatus.DONE, f"merged{gated}")
        if batch.merging is None and batch.tasks_by_action[NextAction.MERGE] and batch.is_branch_stable:
            yield _start_next_merge(batch)


def _start_next_merge(batch: BatchState) -> decisions.MergeStarted:
    index = batch.tasks_by_action[NextAction.MERGE].first()
    assert index is not None
    task = batch.tasks[index]
    n = task.attempt_counts.get(Step.MERGE, 0) + 1
    return decisions.MergeStarted(batch.id, task.task.id, n, task.base or "", task.tip or "", batch.head)


def schedule_rebuilds(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        if not batch.merges_to_drop or batch.rebuild is not None or batch.merging is not None:
            continue
        if not is_rebuild_abandoned(batch):
            yield _start_rebuild(batch)
        elif batch.paused is None:
            why = f"rebuilding the batch branch failed {MAX_REBUILD_TRIES} times in a row: {batch.rebuild_error}"
            yield decisions.BatchPaused(batch.id, PauseCause.BRANCH, why)


def is_rebuild_abandoned(batch: BatchState) -> bool:
    """Whether rebuilding failed so often that a person has to look at it and resume the batch."""
    return bool(batch.merges_to_drop) and batch.rebuild is None and batch.rebuild_failures >= MAX_REBUILD_TRIES


def _start_rebuild(batch: BatchState) -> decisions.RebuildStarted:
    without = tuple(batch.tasks[index].task.id for index in sorted(batch.merges_to_drop))
    line = tuple(entry.change for entry in batch.merges if entry.task_index not in batch.merges_to_drop)
    return decisions.RebuildStarted(batch.id, batch.rebuilds + 1, without, line)


def schedule_gates(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        if batch.gate is not None:
            if batch.gate.stale and batch.gate.ending is None:
                yield decisions.GateEnding(batch.id, batch.gate.n, EndWhy.DROP)
        elif batch.settings.gate is None:
            if batch.paused is not None and batch.paused.cause is PauseCause.GATE:
                yield decisions.BatchUnpaused(batch.id, "the gate was removed")
        elif _is_gate_due(state, batch):
            decision = _next_gate_step(batch)
            if decision is not None:
                yield decision


def schedule_gate_timeouts(state: State) -> Iterator[Due]:
    for at, batch, n in state.gate_deadlines:
        yield Due(at, decisions.GateEnding(batch, n, EndWhy.TIMEOUT))


def is_ungated(batch: BatchState) -> bool:
    """Whether the branch as it is has not passed the gate; it may have passed with a change that was removed since."""
    if batch.settings.gate is None or batch.cancelled or not batch.merges:
        return False
    return batch.gate_good_size < len(batch.merges) or batch.head not in batch.gate_passed_commits


def _is_gate_due(state: State, batch: BatchState) -> bool:
    ready = is_ungated(batch) and batch.is_branch_stable and not batch.tasks_by_action[NextAction.FINISH]
    return ready and may_continue(state, batch) and why_cluster_waits(state, batch) is None


def why_cluster_waits(state: State, batch: BatchState) -> str | None:
    """Say why nothing of the batch can run on its cluster now, where a gate would be lost or time out."""
    capacity = state.capacity
    if batch.settings.executor is ExecutorKind.LOCAL or capacity is None or capacity.slots != 0:
        return None
    return capacity.why if capacity.on is WaitReason.SLOT else None


def _next_gate_step(batch: BatchState) -> Decision | None:
    if batch.base_failure is not None:
        limit, detail = batch.base_failure.time_limit, batch.base_failure.detail or "it failed"
        cause = detail if limit is None else f"timed out after {format_duration(limit)}"
        why = f"the gate fails on the base, before any task's change: {cause}"
        return decisions.BatchPaused(batch.id, PauseCause.GATE, why)
    if batch.gate_losses >= MAX_LOST_GATES:
        return decisions.BatchPaused(batch.id, PauseCause.GATE, f"the gate was lost {batch.gate_losses} times in a row")
    if batch.gate_bad_size is not None:
        return _bisect(batch, batch.gate_good_size, batch.gate_bad_size)
    if batch.merging is not None or batch.tasks_by_action[NextAction.MERGE]:
        return None  # more is about to be merged: one run for all of it
    return _start_gate(batch, len(batch.merges))


def _bisect(batch: BatchState, good: int, bad: int) -> Decision:
    """Search for the first merge that breaks the gate: the first `good` merges pass together, the first `bad` don't."""
    if bad - good > 1:
        return _start_gate(batch, (good + bad) // 2)
    if good == 0 and not batch.base_passed:
        return _start_gate(batch, 0)
    culprit = batch.tasks[batch.merges[bad - 1].task_index].task.id
    return decisions.TaskEnded(batch.id, culprit, TaskStatus.FAILED, describe_failure(Category.GATE), Category.GATE)


def _start_gate(batch: BatchState, size: int) -> decisions.GateStarted:
    commit = batch.merges[size - 1].commit if size else batch.base
    settings = batch.settings
    return decisions.GateStarted(batch.id, batch.gates + 1, commit, size, settings.gate_timeout, settings.gate or "")
