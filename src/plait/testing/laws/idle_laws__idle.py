"""Work conservation: when the core rests, no task could be started that every limit allows.

A task that wants several slots may hold others back while it waits for room beside what runs, and so may money that
runs out; only what no such reason can excuse is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import AttemptStarted
from plait.core.settings import Mode, Order
from plait.core.task import Step
from plait.testing.laws.eligibility import able
from plait.testing.laws.facts import BatchPage, TaskPage
from plait.testing.laws.facts__book import Book

UNIT = 600.0  # seconds that a task of weight 1 is taken to last


def nobody_starves(book: Book) -> None:
    if (
        book.pressure is not None
        or _full(book, book.settings.parallel_limit or None)
        or _full(book, book.room)
    ):
        return
    waiting = [found for batch in book.batches.values() if not batch.ended for found in _waiting(book, batch)]
    if book.alive and any(_slots(book, batch, page) > 1 for batch, page in waiting):
        return
    for batch, page in waiting:
        if _has_room(batch) and _excused(batch) is None:
            raise book.violation("starved", f"{batch.id}/{page.spec.id} could have its {page.step} now", page)


def _full(book: Book, limit: int | None) -> bool:
    return limit is not None and book.slots >= limit


def _waiting(book: Book, batch: BatchPage) -> Iterator[tuple[BatchPage, TaskPage]]:
    """What could start now if only there were slots for it."""
    if batch.stands_still:
        return
    ready = [page for page in batch.tasks.values() if _idle(batch, page) and _tokens_free(book, batch, page)]
    yield from ((batch, page) for page in ready if page.step is Step.VERIFY)
    if batch.paused is not None or batch.merging or batch.rebuild is not None or batch.unwanted():
        return
    writers = [page for page in ready if page.step is Step.WRITE and _phase_open(batch, page)]
    if batch.settings.mode is Mode.QUEUE:
        writers = _first_in_line(batch, writers)
    yield from ((batch, page) for page in writers if able(book, batch, page))


def in_order(book: Book, _at: float, event: AttemptStarted) -> None:
    """Of the tasks of a batch that could start, the first one does. (Which of them money allows, only the core knows.)"""
    batch = book.batch(event.attempt.batch)
    if event.attempt.step is not Step.WRITE or batch.settings.budget is not None:
        return
    mine = rank(batch, batch.tasks[event.attempt.task])
    for _, page in _waiting(book, batch):
        if page.step is Step.WRITE and rank(batch, page) < mine:
            message = f"{event.attempt} started before {page.spec.id}, whose turn it was"
            raise book.violation("order", message, page)


def rank(batch: BatchPage, page: TaskPage) -> tuple[int, int, float, int]:
    """What is under way goes first, then what was begun, then what is urgent, then by the batch's order."""
    begun = 2 - page.begun - page.active
    if batch.settings.mode is Mode.QUEUE or batch.settings.order is Order.FIFO:
        return (begun, 0, 0.0, page.place)
    if batch.settings.order is Order.QUICK_FIRST:
        spec = page.spec
        length = spec.estimate if spec.estimate is not None else spec.weight * UNIT
    else:
        length = -batch.plan.ranks[page.place]
    return (begun, page.spec.priority, length, page.place)


def _idle(batch: BatchPage, page: TaskPage) -> bool:
    if page.ended is not None or page.alive is not None or page.merging is not None or page.doom:
        return False
    if batch.unwinnable(page):
        return False
    if page.retry_at is not None or page.asking or page.interrupted or not batch.needs_done(page):
        return False
    return all(link.task != page.spec.id or link.life != page.life for link in batch.line)


def _phase_open(batch: BatchPage, page: TaskPage) -> bool:
    phase = page.spec.phase
    if phase is None or phase not in batch.phases or phase in batch.opened:
        return True
    return page.passes(batch.phases[phase])


def _tokens_free(book: Book, batch: BatchPage, page: TaskPage) -> bool:
    me = (batch.id, page.spec.id)
    return all(book.holders.get(token, me) == me for token in page.tokens)


def _first_in_line(batch: BatchPage, writers: list[TaskPage]) -> list[TaskPage]:
    first = min(writers, key=lambda page: rank(batch, page), default=None)
    if first is None or first.active:
        return [first] if first else []
    busy = any(page.active for page in batch.tasks.values())
    return [] if busy or not (first.approved or batch.settings.auto_approve) else [first]


def _slots(book: Book, batch: BatchPage, page: TaskPage) -> int:
    limits = [limit for limit in (book.settings.parallel_limit, batch.settings.max_parallel) if limit]
    return min([max(1, page.spec.slots), *limits])


def _has_room(batch: BatchPage) -> bool:
    return not batch.settings.max_parallel or batch.slots < batch.settings.max_parallel


def _excused(batch: BatchPage) -> str | None:
    """Money may keep a task waiting while others still run; when nothing runs, the batch must say that it waits."""
    return "money" if batch.settings.budget is not None and batch.alive else None
