"""Providers, the machine, the clock, and what is decided about batches as a whole."""

from __future__ import annotations

from plait.core.decisions import (
    BatchEnded,
    BatchHalted,
    BatchPaused,
    BatchUnpaused,
    BreakerClosed,
    BreakerOpened,
    DeadlinesMoved,
    LimitRaised,
    PhaseOpened,
)
from plait.core.reports import CapacityChanged, ClockJumped, EngineTaken, PressureChanged, RateLimited
from plait.testing.laws.attempt_folds import note_refusal
from plait.testing.laws.facts__book import Facts, ProviderFacts

LONGEST_BREAKER_SECONDS = 8 * 86_400.0  # no provider is shut out for longer, whatever it says


def fold_breaker_opened(book: Facts, at: float, event: BreakerOpened) -> None:
    page = book.providers.setdefault(event.provider, ProviderFacts())
    if page.until is None or page.until <= at:
        page.opened_at = at
        page.streak += 1
    page.until, page.limit, page.refused_since_opening = event.until, event.limit, False
    page.rejected, page.rejecting, page.may_be_restored = event.rejected, False, False
    if (
        page.refuses_until is not None
        and min(page.refuses_until, at + LONGEST_BREAKER_SECONDS) <= event.until
    ):
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
