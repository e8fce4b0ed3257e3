"""When a running attempt or gate may be asked to end, and what a jump of the clock does to its time."""

from __future__ import annotations

from plait.core.decisions import AttemptEnding, DeadlinesMoved, GateEnding
from plait.core.status import EndWhy
from plait.testing.laws.facts import AttemptPage, BatchPage, TaskPage
from plait.testing.laws.facts__book import Book

SLACK = 1e-6


def ending(book: Book, at: float, event: AttemptEnding) -> None:
    batch = book.batch(event.attempt.batch)
    page = book.task(event.attempt.batch, event.attempt.task)
    alive = book.alive.get(event.attempt)
    if alive is None:
        raise book.violation("ending", f"{event.attempt} is asked to end, but is not alive", page)
    if alive.endings and (not event.now or alive.endings[-1].now):
        raise book.violation("twice", f"{event.attempt} is asked to end once more", page)
    if not _reason(batch, page, alive, event, at):
        raise book.violation("ending", f"{event.attempt} is asked to end for no reason ({event.why})", page)


def _reason(batch: BatchPage, page: TaskPage, alive: AttemptPage, event: AttemptEnding, at: float) -> bool:
    match event.why:
        case EndWhy.CANCEL:
            return page.doom == "cancel"
        case EndWhy.DROP:
            return page.doom in {"drop", "halt"}
        case EndWhy.BLOCKED:
            return bool(batch.lost_needs(page))
        case EndWhy.STOP:
            return batch.stopping
        case EndWhy.FEEDBACK:
            return page.redo
        case EndWhy.TIMEOUT:
            return at >= alive.started + alive.order.timeout - SLACK
        case EndWhy.IDLE:
            return at >= alive.heard + alive.order.idle_timeout - SLACK


def gate_ending(book: Book, at: float, event: GateEnding) -> None:
    batch = book.batch(event.batch)
    gate = batch.gate
    if gate is None or gate.order.n != event.n or gate.ending is not None:
        raise book.violation("ending", f"gate {event.n} of {event.batch} is asked to end for nothing", batch)
    reasons = {
        EndWhy.DROP: gate.stale,
        EndWhy.STOP: batch.stopping,
        EndWhy.CANCEL: batch.cancelled,
        EndWhy.TIMEOUT: at >= gate.started + gate.order.timeout - SLACK,
    }
    if not reasons.get(event.why, False):
        raise book.violation("ending", f"gate {event.n} of {event.batch} is ended without {event.why}", batch)


def moved(book: Book, _at: float, event: DeadlinesMoved) -> None:
    if book.jump is None or abs(book.jump - event.by) > SLACK:
        raise book.violation("clock", f"deadlines moved by {event.by}, the clock jumped by {book.jump}")
