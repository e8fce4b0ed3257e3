"""Folds of what is known about providers, the machine, batches and their branches."""

from __future__ import annotations

from dataclasses import replace

from plait.core.decisions import (
    BatchDecision,
    BatchEnded,
    BatchHalted,
    BatchPaused,
    BatchUnpaused,
    BranchDecision,
    BreakerClosed,
    BreakerOpened,
    Change,
    DeadlinesMoved,
    GateEnding,
    GateStarted,
    LimitDecision,
    LimitRaised,
    MergeStarted,
    PhaseOpened,
    PublishStarted,
    RebuildStarted,
)
from plait.core.reports import (
    BranchReport,
    CapacityChanged,
    ClockJumped,
    EngineTaken,
    GateDone,
    GateLost,
    MachineReport,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    PressureChanged,
    PublishDone,
    PublishFailed,
    PublishWaiting,
    RateLimited,
    RebuildDone,
    RebuildFailed,
)
from plait.core.settings import Publish
from plait.core.status import Category, EndWhy
from plait.core.task import Step
from tests.support.laws.attempt_folds import note_refusal
from tests.support.laws.facts import BatchFacts, Facts, GateFacts, MergedChange, ProviderFacts

LONGEST_BREAKER_SECONDS = 8 * 86_400.0  # no provider is shut out for longer, whatever it says


def fold_limit_decision(facts: Facts, at: float, event: LimitDecision) -> None:
    match event:
        case BreakerOpened():
            provider = facts.providers.setdefault(event.provider, ProviderFacts())
            if provider.until is None or provider.until <= at:
                provider.opened_at = at
                provider.streak += 1
            provider.until, provider.limit, provider.refused_since_opening = event.until, event.limit, False
            provider.rejected, provider.rejecting = event.rejected, False
            provider.may_be_restored = provider.may_be_tried = False
            refuses = provider.refuses_until
            if refuses is not None and min(refuses, at + LONGEST_BREAKER_SECONDS) <= event.until:
                provider.refuses_until = provider.refused_at = None
        case BreakerClosed():
            provider = facts.providers[event.provider]
            provider.until, provider.may_be_restored, provider.may_be_tried = None, False, False
        case LimitRaised():
            facts.providers[event.provider].limit = event.limit
        case DeadlinesMoved():
            _move_deadlines(facts, event.by)


def _move_deadlines(facts: Facts, by: float) -> None:
    """A clock that was set back makes no wait longer."""
    facts.clock_jump = None
    for provider in facts.providers.values():
        provider.opened_at += by
        if provider.until is not None and by < 0:
            provider.until += by
    for batch in facts.batches.values():
        for task in batch.tasks.values():
            if task.retry_at is not None and by < 0:
                task.retry_at += by


def fold_machine_report(facts: Facts, at: float, report: MachineReport) -> None:
    match report:
        case RateLimited():
            note_refusal(facts, at, report.provider, report.until, began=at)
        case PressureChanged():
            facts.pressure = report.why
        case CapacityChanged():
            facts.capacity = report.slots
        case EngineTaken():
            facts.pressure = facts.capacity = None  # a new engine's sensors report what there is
        case ClockJumped():
            # What runs keeps the time that it had left, from this moment on.
            facts.clock_jump = (facts.clock_jump or 0.0) + report.by
            for attempt in facts.alive.values():
                attempt.started += report.by
                attempt.last_active += report.by
            for batch in facts.batches.values():
                if batch.gate is not None:
                    batch.gate.started += report.by
        case _:
            pass


def fold_batch_decision(facts: Facts, _at: float, event: BatchDecision) -> None:
    batch = facts.batch(event.batch)
    match event:
        case PhaseOpened():
            batch.opened.add(event.phase)
        case BatchPaused():
            batch.paused = event.cause
        case BatchUnpaused():
            batch.paused = None
        case BatchHalted():
            batch.halted = event.by
            for task in batch.tasks.values():
                if task.ended is None and not batch.has_begun(task) and not task.pending_end:
                    task.pending_end = "halt"
        case BatchEnded():
            batch.ended, batch.paused = True, None
            batch.stopping = batch.stop_now = False


