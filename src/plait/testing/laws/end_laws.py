"""How an exit is judged: exactly once, by what it was, and going again only as often and as soon as allowed."""

from __future__ import annotations

from plait.core.decisions import AnswerAwaited, BackoffEnded, RetryGranted, StepPassed, TaskInterrupted
from plait.core.settings import Isolation, OnConflict, Spend
from plait.core.status import Category, EndWhy
from plait.core.task import Step
from plait.testing.laws.eligibility import find_available_agents, has_other_provider
from plait.testing.laws.eligibility__purse import expected_cost, fits_task_budget
from plait.testing.laws.facts import BatchFacts, TaskFacts, UnjudgedExit
from plait.testing.laws.facts__book import Facts

PERMANENT = frozenset({Category.AUTH, Category.QUOTA, Category.USAGE, Category.CONTEXT})
IMMEDIATE = frozenset({Category.VERIFY, Category.EMPTY})
MAX_LOSSES = 3
MAX_UNEXPLAINED_REFUSALS = 8
MAX_MERGE_FAILURES = 8


def check_step_passed(book: Facts, _at: float, event: StepPassed) -> None:
    batch = book.batch(event.attempt.batch)
    page = book.task(event.attempt.batch, event.attempt.task)
    if page.exit is None:
        _check_skipped_verify(book, batch, page, event)
    elif page.exit.attempt.order.attempt != event.attempt:
        raise book.violation("judged", f"{event.attempt} passed, but another one ended", page)
    elif not has_succeeded(batch, page, page.exit):
        raise book.violation("judged", f"{event.attempt} passed with {page.exit.outcome.category}", page)
    if page.exit is not None and batch.winner_was_dropped(page, page.exit):
        raise book.violation("contest", f"{event.attempt} chose somebody who was dropped", page)
    verify = event.attempt.step is Step.WRITE and batch.verify_command(page)
    if page.spec.entrant is not None and event.then is Step.MERGE:
        raise book.violation("contest", f"{event.attempt} of a contest is to be merged", page)
    if event.then is not (Step.VERIFY if verify else Step.MERGE):
        raise book.violation("step", f"{event.attempt} goes on to {event.then}", page)
    if page.pending_end:
        raise book.violation("cancelled", f"{event.attempt} passed though its task is over", page)


def _check_skipped_verify(book: Facts, batch: BatchFacts, page: TaskFacts, event: StepPassed) -> None:
    """Without an exit only a step that is no longer asked for can pass: verification, taken out of the settings."""
    last = page.last.attempt if page.last is not None else None
    if (
        page.step is not Step.VERIFY
        or batch.verify_command(page) is not None
        or event.attempt != last
        or page.alive
    ):
        raise book.violation("judged", f"{event.attempt} passed, but no exit of it waits for judgement", page)


def has_succeeded(batch: BatchFacts, page: TaskFacts, found: UnjudgedExit) -> bool:
    category = found.outcome.category
    if found.attempt.order.attempt.step is Step.WRITE and batch.settings.isolation is Isolation.WORKTREE:
        empty = category is Category.OK and found.outcome.tip is None
        category = Category.EMPTY if empty else category
    return category is Category.OK or (category is Category.EMPTY and page.spec.allow_empty)


def check_retry_granted(book: Facts, at: float, event: RetryGranted) -> None:
    batch = book.batch(event.batch)
    page = book.task(event.batch, event.task)
    if page.pending_end or batch.find_lost_needs(page):
        raise book.violation("cancelled", f"{event.task} goes again though it is over", page)
    if event.elsewhere:
        broken = _check_other_provider(book, batch, page, event)
    elif page.merge_problem is not None:
        broken = _after_trouble(batch, page, event, page.merge_problem)
    elif page.exit is not None:
        broken = _after_exit(batch, page, event, page.exit)
    else:
        broken = "nothing of it waits for judgement"
    if broken is not None:
        raise book.violation("retry", f"{event.task} goes again at {event.at} ({at}): {broken}", page)


def _check_other_provider(book: Facts, batch: BatchFacts, page: TaskFacts, event: RetryGranted) -> str | None:
    found = page.exit
    if found is None or found.attempt.endings or not has_other_provider(book, batch, page, found):
        return "nobody else could take it"
    return "a rejection uses up no retry" if event.counted or event.then is not Step.WRITE else None


def _after_trouble(batch: BatchFacts, page: TaskFacts, event: RetryGranted, trouble: Category) -> str | None:
    if event.counted:
        return "a merge uses up no retry"
    if trouble is Category.CONFLICT:
        if batch.settings.on_conflict is not OnConflict.REPAIR or page.repairs >= batch.settings.repairs:
            return "no repair is left"
        return (
            None if event.then is Step.WRITE and event.feedback else "a repair is written anew, with a reason"
        )
    if page.tip is None:
        again = event.then is Step.WRITE and event.category is Category.LOST and page.losses < MAX_LOSSES
        return None if again else "there is nothing to merge, and it is to be written again"
    if page.merge_failures >= MAX_MERGE_FAILURES:
        return f"merging has failed {page.merge_failures} times"
    if event.at < page.merge_problem_at + _shortest_delay(batch, page.merge_failures + 1):
        return "too soon after the failed merge"
    return None if event.then is Step.MERGE else "only the merge is to be made again"


