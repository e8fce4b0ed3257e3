"""How a task may end: once, when nothing of it is under way, and with a status that its history bears out."""

from __future__ import annotations

from plait.core.decisions import BatchHalted, TaskEnded
from plait.core.settings import OnConflict
from plait.core.status import Category, TaskStatus
from plait.core.task import Step
from plait.testing.laws.batch_folds import names
from plait.testing.laws.eligibility import REJECTED, elsewhere
from plait.testing.laws.end_laws import (
    LOSSES,
    MERGES,
    PERMANENT,
    believed,
    ended_by_us,
    succeeded,
    waits_for_answer,
)
from plait.testing.laws.facts import BatchPage, Exit, TaskPage
from plait.testing.laws.facts__book import Book


def ended(book: Book, _at: float, event: TaskEnded) -> None:
    batch = book.batch(event.batch)
    page = book.task(event.batch, event.task)
    if page.alive is not None or page.merging is not None:
        raise book.violation("ended", f"{event.task} ended {event.status} while something of it runs", page)
    if page.ended is not None and not _may_end_again(batch, page, event):
        raise book.violation("twice", f"{event.task} ended {event.status} after {page.ended.status}", page)
    if not event.status.is_terminal or not event.reason:
        raise book.violation("ended", f"{event.task} ended {event.status} without a reason", page)
    if event.category in REJECTED and page.exit is not None and elsewhere(book, batch, page, page.exit):
        raise book.violation("fallback", f"{event.task} ended though somebody else could take it", page)
    why_not = _CHECKS[event.status](batch, page, event)
    if why_not is not None:
        raise book.violation(f"ended-{event.status}", f"{event.task} ended {event.status}: {why_not}", page)


def _may_end_again(batch: BatchPage, page: TaskPage, event: TaskEnded) -> bool:
    """Dropping ends a task otherwise than it ended; a done one loses its end with what it was built on."""
    dropped = page.doom == "drop" and event.status is TaskStatus.SKIPPED
    undermined = page.done and bool(batch.lost_needs(page)) and event.status is TaskStatus.BLOCKED
    return dropped or undermined or (page.done and event.category is Category.GATE)


def _done(batch: BatchPage, page: TaskPage, _event: TaskEnded) -> str | None:
    if page.doom:
        return f"it was to end by a {page.doom}"
    given = page.last_write.feedback if page.last_write is not None else ""
    unsaid = [words for words in page.words if words not in given]
    if unsaid:
        return f"no attempt was given the words {unsaid[0]!r}"
    if any(link.task == page.spec.id and link.life == page.life for link in batch.line):
        return _gated(batch, page) if batch.needs_done(page) else "what it needs is to be done again"
    found = page.exit
    unchecked = page.step is Step.VERIFY and batch.check(page) is None
    if not unchecked and (found is None or not succeeded(batch, page, found)):
        return "nothing of it was merged and no attempt succeeded"
    if found is not None and found.attempt.order.attempt.step is Step.WRITE and batch.check(page):
        return "nothing verified it"
    merges = not batch.in_place and page.spec.entrant is None
    return "what it wrote was not merged" if merges and page.tip is not None else None


def _gated(batch: BatchPage, page: TaskPage) -> str | None:
    if batch.settings.gate is None:
        return None
    passed = {link.task for link in batch.line[: batch.gated]}
    return None if page.spec.id in passed else "no gate that passed has covered its merge"


def _failed(batch: BatchPage, page: TaskPage, event: TaskEnded) -> str | None:
    if event.category is Category.GATE:
        return _guilty(batch, page)
    if page.exit is None and page.trouble is None and batch.unwinnable(page):
        unsaid = [entrant for entrant in page.entrants if entrant not in event.reason]
        return f"it does not say what became of {unsaid[0]}" if unsaid else None
    if page.trouble is Category.MERGE and page.tip is None:
        return None if page.losses >= LOSSES else "what is gone was to be written again"
    if page.trouble is Category.MERGE:
        return None if page.merge_failures >= MERGES else "merging was to be tried again"
    return _exhausted(batch, page, page.exit)


