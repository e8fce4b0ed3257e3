"""What is decided about a batch as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.core.decisions import BatchEnded, BatchPaused, BatchUnpaused, PhaseOpened
from plait.core.status import BatchStatus, PauseCause, TaskStatus
from plait.testing.laws.facts import BatchFacts
from plait.testing.laws.facts__book import Facts


def check_phase_opened(book: Facts, _at: float, event: PhaseOpened) -> None:
    batch = book.batch(event.batch)
    if event.phase in batch.opened:
        raise book.violation("twice", f"phase {event.phase} was opened twice", batch)
    if not may_open(batch, event.phase):
        raise book.violation("phase", f"phase {event.phase} opened too soon", batch)


def may_open(batch: BatchFacts, key: str) -> bool:
    """Its opener is done; or enough of each earlier phase is, or, unless the gate is strict, nothing else can be."""
    phase = batch.phases[key]
    opener = batch.tasks.get(phase.opens_with or "")
    if opener is not None and not opener.ended_without_success:
        return opener.is_done
    gate = batch.phase_threshold(key)
    late = [earlier for earlier in phase.after if not _is_phase_reached(batch, earlier, gate)]
    if gate >= 1.0:
        return opener is None and not late
    # All of them or none: one phase that can still run keeps the gate shut for those that fell short.
    return not late or not any(_can_phase_run(batch, earlier) for earlier in phase.after)


def _is_phase_reached(batch: BatchFacts, key: str, gate: float) -> bool:
    phase = batch.phases[key]
    settled = phase.settled + sum(
        page.status in {TaskStatus.DONE, TaskStatus.SKIPPED}
        for page in batch.tasks.values()
        if page.spec.phase == key and page.spec.gating
    )
    return settled >= phase.total * gate - 1e-9


def _can_phase_run(batch: BatchFacts, key: str) -> bool:
    pages = (page for page in batch.tasks.values() if page.spec.phase == key and page.spec.gating)
    return any(page.ended is None for page in pages)


def check_batch_paused(book: Facts, _at: float, event: BatchPaused) -> None:
    batch = book.batch(event.batch)
    if batch.is_stopped or batch.paused is event.cause or batch.ended:
        raise book.violation("twice", f"{event.batch} was paused ({event.cause}) once more", batch)
    if event.cause is PauseCause.BUDGET and (batch.settings.budget is None or batch.alive):
        raise book.violation("budget", f"{event.batch} was paused for money without need", batch)
    if event.cause in _PAUSE_CONDITIONS and not _PAUSE_CONDITIONS[event.cause](batch):
        raise book.violation("paused", f"{event.batch} was paused for its {event.cause} without need", batch)


_PAUSE_CONDITIONS: Mapping[PauseCause, Callable[[BatchFacts], bool]] = {
    PauseCause.GATE: lambda batch: batch.base_failed or batch.gate_losses >= 3,
    PauseCause.BRANCH: lambda batch: batch.rebuild_failures >= 3,
    PauseCause.PROVIDER: lambda batch: batch.rejections >= 2,
}


def check_batch_unpaused(book: Facts, _at: float, event: BatchUnpaused) -> None:
    batch = book.batch(event.batch)
    gateless = batch.paused is PauseCause.GATE and batch.settings.gate is None
    if batch.paused is not PauseCause.BUDGET and not gateless:
        raise book.violation("paused", f"{event.batch} was unpaused by nobody ({batch.paused})", batch)


def check_batch_ended(book: Facts, _at: float, event: BatchEnded) -> None:
    batch = book.batch(event.batch)
    if batch.ended:
        raise book.violation("twice", f"{event.batch} ended twice", batch)
    left = [
        page.spec.id for page in batch.tasks.values() if page.ended is None or page.alive or page.pending_end
    ]
    if left or batch.merging or batch.rebuild or batch.gate or batch.find_unwanted():
        raise book.violation(
            "batch-ended", f"{event.batch} ended with {left or 'its branch'} unfinished", batch
        )
    merged = {link.task for link in batch.merges}
    if not batch.in_place and book.contents(batch.head) != merged:
        message = f"{event.batch} ended with {sorted(book.contents(batch.head))} in its branch"
        raise book.violation("batch-ended", message, batch)
    if batch.publishing is not None or batch.needs_publish:
        raise book.violation("batch-ended", f"{event.batch} ended, and its branch is not published", batch)
    if batch.needs_gate:
        raise book.violation("batch-ended", f"{event.batch} ended, and its gate has not passed", batch)
    asked = [page for page in batch.tasks.values() if page.spec.entrant is None]
    whole = all(page.is_done or (page.was_dropped and page.status is TaskStatus.SKIPPED) for page in asked)
    right = (
        BatchStatus.CANCELLED if batch.cancelled else BatchStatus.COMPLETED if whole else BatchStatus.FAILED
    )
    if event.status is not right:
        raise book.violation("batch-ended", f"{event.batch} ended {event.status}, not {right}", batch)
    undermined = [
        page.spec.id for page in batch.tasks.values() if page.is_done and batch.find_lost_needs(page)
    ]
    if undermined:
        raise book.violation(
            "batch-ended", f"{event.batch} ended with {undermined} done without its needs", batch
        )