def _after_exit(batch: BatchFacts, page: TaskFacts, event: RetryGranted, found: UnjudgedExit) -> str | None:
    category = found.outcome.category
    if page.restart_after_exit:
        return None if event.then is Step.WRITE and not event.counted else "feedback uses up no retry"
    if has_succeeded(batch, page, found) and not (
        batch.winner_was_dropped(page, found) and not event.counted
    ):
        return "it had succeeded"
    if has_succeeded(batch, page, found):
        return None if event.then is Step.WRITE else "it is to be chosen again"
    if was_ended_by_engine(found):
        return "it was ended through no fault of its own" if event.counted else None
    if waits_for_answer(found):
        return "it waits for an answer"
    if category in PERMANENT and not has_timed_out(found) and found.attempt.order.attempt.step is Step.WRITE:
        return f"{category} can't be helped by trying again"
    if not event.counted:
        return _check_uncounted(page, found, event)
    if is_rate_limited(page, found) and not has_timed_out(found):
        return "a rate limit uses up no retry"
    allowed = page.spec.retries if page.spec.retries is not None else batch.settings.retries
    if page.counted_retries >= allowed:
        return f"{page.counted_retries} of {allowed} retries are used up"
    return _check_delay(batch, page, event, found)


def is_rate_limited(page: TaskFacts, found: UnjudgedExit) -> bool:
    """A rate limit, and not one that meets this task alone and says nothing of when it ends."""
    limited = found.outcome.category is Category.RATE_LIMIT
    return limited and (page.unexplained_refusals < MAX_UNEXPLAINED_REFUSALS or found.outcome.has_retry_time)


def has_timed_out(found: UnjudgedExit) -> bool:
    first = next((ending.why for ending in found.attempt.endings), None)
    return first in {EndWhy.TIMEOUT, EndWhy.IDLE}


def was_ended_by_engine(found: UnjudgedExit) -> bool:
    """It was asked to end for a reason that had nothing to do with it: whatever it then said is not its fault."""
    return bool(found.attempt.endings) and not has_timed_out(found)


def waits_for_answer(found: UnjudgedExit) -> bool:
    """It asked, and its time was up before anybody answered."""
    return found.attempt.is_asking and has_timed_out(found)


def _check_uncounted(page: TaskFacts, found: UnjudgedExit, event: RetryGranted) -> str | None:
    if found.outcome.category is Category.LOST and page.losses < MAX_LOSSES:
        return None
    if is_rate_limited(page, found):
        return None if event.then is Step.WRITE else "a limited attempt is made again as a whole"
    return f"{found.outcome.category} must use up a retry"


def _check_delay(batch: BatchFacts, page: TaskFacts, event: RetryGranted, found: UnjudgedExit) -> str | None:
    if event.category in IMMEDIATE:
        return None if event.feedback and event.then is Step.WRITE else "it needs words about what was wrong"
    said = max(found.at + (found.outcome.retry_after or 0.0), found.outcome.retry_at or found.at)
    earliest = max(found.at + _shortest_delay(batch, page.counted_retries + 1), said)
    return None if event.at >= earliest - 1e-6 else f"not before {earliest}"


def _shortest_delay(batch: BatchFacts, tries: int) -> float:
    backoff = batch.settings.backoff
    return min(backoff.cap, backoff.base * backoff.factor ** (tries - 1)) * (1 - backoff.jitter) - 1e-6


def check_backoff_ended(book: Facts, at: float, event: BackoffEnded) -> None:
    page = book.task(event.batch, event.task)
    if page.retry_at is None or at < page.retry_at:
        raise book.violation("backoff", f"{event.task} was let go at {at}, {page.retry_at} was said", page)


def check_answer_awaited(book: Facts, _at: float, event: AnswerAwaited) -> None:
    page = book.task(event.batch, event.task)
    found = page.exit
    if event.wants is not None:
        _check_budget_question(book, book.batch(event.batch), page, event.wants)
    elif found is None or not (waits_for_answer(found) or found.outcome.category is Category.QUESTION):
        raise book.violation("judged", f"{event.task} waits for an answer, but asked nothing", page)


def _check_budget_question(book: Facts, batch: BatchFacts, page: TaskFacts, wants: Spend) -> None:
    """It may ask for money when nothing else is in the way, and nobody who could take it now is within its budget."""
    costs = [expected_cost(book, batch, agent) for agent in find_available_agents(book, batch, page)]
    within = any(fits_task_budget(batch, page, cost) for cost in costs)
    if page.is_in_progress or wants not in costs or within:
        raise book.violation("task-budget", f"{page.spec.id} asks for money that it has", page)


def check_task_interrupted(book: Facts, _at: float, event: TaskInterrupted) -> None:
    batch = book.batch(event.batch)
    page = book.task(event.batch, event.task)
    found = page.exit
    if found is None or not batch.stopping or has_succeeded(batch, page, found):
        raise book.violation("judged", f"{event.task} was interrupted, but no stop ended its attempt", page)
