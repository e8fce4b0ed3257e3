"""How a task may end: once, when nothing of it is under way, and with a status that its history bears out."""

from __future__ import annotations

from plait.core.decisions import BatchHalted, TaskEnded
from plait.core.settings import OnConflict
from plait.core.status import Category, TaskStatus
from plait.core.task import Step
from plait.testing.laws.batch_folds import prefix_key
from plait.testing.laws.eligibility import REJECTION_CATEGORIES, has_other_provider
from plait.testing.laws.end_laws import (
    MAX_LOSSES,
    MAX_MERGE_FAILURES,
    PERMANENT,
    has_succeeded,
    is_rate_limited,
    waits_for_answer,
    was_ended_by_engine,
)
from plait.testing.laws.facts import BatchFacts, TaskFacts, UnjudgedExit
from plait.testing.laws.facts__book import Facts


def check_task_ended(book: Facts, _at: float, event: TaskEnded) -> None:
    batch = book.batch(event.batch)
    page = book.task(event.batch, event.task)
    if page.alive is not None or page.merging is not None:
        raise book.violation("ended", f"{event.task} ended {event.status} while something of it runs", page)
    if page.ended is not None and not _may_end_again(batch, page, event):
        raise book.violation("twice", f"{event.task} ended {event.status} after {page.ended.status}", page)
    if not event.status.is_terminal or not event.reason:
        raise book.violation("ended", f"{event.task} ended {event.status} without a reason", page)
    if (
        event.category in REJECTION_CATEGORIES
        and page.exit is not None
        and has_other_provider(book, batch, page, page.exit)
    ):
        raise book.violation("fallback", f"{event.task} ended though somebody else could take it", page)
    why_not = _CHECKS[event.status](batch, page, event)
    if why_not is not None:
        raise book.violation(f"ended-{event.status}", f"{event.task} ended {event.status}: {why_not}", page)


def _may_end_again(batch: BatchFacts, page: TaskFacts, event: TaskEnded) -> bool:
    """Dropping ends a task otherwise than it ended; a done one loses its end with what it was built on."""
    dropped = page.pending_end == "drop" and event.status is TaskStatus.SKIPPED
    undermined = page.is_done and bool(batch.find_lost_needs(page)) and event.status is TaskStatus.BLOCKED
    return dropped or undermined or (page.is_done and event.category is Category.GATE)


def _check_done(batch: BatchFacts, page: TaskFacts, _event: TaskEnded) -> str | None:
    if page.pending_end:
        return f"it was to end by a {page.pending_end}"
    given = page.last_write.feedback if page.last_write is not None else ""
    unsaid = [words for words in page.pending_feedback if words not in given]
    if unsaid:
        return f"no attempt was given the words {unsaid[0]!r}"
    if any(link.task == page.spec.id and link.generation == page.generation for link in batch.merges):
        return (
            _check_gate_passed(batch, page)
            if batch.has_needs_done(page)
            else "what it needs is to be done again"
        )
    found = page.exit
    unchecked = page.step is Step.VERIFY and batch.verify_command(page) is None
    if not unchecked and (found is None or not has_succeeded(batch, page, found)):
        return "nothing of it was merged and no attempt succeeded"
    if found is not None and found.attempt.order.attempt.step is Step.WRITE and batch.verify_command(page):
        return "nothing verified it"
    merges = not batch.in_place and page.spec.entrant is None
    return "what it wrote was not merged" if merges and page.tip is not None else None


def _check_gate_passed(batch: BatchFacts, page: TaskFacts) -> str | None:
    if batch.settings.gate is None:
        return None
    passed = {link.task for link in batch.merges[: batch.gate_passed_size]}
    return None if page.spec.id in passed else "no gate that passed has covered its merge"


def _check_failed(batch: BatchFacts, page: TaskFacts, event: TaskEnded) -> str | None:
    if event.category is Category.GATE:
        return _check_gate_culprit(batch, page)
    if page.exit is None and page.merge_problem is None and batch.has_no_candidates(page):
        unsaid = [entrant for entrant in page.entrants if entrant not in event.reason]
        return f"it does not say what became of {unsaid[0]}" if unsaid else None
    if page.merge_problem is Category.MERGE and page.tip is None:
        return None if page.losses >= MAX_LOSSES else "what is gone was to be written again"
    if page.merge_problem is Category.MERGE:
        return None if page.merge_failures >= MAX_MERGE_FAILURES else "merging was to be tried again"
    return _check_retries_used(batch, page, page.exit)