def fold_branch_decision(facts: Facts, at: float, event: BranchDecision) -> None:
    batch = facts.batch(event.batch)
    match event:
        case MergeStarted():
            batch.merging = event.task
            task = batch.tasks[event.task]
            task.merging = event
            task.numbers[Step.MERGE] = event.n
        case RebuildStarted():
            batch.rebuild, batch.rebuilds = event, event.n
        case GateStarted():
            batch.gate = GateFacts(event, at, tuple(batch.merges[: event.size]))
            batch.gates = event.n
        case GateEnding():
            if batch.gate is not None and batch.gate.order.n == event.n:
                batch.gate.ending = event.why
        case PublishStarted():
            batch.publishing, batch.publishes = event, event.n
            batch.requested_publish, batch.publish_failed = None, False


def fold_branch_report(facts: Facts, at: float, report: BranchReport) -> None:
    """Reports about what is not under way change nothing."""
    batch = facts.batches.get(report.batch)
    if batch is None:
        return
    match report:
        case MergeDone() | MergeConflicted() | MergeFailed():
            _end_merge(batch, at, report)
        case RebuildDone() | RebuildFailed():
            if batch.rebuild is not None and batch.rebuild.n == report.n:
                _end_rebuild(batch, at, report)
        case GateDone() | GateLost():
            if batch.gate is not None and batch.gate.order.n == report.n:
                _end_gate(batch, batch.gate, report)
        case PublishWaiting():
            pass
        case PublishDone() | PublishFailed():
            if batch.publishing is not None and batch.publishing.n == report.n:
                _end_publish(batch, batch.publishing, report)


def _end_merge(batch: BatchFacts, at: float, report: MergeDone | MergeConflicted | MergeFailed) -> None:
    task = batch.tasks.get(report.task)
    if task is None or task.merging is None or task.merging.n != report.n:
        return
    order, task.merging, batch.merging = task.merging, None, None
    if isinstance(report, MergeDone):
        change = Change(report.task, order.base, order.tip)
        batch.merges.append(MergedChange(change, task.generation, report.commit))
    else:
        conflict = isinstance(report, MergeConflicted)
        task.merge_problem, task.merge_problem_at = Category.CONFLICT if conflict else Category.MERGE, at


def _end_rebuild(batch: BatchFacts, at: float, report: RebuildDone | RebuildFailed) -> None:
    batch.rebuild = None
    if isinstance(report, RebuildFailed):
        batch.rebuild_failures += 1
        return
    batch.rebuild_failures = 0
    old = {link.task: link for link in batch.merges}
    batch.merges = [replace(old[merged.task], commit=merged.commit) for merged in report.line]
    _shrink_gated(batch, list(old.values()))
    for clash in report.clashes:
        task = batch.tasks[clash.task]
        if old[clash.task].generation == task.generation and (task.ended is None or task.is_done):
            # It was done by being in the branch; it no longer is.
            task.ended = None
            task.merge_problem, task.merge_problem_at = Category.CONFLICT, at


def _shrink_gated(batch: BatchFacts, old: list[MergedChange]) -> None:
    """What was tested counts up to the first merge that is gone."""
    pairs = enumerate(zip(old, batch.merges, strict=False))
    same = next((size for size, (was, now) in pairs if was.task != now.task), min(len(old), len(batch.merges)))
    batch.gate_passed_size = min(batch.gate_passed_size, same)
    if batch.gate is not None and len(batch.gate.prefix) > same:
        batch.gate.stale = True


def _end_gate(batch: BatchFacts, gate: GateFacts, report: GateDone | GateLost) -> None:
    batch.gate = None
    if gate.stale or gate.ending in {EndWhy.STOP, EndWhy.CANCEL}:
        return
    if isinstance(report, GateLost):
        batch.gate_losses += 0 if report.outage else 1
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


def _end_publish(batch: BatchFacts, order: PublishStarted, report: PublishDone | PublishFailed) -> None:
    batch.publishing = None
    batch.pushed = report.commit or batch.pushed
    if isinstance(report, PublishDone):
        batch.published = (report.commit, order.publish)
        if order.publish is not Publish.PUSH:
            batch.title_changed = False
    else:
        batch.publish_failed = True


def prefix_key(prefix: tuple[MergedChange, ...]) -> tuple[tuple[str, int], ...]:
    """A prefix of the line as what was in it; rebuilding gives the same merges new commits."""
    return tuple((link.task, link.generation) for link in prefix)