def _guilty(batch: BatchPage, page: TaskPage) -> str | None:
    """The line up to and including it fails, the line before it passes."""
    place = next((n for n, link in enumerate(batch.line) if link.task == page.spec.id), None)
    if place is None:
        return "its merge is not in the line"
    if names(tuple(batch.line[: place + 1])) not in batch.failed:
        return "the gate was not seen to fail with it"
    if place > batch.gated or (place == 0 and not batch.base_proved):
        return "the gate was not seen to pass without it"
    return None


def _exhausted(batch: BatchPage, page: TaskPage, found: Exit | None) -> str | None:
    """An exit ends the task only when trying again is pointless or used up."""
    if found is None:
        return "nothing of it waits for judgement"
    if succeeded(batch, page, found):
        return "its attempt succeeded"
    category = found.outcome.category
    if ended_by_us(found) or waits_for_answer(found):
        return "it was ended through no fault of its own"
    if believed(page, found) and not found.attempt.endings:
        return "a rate limit is not a failure"
    if category is Category.LOST and page.losses < LOSSES and not found.attempt.endings:
        return "it was lost through no fault of its own"
    allowed = page.spec.retries if page.spec.retries is not None else batch.settings.retries
    if category in PERMANENT or page.counted >= allowed:
        return None
    return f"only {page.counted} of {allowed} retries are used up"


def _timed_out(batch: BatchPage, page: TaskPage, _event: TaskEnded) -> str | None:
    if page.exit is None or not page.exit.attempt.endings:
        return "nobody ended its attempt"
    return _exhausted(batch, page, page.exit)


def _blocked(batch: BatchPage, page: TaskPage, event: TaskEnded) -> str | None:
    if batch.lost_needs(page):
        causes = {other.ended.by or other.spec.id for other in batch.lost_needs(page) if other.ended}
        causes |= {other.spec.id for other in batch.lost_needs(page)}
        return None if event.by in causes else f"{event.by} is not what it waits for"
    phase = page.spec.phase
    if phase in batch.phases and phase not in batch.opened and batch.share(phase) >= 1.0:
        return None
    return "all its needs can still be met"


def _skipped(_batch: BatchPage, page: TaskPage, event: TaskEnded) -> str | None:
    if page.doom == "halt":
        return None if event.by is not None and not page.active else "it does not say what halted it"
    return None if page.doom == "drop" else "nobody dropped it and nothing halted its batch"


def _conflicted(batch: BatchPage, page: TaskPage, _event: TaskEnded) -> str | None:
    if page.trouble is not Category.CONFLICT:
        return "its merge did not conflict"
    repairs = batch.settings.on_conflict is OnConflict.REPAIR and page.repairs < batch.settings.repairs
    return "it was to be repaired" if repairs and not batch.cancelled else None


def _cancelled(_batch: BatchPage, page: TaskPage, _event: TaskEnded) -> str | None:
    return None if page.doom == "cancel" else "nobody cancelled it"


def _never(_batch: BatchPage, _page: TaskPage, _event: TaskEnded) -> str | None:
    return "that is no end"


_CHECKS = dict.fromkeys(TaskStatus, _never) | {
    TaskStatus.DONE: _done,
    TaskStatus.FAILED: _failed,
    TaskStatus.TIMED_OUT: _timed_out,
    TaskStatus.BLOCKED: _blocked,
    TaskStatus.SKIPPED: _skipped,
    TaskStatus.CONFLICTED: _conflicted,
    TaskStatus.CANCELLED: _cancelled,
}


def halted(book: Book, _at: float, event: BatchHalted) -> None:
    batch = book.batch(event.batch)
    failed = batch.tasks[event.by]
    if batch.halted is not None:
        raise book.violation("twice", f"{event.batch} was halted once more", batch)
    conflict = failed.status is TaskStatus.CONFLICTED and batch.settings.on_conflict is OnConflict.FAIL
    if event.by not in batch.failures or not (batch.settings.stop_on_fail or conflict):
        raise book.violation(
            "halted", f"{event.batch} was halted by {event.by}, which is {failed.status}", failed
        )
