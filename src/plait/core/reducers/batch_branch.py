"""The batch branch: merging, rebuilding, the gate, and publishing."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from plait.core import decisions, reports
from plait.core.reducers.task_end import set_task_status, update_rebuild_need
from plait.core.reducers.task_index import reindex_task
from plait.core.requests import Ship
from plait.core.settings import Publish
from plait.core.state import BatchState, BranchMerge, GateFailure, GateState, PublishedBranch, State
from plait.core.status import EndWhy, TaskStatus
from plait.core.task import Attempt, Step


def update_work_time(batch: BatchState, at: float) -> None:
    """Count the time in which an attempt, a commit, a merge, a gate, a rebuild or a publish of an open batch runs."""
    running = bool(batch.alive or batch.committing) or batch.has_branch_work or batch.publishing is not None
    if batch.ended is None and running:
        batch.busy_since = at if batch.busy_since is None else batch.busy_since
    elif batch.busy_since is not None:
        batch.worked += max(0.0, at - batch.busy_since)
        batch.busy_since = None


def apply_branch_decision(state: State, at: float, decision: decisions.BranchDecision) -> None:
    batch = state.batches.get(decision.batch)
    if batch is None:
        return
    match decision:
        case decisions.MergeStarted():
            _start_merge(state, batch, decision)
        case decisions.RebuildStarted():
            batch.rebuilds = decision.n
            batch.rebuild = decision
        case decisions.GateStarted():
            if batch.gate is not None:  # its end was never reported
                state.gate_deadlines.discard((batch.gate.deadline, batch.id, batch.gate.n))
            batch.gates = decision.n
            batch.gate = GateState(decision, at + decision.timeout)
            state.gate_deadlines.add((batch.gate.deadline, batch.id, decision.n))
        case decisions.GateEnding():
            if batch.gate is not None and batch.gate.n == decision.n:
                batch.gate.ending = decision.why
                state.gate_deadlines.discard((batch.gate.deadline, batch.id, decision.n))
        case decisions.PublishStarted():
            _start_publish(state, batch, decision)
        case _:
            assert_never(decision)
    update_work_time(batch, at)


def apply_branch_report(state: State, at: float, report: reports.BranchReport) -> None:
    batch = state.batches.get(report.batch)
    if batch is None:
        return
    match report:
        case reports.MergeDone() | reports.MergeConflicted() | reports.MergeFailed():
            _end_merge(state, batch, report)
        case reports.RebuildDone() | reports.RebuildFailed():
            if batch.rebuild is not None and batch.rebuild.n == report.n:
                _end_rebuild(state, batch, report)
        case reports.GateDone() | reports.GateLost():
            if batch.gate is not None and batch.gate.n == report.n:
                _end_gate(state, batch, batch.gate, report)
        case reports.PublishWaiting():
            if batch.publishing is not None and batch.publishing.n == report.n:
                batch.awaited_program = report.program
        case reports.PublishDone() | reports.PublishFailed():
            _end_publish(state, batch, report)
        case _:
            assert_never(report)
    update_work_time(batch, at)


def _start_merge(state: State, batch: BatchState, decision: decisions.MergeStarted) -> None:
    task = batch.find_task(decision.task)
    if task is not None:
        task.attempt_counts[Step.MERGE] = task.merging = decision.n
        batch.merging = task.index
        reindex_task(state, batch, task)


def _end_merge(
    state: State, batch: BatchState, report: reports.MergeDone | reports.MergeConflicted | reports.MergeFailed
) -> None:
    task = batch.find_task(report.task)
    if task is None or task.merging != report.n:
        return
    task.merging = batch.merging = None
    task.awaited_program = ""
    match report:
        case reports.MergeDone():
            change = decisions.Change(task.task.id, task.base or "", task.tip or "")
            _append_merge(batch, BranchMerge(task.index, task.generation, report.commit, change))
        case reports.MergeConflicted():
            task.conflict_files = report.files
        case reports.MergeFailed():
            task.merge_error = report.why
        case _:
            assert_never(report)
    update_rebuild_need(batch, task)
    reindex_task(state, batch, task)


def discard_lost_change(state: State, name: Attempt) -> None:
    """Forget the task's change, because the merge that failed just now found it gone."""
    _, task = state.find_task(name.batch, name.task)
    if task is not None and task.merge_error is not None and task.attempt_counts.get(Step.MERGE) == name.n:
        task.base = task.tip = None


def _append_merge(batch: BatchState, entry: BranchMerge) -> None:
    task = batch.tasks[entry.task_index]
    task.merged_generation, task.merge_position = entry.generation, len(batch.merges)
    batch.merges.append(entry)
    batch.head = task.commit = entry.commit


def _end_rebuild(state: State, batch: BatchState, report: reports.RebuildDone | reports.RebuildFailed) -> None:
    batch.rebuild = None
    if isinstance(report, reports.RebuildFailed):
        batch.rebuild_failures += 1
        batch.rebuild_error = report.why
    else:
        batch.rebuild_failures = 0
        _apply_rebuild(state, batch, report)


