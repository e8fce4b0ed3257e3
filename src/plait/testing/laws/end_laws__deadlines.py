"""When a running attempt or gate may be asked to end, and what a jump of the clock does to its time."""

from __future__ import annotations

from plait.core.decisions import AttemptEnding, DeadlinesMoved, GateEnding
from plait.core.status import EndWhy
from plait.testing.laws.facts import AttemptFacts, BatchFacts, TaskFacts
from plait.testing.laws.facts__book import Facts

TOLERANCE_SECONDS = 1e-6


def check_attempt_ending(book: Facts, at: float, event: AttemptEnding) -> None:
    batch = book.batch(event.attempt.batch)
    page = book.task(event.attempt.batch, event.attempt.task)
    alive = book.alive.get(event.attempt)
    if alive is None:
        raise book.violation("ending", f"{event.attempt} is asked to end, but is not alive", page)
    if alive.endings and (not event.now or alive.endings[-1].now):
        raise book.violation("twice", f"{event.attempt} is asked to end once more", page)
    if not _has_reason(batch, page, alive, event, at):
        raise book.violation("ending", f"{event.attempt} is asked to end for no reason ({event.why})", page)


def _has_reason(
    batch: BatchFacts, page: TaskFacts, alive: AttemptFacts, event: AttemptEnding, at: float
) -> bool:
    match event.why:
        case EndWhy.CANCEL:
            return page.pending_end == "cancel"
        case EndWhy.DROP:
            return page.pending_end in {"drop", "halt"}
        case EndWhy.BLOCKED:
            return bool(batch.find_lost_needs(page))
        case EndWhy.STOP:
            return batch.stopping
        case EndWhy.FEEDBACK:
            return page.restart_after_exit
        case EndWhy.TIMEOUT:
            return at >= alive.started + alive.order.timeout - TOLERANCE_SECONDS
        case EndWhy.IDLE:
            return at >= alive.last_active + alive.order.idle_timeout - TOLERANCE_SECONDS


def check_gate_ending(book: Facts, at: float, event: GateEnding) -> None:
    batch = book.batch(event.batch)
    gate = batch.gate
    if gate is None or gate.order.n != event.n or gate.ending is not None:
        raise book.violation("ending", f"gate {event.n} of {event.batch} is asked to end for nothing", batch)
    reasons = {
        EndWhy.DROP: gate.stale,
        EndWhy.STOP: batch.stopping,
        EndWhy.CANCEL: batch.cancelled,
        EndWhy.TIMEOUT: at >= gate.started + gate.order.timeout - TOLERANCE_SECONDS,
    }
    if not reasons.get(event.why, False):
        raise book.violation("ending", f"gate {event.n} of {event.batch} is ended without {event.why}", batch)


def check_deadlines_moved(book: Facts, _at: float, event: DeadlinesMoved) -> None:
    if book.clock_jump is None or abs(book.clock_jump - event.by) > TOLERANCE_SECONDS:
        raise book.violation("clock", f"deadlines moved by {event.by}, the clock jumped by {book.clock_jump}")
