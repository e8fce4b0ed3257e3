"""Providers, the machine, the clock, and what is decided about batches as a whole.

The line of merges, its rebuilds and its gates.

What is being published, and what the remote has.
"""

from __future__ import annotations

from dataclasses import replace

from plait.core.decisions import (
    BatchEnded,
    BatchHalted,
    BatchPaused,
    BatchUnpaused,
    BreakerClosed,
    BreakerOpened,
    Change,
    DeadlinesMoved,
    GateEnding,
    GateStarted,
    LimitRaised,
    MergeStarted,
    PhaseOpened,
    PublishStarted,
    RebuildStarted,
)
from plait.core.reports import (
    CapacityChanged,
    ClockJumped,
    EngineTaken,
    GateDone,
    GateLost,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    PressureChanged,
    PublishDone,
    PublishFailed,
    RateLimited,
    RebuildDone,
    RebuildFailed,
)
from plait.core.settings import Publish
from plait.core.status import Category, EndWhy
from plait.core.task import Step
from plait.testing.laws.attempt_folds import note_refusal
from plait.testing.laws.facts import BatchFacts, Facts, GateFacts, MergedChange, ProviderFacts, TaskFacts

LONGEST_BREAKER_SECONDS = 8 * 86_400.0  # no provider is shut out for longer, whatever it says


def fold_breaker_opened(book: Facts, at: float, event: BreakerOpened) -> None:
    page = book.providers.setdefault(event.provider, ProviderFacts())
    if page.until is None or page.until <= at:
        page.opened_at = at
        page.streak += 1
    page.until, page.limit, page.refused_since_opening = event.until, event.limit, False
    page.rejected, page.rejecting, page.may_be_restored = event.rejected, False, False
    if page.refuses_until is not None and min(page.refuses_until, at + LONGEST_BREAKER_SECONDS) <= event.until:
        page.refuses_until = page.refused_at = None


def fold_breaker_closed(book: Facts, event: BreakerClosed) -> None:
    page = book.providers[event.provider]
    page.until, page.may_be_restored = None, False


def fold_limit_raised(book: Facts, event: LimitRaised) -> None:
    book.providers[event.provider].limit = event.limit


def fold_rate_limited(book: Facts, at: float, report: RateLimited) -> None:
    note_refusal(book, at, report.provider, report.until, began=at)


def fold_pressure_changed(book: Facts, report: PressureChanged) -> None:
    book.pressure = report.why


def fold_room_changed(book: Facts, report: CapacityChanged) -> None:
    book.capacity = report.slots


def fold_engine_taken(book: Facts, _report: EngineTaken) -> None:
    """Whoever comes anew has seen nothing yet: it is told what there is."""
    book.pressure = book.capacity = None


def fold_clock_jumped(book: Facts, report: ClockJumped) -> None:
    """Whatever runs keeps the time that it had left, from this moment on."""
    book.clock_jump = (book.clock_jump or 0.0) + report.by
    for page in book.alive.values():
        page.started += report.by
        page.last_active += report.by
    for batch in book.batches.values():
        if batch.gate is not None:
            batch.gate.started += report.by


def fold_deadlines_moved(book: Facts, event: DeadlinesMoved) -> None:
    """A clock that was set back makes nobody wait longer."""
    book.clock_jump = None
    for provider in book.providers.values():
        provider.opened_at += event.by
        if provider.until is not None and event.by < 0:
            provider.until += event.by
    for batch in book.batches.values():
        for page in batch.tasks.values():
            if page.retry_at is not None and event.by < 0:
                page.retry_at += event.by


def fold_phase_opened(book: Facts, event: PhaseOpened) -> None:
    book.batch(event.batch).opened.add(event.phase)


def fold_batch_paused(book: Facts, event: BatchPaused) -> None:
    book.batch(event.batch).paused = event.cause


def fold_batch_unpaused(book: Facts, event: BatchUnpaused) -> None:
    book.batch(event.batch).paused = None


def fold_batch_halted(book: Facts, event: BatchHalted) -> None:
    batch = book.batch(event.batch)
    batch.halted = event.by
    for page in batch.tasks.values():
        if page.ended is None and not batch.has_begun(page) and not page.pending_end:
            page.pending_end = "halt"


def fold_batch_ended(book: Facts, event: BatchEnded) -> None:
    batch = book.batch(event.batch)
    batch.ended, batch.paused = True, None
    batch.stopping = batch.stop_now = False


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


def fold_publish_started(book: Facts, event: PublishStarted) -> None:
    batch = book.batch(event.batch)
    batch.publishing, batch.publishes = event, event.n
    batch.requested_publish, batch.publish_failed = None, False


def fold_publish_over(book: Facts, report: PublishDone | PublishFailed) -> None:
    batch = book.batches.get(report.batch)
    order = batch.publishing if batch is not None else None
    if batch is None or order is None or order.n != report.n:
        return
    batch.publishing = None
    batch.pushed = report.commit or batch.pushed
    if isinstance(report, PublishDone):
        batch.published = (report.commit, order.publish)
        if order.publish is not Publish.PUSH:
            batch.title_changed = False
    else:
        batch.publish_failed = True