def _apply_rebuild(state: State, batch: BatchState, report: reports.RebuildDone) -> None:
    """Replace the batch's merges with the rebuilt ones; gate results hold up to the first merge that is gone."""
    old, batch.merges = batch.merges, []
    batch.head = batch.base
    entries = {entry.change.task: entry for entry in old}
    for entry in old:
        gone = batch.tasks[entry.task_index]
        gone.merged_generation, gone.merge_position, gone.commit = None, -1, None
    for merged in report.line:
        if merged.task in entries:
            _append_merge(batch, replace(entries[merged.task], commit=merged.commit))
    _reset_gate_results(batch, old)
    for conflict in report.clashes:
        if conflict.task in entries:
            _record_conflict(state, batch, entries[conflict.task], conflict.files)
    for entry in old:
        update_rebuild_need(batch, batch.tasks[entry.task_index])
        reindex_task(state, batch, batch.tasks[entry.task_index])


def _reset_gate_results(batch: BatchState, old: list[BranchMerge]) -> None:
    pairs = zip(old, batch.merges, strict=False)
    same = next(
        (size for size, (before, after) in enumerate(pairs) if before.task_index != after.task_index), len(batch.merges)
    )
    batch.gate_good_size = min(batch.gate_good_size, same)
    if batch.gate_bad_size is not None and batch.gate_bad_size > same:
        batch.gate_bad_size = None
    if batch.gate is not None and batch.gate.size > same:
        batch.gate.stale = True


def _record_conflict(state: State, batch: BatchState, entry: BranchMerge, files: tuple[str, ...]) -> None:
    """Record that a rebuild could not apply this change: it left the branch, so its task is not done any more."""
    task = batch.tasks[entry.task_index]
    if task.generation != entry.generation or task.status not in {None, TaskStatus.DONE}:
        return
    task.conflict_files = files
    if task.status is not None:
        set_task_status(state, batch, task, None)


def _end_gate(state: State, batch: BatchState, gate: GateState, report: reports.GateDone | reports.GateLost) -> None:
    state.gate_deadlines.discard((gate.deadline, batch.id, gate.n))
    batch.gate = None
    if gate.stale or gate.ending in {EndWhy.STOP, EndWhy.CANCEL}:
        return
    if isinstance(report, reports.GateLost):
        batch.gate_losses += not report.outage
        return
    batch.gate_losses = 0
    if report.passed:
        batch.gate_passed_commits.add(gate.decision.commit)
        _pass_gate(state, batch, gate.size)
    elif gate.size == 0:
        time_limit = gate.decision.timeout if gate.ending is EndWhy.TIMEOUT else None
        batch.base_failure = GateFailure(report.detail, time_limit)
    else:
        batch.gate_bad_size = gate.size
        if batch.gate_good_size >= gate.size:
            batch.gate_good_size = _find_tested_size(batch, gate.size)


def _find_tested_size(batch: BatchState, bad: int) -> int:
    """Return the largest number of merges below `bad` that passed the gate exactly as they are; 0 if none. A pass
    together with merges that are gone says nothing.
    """
    sizes = (size for size in range(bad - 1, 0, -1) if batch.merges[size - 1].commit in batch.gate_passed_commits)
    return next(sizes, 0)


def _pass_gate(state: State, batch: BatchState, size: int) -> None:
    if size == 0:
        batch.base_passed = True
    before, batch.gate_good_size = batch.gate_good_size, max(batch.gate_good_size, size)
    for entry in batch.merges[before : batch.gate_good_size]:
        reindex_task(state, batch, batch.tasks[entry.task_index])


def request_publish(state: State, batch: BatchState, request: Ship) -> None:
    batch.requested_publish = request.publish
    batch.pull_request_override = batch.pull_request_override.with_changes(request.title, request.body)
    batch.renamed = batch.renamed or request.title is not None
    state.publishing_batches[batch.id] = batch


def _start_publish(state: State, batch: BatchState, decision: decisions.PublishStarted) -> None:
    batch.requested_publish = batch.publish_failure = None
    batch.publishing, batch.awaited_program = decision, ""
    batch.publishes = decision.n
    state.publishing_batches[batch.id] = batch


def _end_publish(state: State, batch: BatchState, report: reports.PublishDone | reports.PublishFailed) -> None:
    decision = batch.publishing
    if decision is None or decision.n != report.n:
        return
    batch.publishing, batch.awaited_program = None, ""
    state.publishing_batches.pop(batch.id, None)
    batch.pushed = report.commit or batch.pushed
    match report:
        case reports.PublishDone():
            url = report.url or (batch.published.url if batch.published else "")
            batch.published = PublishedBranch(report.commit, url, decision.publish)
            batch.renamed = batch.renamed and decision.publish is Publish.PUSH
        case reports.PublishFailed():
            batch.publish_failure = report
        case _:
            assert_never(report)
