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
from plait.testing.laws.attempt_folds import refused
from plait.testing.laws.facts__book import Book, ProviderPage

LONGEST = 8 * 86_400.0  # no provider is shut out for longer, whatever it says


def breaker_opened(book: Book, at: float, event: BreakerOpened) -> None:
    page = book.providers.setdefault(event.provider, ProviderPage())
    if page.until is None or page.until <= at:
        page.opened_at = at
        page.streak += 1
    page.until, page.limit, page.fresh = event.until, event.limit, False
    page.rejected, page.rejecting, page.mended = event.rejected, False, False
    if page.said is not None and min(page.said, at + LONGEST) <= event.until:
        page.said = page.refused_at = None


def breaker_closed(book: Book, event: BreakerClosed) -> None:
    page = book.providers[event.provider]
    page.until, page.mended = None, False


def limit_raised(book: Book, event: LimitRaised) -> None:
    book.providers[event.provider].limit = event.limit


def rate_limited(book: Book, at: float, report: RateLimited) -> None:
    refused(book, at, report.provider, report.until, began=at)


def pressure(book: Book, report: PressureChanged) -> None:
    book.pressure = report.why


def room(book: Book, report: CapacityChanged) -> None:
    book.room = report.slots


def taken(book: Book, _report: EngineTaken) -> None:
    """Whoever comes anew has seen nothing yet: it is told what there is."""
    book.pressure = book.room = None


def jumped(book: Book, report: ClockJumped) -> None:
    """Whatever runs keeps the time that it had left, from this moment on."""
    book.jump = (book.jump or 0.0) + report.by
    for page in book.alive.values():
        page.started += report.by
        page.heard += report.by
    for batch in book.batches.values():
        if batch.gate is not None:
            batch.gate.started += report.by


def moved(book: Book, event: DeadlinesMoved) -> None:
    """A clock that was set back makes nobody wait longer."""
    book.jump = None
    for provider in book.providers.values():
        provider.opened_at += event.by
        if provider.until is not None and event.by < 0:
            provider.until += event.by
    for batch in book.batches.values():
        for page in batch.tasks.values():
            if page.retry_at is not None and event.by < 0:
                page.retry_at += event.by


def phase_opened(book: Book, event: PhaseOpened) -> None:
    book.batch(event.batch).opened.add(event.phase)


def paused(book: Book, event: BatchPaused) -> None:
    book.batch(event.batch).paused = event.cause


def unpaused(book: Book, event: BatchUnpaused) -> None:
    book.batch(event.batch).paused = None


def halted(book: Book, event: BatchHalted) -> None:
    batch = book.batch(event.batch)
    batch.halted = event.by
    for page in batch.tasks.values():
        if page.ended is None and not batch.begun(page) and not page.doom:
            page.doom = "halt"


def batch_ended(book: Book, event: BatchEnded) -> None:
    batch = book.batch(event.batch)
    batch.ended, batch.paused = True, None
    batch.stopping = batch.stop_now = False
