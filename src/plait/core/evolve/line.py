"""The line of merges that makes the batch branch: merging, rebuilding, gating."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from plait.core.decisions import (
    AboutLine,
    Change,
    GateEnding,
    GateStarted,
    MergeStarted,
    PublishStarted,
    RebuildStarted,
)
from plait.core.evolve import publish
from plait.core.evolve.index import place
from plait.core.evolve.settle import settle, want
from plait.core.reports import (
    GateDone,
    GateLost,
    LineReport,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    PublishDone,
    PublishFailed,
    RebuildDone,
    RebuildFailed,
)
from plait.core.state import BatchState, GateState, LineEntry, State
from plait.core.status import EndWhy, TaskStatus
from plait.core.task import Attempt, Step


def decided(state: State, at: float, decision: AboutLine) -> None:
    batch = state.batches.get(decision.batch)
    if batch is None:
        return
    match decision:
        case MergeStarted():
            _start_merge(state, batch, decision)
        case RebuildStarted():
            batch.rebuilds = decision.n
            batch.rebuild = decision
        case GateStarted():
            if batch.gate is not None:  # its end was never told
                state.gate_deadlines.discard((batch.gate.deadline, batch.id, batch.gate.n))
            batch.gates = decision.n
            batch.gate = GateState(decision, at + decision.timeout)
            state.gate_deadlines.add((batch.gate.deadline, batch.id, decision.n))
        case GateEnding():
            if batch.gate is not None and batch.gate.n == decision.n:
                batch.gate.ending = decision.why
                state.gate_deadlines.discard((batch.gate.deadline, batch.id, decision.n))
        case PublishStarted():
            publish.started(state, batch, decision)
        case _:
            assert_never(decision)


def reported(state: State, at: float, report: LineReport) -> None:
    batch = state.batches.get(report.batch)
    if batch is None:
        return
    match report:
        case MergeDone() | MergeConflicted() | MergeFailed():
            _merge_over(state, batch, report)
        case RebuildDone() | RebuildFailed():
            if batch.rebuild is not None and batch.rebuild.n == report.n:
                _rebuild_over(state, batch, report)
        case GateDone() | GateLost():
            if batch.gate is not None and batch.gate.n == report.n:
                _gate_over(state, batch, batch.gate, report)
        case PublishDone() | PublishFailed():
            publish.over(state, at, batch, report)
        case _:
            assert_never(report)


def _start_merge(state: State, batch: BatchState, decision: MergeStarted) -> None:
    task = batch.task(decision.task)
    if task is not None:
        task.numbers[Step.MERGE] = task.merging = decision.n
        batch.merging = task.place
        place(state, batch, task)


def _merge_over(state: State, batch: BatchState, report: MergeDone | MergeConflicted | MergeFailed) -> None:
    task = batch.task(report.task)
    if task is None or task.merging != report.n:
        return
    task.merging = batch.merging = None
    match report:
        case MergeDone():
            change = Change(task.task.id, task.base or "", task.tip or "")
            _join(batch, LineEntry(task.place, task.life, report.commit, change))
        case MergeConflicted():
            task.clash = report.files
        case MergeFailed():
            task.merge_error = report.why
        case _:
            assert_never(report)
    want(batch, task)
    place(state, batch, task)


def lose_change(state: State, name: Attempt) -> None:
    """The merge that failed just now found nothing to merge: what had been verified is gone."""
    batch = state.batches.get(name.batch)
    task = batch.task(name.task) if batch else None
    if task is not None and task.merge_error is not None and task.numbers.get(Step.MERGE) == name.n:
        task.base = task.tip = None


def _join(batch: BatchState, entry: LineEntry) -> None:
    task = batch.tasks[entry.place]
    task.merged_life, task.line_place, task.commit = entry.life, len(batch.line), entry.commit
    batch.line.append(entry)
    batch.head = entry.commit


def _rebuild_over(state: State, batch: BatchState, report: RebuildDone | RebuildFailed) -> None:
    batch.rebuild = None
    if isinstance(report, RebuildFailed):
        batch.rebuild_failures += 1
        batch.rebuild_error = report.why
    else:
        batch.rebuild_failures = 0
        _rebuilt(state, batch, report)


def _rebuilt(state: State, batch: BatchState, report: RebuildDone) -> None:
    """Take the new line; what is known of the gate holds up to the first merge that is gone."""
    old, batch.line = batch.line, []
    batch.head = batch.base
    entries = {entry.change.task: entry for entry in old}
    for entry in old:
        gone = batch.tasks[entry.place]
        gone.merged_life, gone.line_place, gone.commit = None, -1, None
    for merged in report.line:
        if merged.task in entries:
            _join(batch, replace(entries[merged.task], commit=merged.commit))
    _forget_gates(batch, old)
    for clash in report.clashes:
        if clash.task in entries:
            _clash(state, batch, entries[clash.task], clash.files)
    for entry in old:
        want(batch, batch.tasks[entry.place])
        place(state, batch, batch.tasks[entry.place])


def _forget_gates(batch: BatchState, old: list[LineEntry]) -> None:
    pairs = zip(old, batch.line, strict=False)
    same = next((size for size, (was, now) in enumerate(pairs) if was.place != now.place), len(batch.line))
    batch.gated = min(batch.gated, same)
    if batch.bad is not None and batch.bad > same:
        batch.bad = None
    if batch.gate is not None and batch.gate.size > same:
        batch.gate.stale = True


def _clash(state: State, batch: BatchState, entry: LineEntry, files: tuple[str, ...]) -> None:
    """Its change is no longer in the branch, so it is not done, whatever it was before."""
    task = batch.tasks[entry.place]
    if task.life != entry.life or task.status not in {None, TaskStatus.DONE}:
        return
    task.clash = files
    if task.status is not None:
        settle(state, batch, task, None)


def _gate_over(state: State, batch: BatchState, gate: GateState, report: GateDone | GateLost) -> None:
    state.gate_deadlines.discard((gate.deadline, batch.id, gate.n))
    batch.gate = None
    if gate.stale or gate.ending in {EndWhy.STOP, EndWhy.CANCEL}:
        return
    if isinstance(report, GateLost):
        batch.gate_losses += 1
        return
    batch.gate_losses = 0
    if report.passed:
        batch.passed.add(gate.decision.commit)
        _gate_passed(state, batch, gate.size)
    elif gate.size == 0:
        batch.base_bad = report.detail or "it failed"
    else:
        batch.bad = gate.size
        if batch.gated >= gate.size:
            batch.gated = _tested(batch, gate.size)


def _tested(batch: BatchState, bad: int) -> int:
    """Fewer than `bad` merges that have passed as they are. What passed only with others that are gone says nothing."""
    sizes = (size for size in range(bad - 1, 0, -1) if batch.line[size - 1].commit in batch.passed)
    return next(sizes, 0)


def _gate_passed(state: State, batch: BatchState, size: int) -> None:
    if size == 0:
        batch.base_good = True
    before, batch.gated = batch.gated, max(batch.gated, size)
    for entry in batch.line[before : batch.gated]:
        place(state, batch, batch.tasks[entry.place])