def _check_gate_culprit(batch: BatchFacts, page: TaskFacts) -> str | None:
    """The line up to and including it fails, the line before it passes."""
    place = next((n for n, link in enumerate(batch.merges) if link.task == page.spec.id), None)
    if place is None:
        return "its merge is not in the line"
    if prefix_key(tuple(batch.merges[: place + 1])) not in batch.failed:
        return "the gate was not seen to fail with it"
    if place > batch.gate_passed_size or (place == 0 and not batch.base_proved):
        return "the gate was not seen to pass without it"
    return None


def _check_retries_used(batch: BatchFacts, page: TaskFacts, found: UnjudgedExit | None) -> str | None:
    """An exit ends the task only when trying again is pointless or used up."""
    if found is None:
        return "nothing of it waits for judgement"
    if has_succeeded(batch, page, found):
        return "its attempt succeeded"
    category = found.outcome.category
    if was_ended_by_engine(found) or waits_for_answer(found):
        return "it was ended through no fault of its own"
    if is_rate_limited(page, found) and not found.attempt.endings:
        return "a rate limit is not a failure"
    if category is Category.LOST and page.losses < MAX_LOSSES and not found.attempt.endings:
        return "it was lost through no fault of its own"
    allowed = page.spec.retries if page.spec.retries is not None else batch.settings.retries
    if category in PERMANENT or page.counted_retries >= allowed:
        return None
    return f"only {page.counted_retries} of {allowed} retries are used up"


def _check_timed_out(batch: BatchFacts, page: TaskFacts, _event: TaskEnded) -> str | None:
    if page.exit is None or not page.exit.attempt.endings:
        return "nobody ended its attempt"
    return _check_retries_used(batch, page, page.exit)


def _check_blocked(batch: BatchFacts, page: TaskFacts, event: TaskEnded) -> str | None:
    if batch.find_lost_needs(page):
        causes = {other.ended.by or other.spec.id for other in batch.find_lost_needs(page) if other.ended}
        causes |= {other.spec.id for other in batch.find_lost_needs(page)}
        return None if event.by in causes else f"{event.by} is not what it waits for"
    phase = page.spec.phase
    if phase in batch.phases and phase not in batch.opened and batch.phase_threshold(phase) >= 1.0:
        return None
    return "all its needs can still be met"


def _check_skipped(_batch: BatchFacts, page: TaskFacts, event: TaskEnded) -> str | None:
    if page.pending_end == "halt":
        return None if event.by is not None and not page.active else "it does not say what halted it"
    return None if page.pending_end == "drop" else "nobody dropped it and nothing halted its batch"


def _check_conflicted(batch: BatchFacts, page: TaskFacts, _event: TaskEnded) -> str | None:
    if page.merge_problem is not Category.CONFLICT:
        return "its merge did not conflict"
    repairs = batch.settings.on_conflict is OnConflict.REPAIR and page.repairs < batch.settings.repairs
    return "it was to be repaired" if repairs and not batch.cancelled else None


def _check_cancelled(_batch: BatchFacts, page: TaskFacts, _event: TaskEnded) -> str | None:
    return None if page.pending_end == "cancel" else "nobody cancelled it"


def _reject_status(_batch: BatchFacts, _page: TaskFacts, _event: TaskEnded) -> str | None:
    return "that is no end"


_CHECKS = dict.fromkeys(TaskStatus, _reject_status) | {
    TaskStatus.DONE: _check_done,
    TaskStatus.FAILED: _check_failed,
    TaskStatus.TIMED_OUT: _check_timed_out,
    TaskStatus.BLOCKED: _check_blocked,
    TaskStatus.SKIPPED: _check_skipped,
    TaskStatus.CONFLICTED: _check_conflicted,
    TaskStatus.CANCELLED: _check_cancelled,
}


def check_batch_halted(book: Facts, _at: float, event: BatchHalted) -> None:
    batch = book.batch(event.batch)
    failed = batch.tasks[event.by]
    if batch.halted is not None:
        raise book.violation("twice", f"{event.batch} was halted once more", batch)
    conflict = failed.status is TaskStatus.CONFLICTED and batch.settings.on_conflict is OnConflict.FAIL
    if event.by not in batch.failures or not (batch.settings.stop_on_fail or conflict):
        raise book.violation(
            "halted", f"{event.batch} was halted by {event.by}, which is {failed.status}", failed
        )
