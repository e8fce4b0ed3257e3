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
from plait.core.reports import ClockJumped, PressureChanged, RateLimited
from plait.testing.audit.book.attempts import refused
from plait.testing.audit.book.book import Book, ProviderPage


def breaker_opened(book: Book, at: float, event: BreakerOpened) -> None:
    page = book.providers.setdefault(event.provider, ProviderPage())
    page.opened_at = at if page.open is None else page.opened_at
    page.open, page.limit, page.fresh = event, event.limit, False
    if page.said is not None and page.said <= event.until:
        page.said = None


def breaker_closed(book: Book, event: BreakerClosed) -> None:
    book.providers[event.provider].open = None


def limit_raised(book: Book, event: LimitRaised) -> None:
    book.providers[event.provider].limit = event.limit


def rate_limited(book: Book, at: float, report: RateLimited) -> None:
    refused(book, at, report.provider, report.until, began=at)


def pressure(book: Book, report: PressureChanged) -> None:
    book.pressure = report.why


def jumped(book: Book, report: ClockJumped) -> None:
    """Whatever runs keeps the time that it had left, from this moment on."""
    book.jump = (book.jump or 0.0) + report.by
    for page in book.alive.values():
        page.started += report.by
        page.heard += report.by
    for batch in book.batches.values():
        if batch.gate is not None:
            batch.gate.started += report.by


def moved(book: Book, _event: DeadlinesMoved) -> None:
    book.jump = None


def phase_opened(book: Book, event: PhaseOpened) -> None:
    book.batch(event.batch).opened.add(event.phase)


def paused(book: Book, event: BatchPaused) -> None:
    book.batch(event.batch).paused = event.cause


def unpaused(book: Book, event: BatchUnpaused) -> None:
    book.batch(event.batch).paused = None


def halted(book: Book, event: BatchHalted) -> None:
    batch = book.batch(event.batch)
    batch.halted = True
    for page in batch.tasks.values():
        if page.ended is None and not page.active and not page.doom:
            page.doom = "halt"


def batch_ended(book: Book, event: BatchEnded) -> None:
    batch = book.batch(event.batch)
    batch.ended, batch.paused = True, None
    batch.stopping = batch.stop_now = False
