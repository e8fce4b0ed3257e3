"""The line of merges, its rebuilds and its gates."""

from __future__ import annotations

from dataclasses import replace

from plait.core.decisions import Change, GateEnding, GateStarted, MergeStarted, RebuildStarted
from plait.core.reports import (
    GateDone,
    GateLost,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    RebuildDone,
    RebuildFailed,
)
from plait.core.status import Category, EndWhy
from plait.core.task import Step
from plait.testing.laws.facts import BatchFacts, GateFacts, MergedChange, TaskFacts
from plait.testing.laws.facts__book import Facts


def fold_merge_started(book: Facts, event: MergeStarted) -> None:
    batch = book.batch(event.batch)
    batch.merging = event.task
    page = batch.tasks[event.task]
    page.merging = event
    page.numbers[Step.MERGE] = event.n


def fold_merge_over(book: Facts, at: float, report: MergeDone | MergeConflicted | MergeFailed) -> None:
    batch = book.batches.get(report.batch)
    page = batch.tasks.get(report.task) if batch else None
    if batch is None or page is None or page.merging is None or page.merging.n != report.n:
        return
    order, page.merging, batch.merging = page.merging, None, None
    if isinstance(report, MergeDone):
        change = Change(report.task, order.base, order.tip)
        batch.merges.append(MergedChange(change, page.generation, report.commit))
    else:
        conflict = isinstance(report, MergeConflicted)
        _note_merge_problem(page, Category.CONFLICT if conflict else Category.MERGE, at)


def _note_merge_problem(page: TaskFacts, category: Category, at: float) -> None:
    page.merge_problem, page.merge_problem_at = category, at


def fold_rebuild_started(book: Facts, event: RebuildStarted) -> None:
    batch = book.batch(event.batch)
    batch.rebuild, batch.rebuilds = event, event.n


def fold_rebuild_over(book: Facts, at: float, report: RebuildDone | RebuildFailed) -> None:
    batch = book.batches.get(report.batch)
    if batch is None or batch.rebuild is None or batch.rebuild.n != report.n:
        return
    batch.rebuild = None
    if isinstance(report, RebuildFailed):
        batch.rebuild_failures += 1
        return
    batch.rebuild_failures = 0
    old = {link.task: link for link in batch.merges}
    batch.merges = [replace(old[merged.task], commit=merged.commit) for merged in report.line]
    _shrink_gated(batch, list(old.values()))
    for clash in report.clashes:
        page = batch.tasks[clash.task]
        if old[clash.task].generation == page.generation and (page.ended is None or page.is_done):
            # It was done by being in the branch; it no longer is.
            page.ended = None
            _note_merge_problem(page, Category.CONFLICT, at)


def _shrink_gated(batch: BatchFacts, old: list[MergedChange]) -> None:
    """What was tested counts up to the first merge that is gone."""
    same = 0
    for was, now in zip(old, batch.merges, strict=False):
        if was.task != now.task:
            break
        same += 1
    batch.gate_passed_size = min(batch.gate_passed_size, same)
    if batch.gate is not None and len(batch.gate.prefix) > same:
        batch.gate.stale = True


def fold_gate_started(book: Facts, at: float, event: GateStarted) -> None:
    batch = book.batch(event.batch)
    batch.gate = GateFacts(event, at, tuple(batch.merges[: event.size]))
    batch.gates = event.n


def fold_gate_ending(book: Facts, event: GateEnding) -> None:
    gate = book.batch(event.batch).gate
    if gate is not None and gate.order.n == event.n:
        gate.ending = event.why


def fold_gate_over(book: Facts, report: GateDone | GateLost) -> None:
    batch = book.batches.get(report.batch)
    if batch is None or batch.gate is None or batch.gate.order.n != report.n:
        return
    gate, batch.gate = batch.gate, None
    if gate.stale or gate.ending in {EndWhy.STOP, EndWhy.CANCEL}:
        return
    if isinstance(report, GateLost):
        batch.gate_losses += 1
        return
    batch.gate_losses = 0
    if report.passed:
        batch.base_proved = batch.base_proved or gate.order.size == 0
        batch.passed.add(gate.order.commit)
        batch.gate_passed_size = max(batch.gate_passed_size, gate.order.size)
    elif gate.prefix:
        batch.failed[prefix_key(gate.prefix)] = None
        if batch.gate_passed_size >= gate.order.size:
            # It passed before only with what is gone now: nothing but what was tested alone still counts.
            sizes = [n for n, link in enumerate(gate.prefix[:-1], 1) if link.commit in batch.passed]
            batch.gate_passed_size = max(sizes, default=0)
    else:
        batch.base_failed = True


def prefix_key(prefix: tuple[MergedChange, ...]) -> tuple[tuple[str, int], ...]:
    """A prefix of the line as what was in it; rebuilding gives the same merges new commits."""
    return tuple((link.task, link.generation) for link in prefix)
