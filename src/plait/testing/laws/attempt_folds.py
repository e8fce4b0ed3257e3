"""Attempts from their start to the judgement of their end, and what the judgement makes of the task."""

from __future__ import annotations

from plait.core.decisions import (
    AnswerAwaited,
    AttemptEnding,
    AttemptStarted,
    BackoffEnded,
    Change,
    RetryGranted,
    StepPassed,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.reports import (
    AttemptActive,
    AttemptAsked,
    AttemptEnd,
    AttemptExited,
    AttemptLost,
    AttemptProgress,
    AttemptUsed,
    Outcome,
)
from plait.core.settings import FileConflicts
from plait.core.status import Category, TaskStatus
from plait.core.task import Attempt, Step
from plait.testing.laws.facts import (
    AttemptFacts,
    BatchFacts,
    Facts,
    ProviderFacts,
    TaskFacts,
    UnjudgedExit,
    lock_name,
)

FAILURES = frozenset({TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED})


def fold_attempt_started(book: Facts, at: float, event: AttemptStarted) -> None:
    name = event.attempt
    batch = book.batch(name.batch)
    page = batch.tasks[name.task]
    page.alive = book.alive[name] = AttemptFacts(event, at, at)
    page.last = event
    page.numbers[name.step] = name.n
    batch.slots += event.slots
    book.slots += event.slots
    if name.step is Step.WRITE:
        book.agents[event.agent] = book.agents.get(event.agent, 0) + 1
        book.provider_load[event.provider] = book.provider_load.get(event.provider, 0) + 1
        page.begun = True
        page.last_write = event
    page.active = True
    for token in page.locks:
        book.lock_holders[token] = (name.batch, name.task)


def fold_attempt_ending(book: Facts, event: AttemptEnding) -> None:
    page = book.alive.get(event.attempt)
    if page is not None:
        page.endings.append(event)


def fold_attempt_sign(book: Facts, at: float, report: AttemptProgress) -> None:
    page = book.alive.get(report.attempt)
    if page is None:
        return
    page.last_active = at
    match report:
        case AttemptUsed():
            page.used = page.used.at_least(report.spend)
        case AttemptAsked():
            page.is_asking = True
        case AttemptActive():
            page.is_asking = False
        case _:
            pass


def fold_attempt_over(book: Facts, at: float, report: AttemptEnd) -> None:
    """Of an attempt that is not alive nothing is learnt."""
    if isinstance(report, AttemptLost) and report.attempt.step is Step.MERGE:
        _forget_tip(book, report.attempt)
    attempt = book.alive.pop(report.attempt, None)
    if attempt is None:
        return
    outcome = report.outcome if isinstance(report, AttemptExited) else Outcome(Category.LOST)
    batch = book.batches[report.attempt.batch]
    page = batch.tasks[report.attempt.task]
    page.alive = None
    page.exit = UnjudgedExit(attempt, at, outcome)
    batch.slots -= attempt.order.slots
    book.slots -= attempt.order.slots
    used = attempt.used.at_least(outcome.spend)
    batch.spent += used
    page.spent += used
    if report.attempt.step is Step.WRITE:
        page.last_used = used
        if outcome.category not in {Category.RATE_LIMIT, Category.LOST}:
            book.agent_spends.setdefault(attempt.order.agent, []).append(used)
        _note_change(book, batch, page, outcome)
        page.winner = outcome.winner
        if outcome.category is Category.RATE_LIMIT and not outcome.has_retry_time:
            _note_unexplained_refusal(book, page, attempt.order.provider)
        _release_agent(book, batch, attempt, outcome, at)


def _forget_tip(book: Facts, name: Attempt) -> None:
    """The merge that failed just now had nothing to merge."""
    batch = book.batches.get(name.batch)
    page = batch.tasks.get(name.task) if batch else None
    if page is not None and page.merge_problem is Category.MERGE and page.numbers.get(Step.MERGE) == name.n:
        page.tip = None


def _note_change(book: Facts, batch: BatchFacts, page: TaskFacts, outcome: Outcome) -> None:
    """What it left is what will be merged; the files in it that nobody holds are its own from now on."""
    said_all = outcome.category in {Category.OK, Category.EMPTY}
    page.tip = outcome.tip if said_all else outcome.tip or page.tip
    if page.spec.entrant is not None:
        return  # it is never merged, so its files are nobody's
    if not outcome.files or batch.settings.file_conflicts is not FileConflicts.INFERRED:
        return
    book.changed_files[page.spec.key] = outcome.files
    seen = {lock_name(batch.id, f"file:{file}", shared=batch.in_place) for file in outcome.files}
    page.learned_locks = tuple(seen.difference(page.plan_locks))
    folders = {"."} | {file[:n] for file in outcome.files for n, sign in enumerate(file) if sign == "/"}
    wide = {lock_name(batch.id, f"file:{folder}", shared=batch.in_place) for folder in folders}
    known = {token for other in batch.tasks.values() for token in other.plan_locks}
    for token in seen.difference(page.plan_locks) | (wide & known):
        if page.active and token not in book.lock_holders:
            book.lock_holders[token] = (batch.id, page.spec.id)
            page.locks += (token,)


def _release_agent(book: Facts, batch: BatchFacts, attempt: AttemptFacts, outcome: Outcome, at: float) -> None:
    order = attempt.order
    book.agents[order.agent] -= 1
    book.known_agents.add(order.agent)
    book.provider_load[order.provider] -= 1
    if outcome.category is Category.RATE_LIMIT:
        said = max(at + (outcome.retry_after or 0.0), outcome.retry_at or at)
        note_refusal(book, at, order.provider, said, began=attempt.started)
    elif outcome.category is Category.OK:
        batch.rejections = 0
        provider = book.providers.get(order.provider)
        if provider is not None and attempt.started >= provider.opened_at:
            provider.streak = 0
            provider.served += 1


def _note_unexplained_refusal(book: Facts, page: TaskFacts, name: str) -> None:
    """While others were served."""
    provider = book.providers.get(name)
    served = provider.served if provider is not None else 0
    page.unexplained_refusals += page.last_refusal[0] == name and served > page.last_refusal[1]
    page.last_refusal = (name, served)


def note_refusal(book: Facts, at: float, provider: str, until: float, *, began: float) -> None:
    """A breaker that is open at that time and long enough has answered already."""
    page = book.providers.setdefault(provider, ProviderFacts())
    if page.until is None or page.until < until or page.until <= at:
        page.refused_since_opening = page.refused_since_opening or not page.streak or began >= page.opened_at
        page.refuses_until = max(until, page.refuses_until or until)
        page.refused_at = min(at, page.refused_at or at)


def fold_step_passed(book: Facts, event: StepPassed) -> None:
    page = book.task(event.attempt.batch, event.attempt.task)
    _clear_exit(page)
    page.step = event.then
    if event.attempt.step is Step.WRITE:
        page.pending_feedback.clear()
        page.repairing = None


def fold_retry_granted(book: Facts, event: RetryGranted) -> None:
    page = book.task(event.batch, event.task)
    if event.elsewhere and page.exit is not None:
        order, ended = page.exit.attempt.order, page.exit.at
        note_refusal(book, ended, order.provider, ended, began=page.exit.attempt.started)
        provider = book.providers[order.provider]
        provider.rejecting = provider.refuses_until is not None
    _clear_exit(page)
    page.step, page.retry_at = event.then, event.at
    if event.feedback:
        page.pending_feedback.append(event.feedback)
    if event.category is Category.VERIFY and page.winner:
        page.failed_winners += (page.winner,)
    if event.category is Category.CONFLICT:
        if page.tip is not None and page.last_write is not None:
            page.repairing = Change(event.task, page.last_write.base, page.tip)
        page.tip = None
        _retake_locks(book, book.batch(event.batch), page)
    if event.counted:
        page.counted_retries += 1
    elif event.category is Category.LOST:
        page.losses += 1
    elif event.category is Category.CONFLICT:
        page.repairs += 1
    elif event.category is Category.MERGE:
        page.merge_failures += 1


def _retake_locks(book: Facts, batch: BatchFacts, page: TaskFacts) -> None:
    """A repair holds all files that its task is known to change, or waits until it can."""
    me = (batch.id, page.spec.id)
    wanted = dict.fromkeys((*page.locks, *page.plan_locks, *page.learned_locks))
    if not page.active or any(book.lock_holders.get(token, me) != me for token in wanted):
        release_locks(book, batch, page)
    else:
        page.locks = tuple(wanted)
        book.lock_holders |= dict.fromkeys(wanted, me)


def fold_backoff_ended(book: Facts, event: BackoffEnded) -> None:
    book.task(event.batch, event.task).retry_at = None


def fold_answer_awaited(book: Facts, event: AnswerAwaited) -> None:
    page = book.task(event.batch, event.task)
    _clear_exit(page)
    page.asking, page.requested_budget = True, event.wants


def fold_task_interrupted(book: Facts, event: TaskInterrupted) -> None:
    batch = book.batch(event.batch)
    page = batch.tasks[event.task]
    _clear_exit(page)
    page.interrupted = True
    if page.step is Step.WRITE:
        release_locks(book, batch, page)  # what is written and not yet merged goes on holding its files


def fold_task_ended(book: Facts, event: TaskEnded) -> None:
    batch = book.batch(event.batch)
    page = batch.tasks[event.task]
    _clear_exit(page)
    page.ended = event
    page.unmerged_tip = page.tip if event.category is Category.MERGE else None
    contested = batch.tasks.get(page.spec.entrant or "")
    if contested is not None and contested.winner == event.task:
        contested.unmerged_tip = None
    page.pending_end, page.retry_at, page.requested_budget = "", None, None
    page.asking = page.interrupted = False
    page.pending_feedback.clear()
    page.repairing = None
    if event.status is TaskStatus.DONE:
        book.changed_files.pop(page.spec.key, None)
    if event.category in {Category.AUTH, Category.QUOTA}:
        batch.rejections += 1
    note_failure(batch, event.task, event.status)
    release_locks(book, batch, page)


def note_failure(batch: BatchFacts, task: str, status: TaskStatus | None) -> None:
    """What a failure stopped goes on when the task no longer is a failure."""
    if status in FAILURES and batch.tasks[task].spec.entrant is None:
        batch.failures[task] = None
        return
    batch.failures.pop(task, None)
    if batch.halted == task:
        batch.halted = None


def release_locks(book: Facts, batch: BatchFacts, page: TaskFacts) -> None:
    page.active = False
    for token in page.locks:
        if book.lock_holders.get(token) == (batch.id, page.spec.id):
            del book.lock_holders[token]
    page.locks = page.plan_locks + page.learned_locks


def restart_unmet(book: Facts, batch: BatchFacts) -> None:
    """A task whose need is to be done again begins anew after it, and holds nothing meanwhile."""
    merged = {link.task for link in batch.merges}
    for name, page in batch.tasks.items():
        if not batch.has_needs_done(page):
            page.unmerged_tip = None
        begun = page.active or (page.ended is None and page.step is not Step.WRITE)
        if begun and not page.is_in_progress and not batch.has_needs_done(page):
            if name not in merged:
                page.step, page.tip = Step.WRITE, None
            release_locks(book, batch, page)


def _clear_exit(page: TaskFacts) -> None:
    page.exit = page.merge_problem = None
    page.restart_after_exit = False
