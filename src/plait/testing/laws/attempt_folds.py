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
from plait.testing.laws.facts import AttemptPage, BatchPage, Exit, TaskPage, token_of
from plait.testing.laws.facts__book import Book, ProviderPage

FAILURES = frozenset({TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED})


def started(book: Book, at: float, event: AttemptStarted) -> None:
    name = event.attempt
    batch = book.batch(name.batch)
    page = batch.tasks[name.task]
    page.alive = book.alive[name] = AttemptPage(event, at, at)
    page.last = event
    page.numbers[name.step] = name.n
    batch.slots += event.slots
    book.slots += event.slots
    if name.step is Step.WRITE:
        book.agents[event.agent] = book.agents.get(event.agent, 0) + 1
        book.at_work[event.provider] = book.at_work.get(event.provider, 0) + 1
        page.begun = True
        page.last_write = event
    page.active = True
    for token in page.tokens:
        book.holders[token] = (name.batch, name.task)


def ending(book: Book, event: AttemptEnding) -> None:
    page = book.alive.get(event.attempt)
    if page is not None:
        page.endings.append(event)


def signed(book: Book, at: float, report: AttemptProgress) -> None:
    page = book.alive.get(report.attempt)
    if page is None:
        return
    page.heard = at
    match report:
        case AttemptUsed():
            page.used = page.used.at_least(report.spend)
        case AttemptAsked():
            page.question = True
        case AttemptActive():
            page.question = False
        case _:
            pass


def over(book: Book, at: float, report: AttemptEnd) -> None:
    """Of an attempt that is not alive nothing is learnt."""
    if isinstance(report, AttemptLost) and report.attempt.step is Step.MERGE:
        _lose_change(book, report.attempt)
    attempt = book.alive.pop(report.attempt, None)
    if attempt is None:
        return
    outcome = report.outcome if isinstance(report, AttemptExited) else Outcome(Category.LOST)
    batch = book.batches[report.attempt.batch]
    page = batch.tasks[report.attempt.task]
    page.alive = None
    page.exit = Exit(attempt, at, outcome)
    batch.slots -= attempt.order.slots
    book.slots -= attempt.order.slots
    used = attempt.used.at_least(outcome.spend)
    batch.spent += used
    page.spent += used
    if report.attempt.step is Step.WRITE:
        page.last_used = used
        if outcome.category not in {Category.RATE_LIMIT, Category.LOST}:
            book.spends.setdefault(attempt.order.agent, []).append(used)
        _changed(book, batch, page, outcome)
        page.winner = outcome.winner
        if outcome.category is Category.RATE_LIMIT and not outcome.has_retry_time:
            _refused_again(book, page, attempt.order.provider)
        _wrote(book, batch, attempt, outcome, at)


def _lose_change(book: Book, name: Attempt) -> None:
    """The merge that failed just now had nothing to merge."""
    batch = book.batches.get(name.batch)
    page = batch.tasks.get(name.task) if batch else None
    if page is not None and page.trouble is Category.MERGE and page.numbers.get(Step.MERGE) == name.n:
        page.tip = None


def _changed(book: Book, batch: BatchPage, page: TaskPage, outcome: Outcome) -> None:
    """What it left is what will be merged; the files in it that nobody holds are its own from now on."""
    said_all = outcome.category in {Category.OK, Category.EMPTY}
    page.tip = outcome.tip if said_all else outcome.tip or page.tip
    if page.spec.entrant is not None:
        return  # it is never merged, so its files are nobody's
    if not outcome.files or batch.settings.file_conflicts is not FileConflicts.INFERRED:
        return
    book.touched[page.spec.key] = outcome.files
    seen = {token_of(batch.id, f"file:{file}", shared=batch.in_place) for file in outcome.files}
    page.learnt = tuple(seen.difference(page.named))
    folders = {"."} | {file[:n] for file in outcome.files for n, sign in enumerate(file) if sign == "/"}
    wide = {token_of(batch.id, f"file:{folder}", shared=batch.in_place) for folder in folders}
    known = {token for other in batch.tasks.values() for token in other.named}
    for token in seen.difference(page.named) | (wide & known):
        if page.active and token not in book.holders:
            book.holders[token] = (batch.id, page.spec.id)
            page.tokens += (token,)


def _wrote(book: Book, batch: BatchPage, attempt: AttemptPage, outcome: Outcome, at: float) -> None:
    order = attempt.order
    book.agents[order.agent] -= 1
    book.known_agents.add(order.agent)
    book.at_work[order.provider] -= 1
    if outcome.category is Category.RATE_LIMIT:
        said = max(at + (outcome.retry_after or 0.0), outcome.retry_at or at)
        refused(book, at, order.provider, said, began=attempt.started)
    elif outcome.category is Category.OK:
        batch.rejections = 0
        provider = book.providers.get(order.provider)
        if provider is not None and attempt.started >= provider.opened_at:
            provider.streak = 0
            provider.served += 1


def _refused_again(book: Book, page: TaskPage, name: str) -> None:
    """While others were served."""
    provider = book.providers.get(name)
    served = provider.served if provider is not None else 0
    page.misfits += page.refused[0] == name and served > page.refused[1]
    page.refused = (name, served)


def refused(book: Book, at: float, provider: str, until: float, *, began: float) -> None:
    """A breaker that is open at that time and long enough has answered already."""
    page = book.providers.setdefault(provider, ProviderPage())
    if page.until is None or page.until < until or page.until <= at:
        page.fresh = page.fresh or not page.streak or began >= page.opened_at
        page.said = max(until, page.said or until)
        page.refused_at = min(at, page.refused_at or at)


def passed(book: Book, event: StepPassed) -> None:
    page = book.task(event.attempt.batch, event.attempt.task)
    _judged(page)
    page.step = event.then
    if event.attempt.step is Step.WRITE:
        page.words.clear()
        page.repairing = None


def granted(book: Book, event: RetryGranted) -> None:
    page = book.task(event.batch, event.task)
    if event.elsewhere and page.exit is not None:
        order, ended = page.exit.attempt.order, page.exit.at
        refused(book, ended, order.provider, ended, began=page.exit.attempt.started)
        provider = book.providers[order.provider]
        provider.rejecting = provider.said is not None
    _judged(page)
    page.step, page.retry_at = event.then, event.at
    if event.feedback:
        page.words.append(event.feedback)
    if event.category is Category.VERIFY and page.winner:
        page.outdone += (page.winner,)
    if event.category is Category.CONFLICT:
        if page.tip is not None and page.last_write is not None:
            page.repairing = Change(event.task, page.last_write.base, page.tip)
        page.tip = None
        _take_anew(book, book.batch(event.batch), page)
    if event.counted:
        page.counted += 1
    elif event.category is Category.LOST:
        page.losses += 1
    elif event.category is Category.CONFLICT:
        page.repairs += 1
    elif event.category is Category.MERGE:
        page.merge_failures += 1


def _take_anew(book: Book, batch: BatchPage, page: TaskPage) -> None:
    """A repair holds all files that its task is known to change, or waits until it can."""
    me = (batch.id, page.spec.id)
    wanted = dict.fromkeys((*page.tokens, *page.named, *page.learnt))
    if not page.active or any(book.holders.get(token, me) != me for token in wanted):
        let_go(book, batch, page)
    else:
        page.tokens = tuple(wanted)
        book.holders |= dict.fromkeys(wanted, me)


def backoff_ended(book: Book, event: BackoffEnded) -> None:
    book.task(event.batch, event.task).retry_at = None


def awaited(book: Book, event: AnswerAwaited) -> None:
    page = book.task(event.batch, event.task)
    _judged(page)
    page.asking, page.wants = True, event.wants


def interrupted(book: Book, event: TaskInterrupted) -> None:
    batch = book.batch(event.batch)
    page = batch.tasks[event.task]
    _judged(page)
    page.interrupted = True
    if page.step is Step.WRITE:
        let_go(book, batch, page)  # what is written and not yet merged goes on holding its files


def ended(book: Book, event: TaskEnded) -> None:
    batch = book.batch(event.batch)
    page = batch.tasks[event.task]
    _judged(page)
    page.ended = event
    page.unmerged = page.tip if event.category is Category.MERGE else None
    contested = batch.tasks.get(page.spec.entrant or "")
    if contested is not None and contested.winner == event.task:
        contested.unmerged = None
    page.doom, page.retry_at, page.wants = "", None, None
    page.asking = page.interrupted = False
    page.words.clear()
    page.repairing = None
    if event.status is TaskStatus.DONE:
        book.touched.pop(page.spec.key, None)
    if event.category in {Category.AUTH, Category.QUOTA}:
        batch.rejections += 1
    note_failure(batch, event.task, event.status)
    let_go(book, batch, page)


def note_failure(batch: BatchPage, task: str, status: TaskStatus | None) -> None:
    """What a failure stopped goes on when the task no longer is a failure."""
    if status in FAILURES and batch.tasks[task].spec.entrant is None:
        batch.failures[task] = None
        return
    batch.failures.pop(task, None)
    if batch.halted == task:
        batch.halted = None


def let_go(book: Book, batch: BatchPage, page: TaskPage) -> None:
    page.active = False
    for token in page.tokens:
        if book.holders.get(token) == (batch.id, page.spec.id):
            del book.holders[token]
    page.tokens = page.named + page.learnt


def step_back(book: Book, batch: BatchPage) -> None:
    """A task whose need is to be done again begins anew after it, and holds nothing meanwhile."""
    merged = {link.task for link in batch.line}
    for name, page in batch.tasks.items():
        if not batch.needs_done(page):
            page.unmerged = None
        begun = page.active or (page.ended is None and page.step is not Step.WRITE)
        if begun and not page.under_way and not batch.needs_done(page):
            if name not in merged:
                page.step, page.tip = Step.WRITE, None
            let_go(book, batch, page)


def _judged(page: TaskPage) -> None:
    page.exit = page.trouble = None
    page.redo = False
