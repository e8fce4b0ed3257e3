"""Work conservation: when the core rests, no task could be started that every limit allows.

A task that wants several slots may hold others back while it waits for room beside what runs, and so may money that
runs out; only what no such reason can excuse is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import AttemptStarted
from plait.core.settings import Mode, Order
from plait.core.task import Step
from plait.testing.laws.eligibility import find_available_agents
from plait.testing.laws.facts import BatchFacts, TaskFacts
from plait.testing.laws.facts__book import Facts

SECONDS_PER_WEIGHT = 600.0  # seconds that a task of weight 1 is taken to last


def check_no_starvation(book: Facts) -> None:
    if (
        book.pressure is not None
        or _is_full(book, book.settings.parallel_limit or None)
        or _is_full(book, book.capacity)
    ):
        return
    waiting = [
        found for batch in book.batches.values() if not batch.ended for found in _find_startable(book, batch)
    ]
    if book.alive and any(_slots(book, batch, page) > 1 for batch, page in waiting):
        return
    for batch, page in waiting:
        if _has_room(batch) and _waits_for_budget(batch) is None:
            raise book.violation("starved", f"{batch.id}/{page.spec.id} could have its {page.step} now", page)


def _is_full(book: Facts, limit: int | None) -> bool:
    return limit is not None and book.slots >= limit


def _find_startable(book: Facts, batch: BatchFacts) -> Iterator[tuple[BatchFacts, TaskFacts]]:
    """What could start now if only there were slots for it."""
    if batch.is_stopped:
        return
    ready = [
        page for page in batch.tasks.values() if _is_idle(batch, page) and _has_locks_free(book, batch, page)
    ]
    yield from ((batch, page) for page in ready if page.step is Step.VERIFY)
    if batch.paused is not None or batch.merging or batch.rebuild is not None or batch.find_unwanted():
        return
    writers = [page for page in ready if page.step is Step.WRITE and _is_phase_open(batch, page)]
    if batch.settings.mode is Mode.QUEUE:
        writers = _next_in_queue(batch, writers)
    yield from ((batch, page) for page in writers if find_available_agents(book, batch, page))


def check_start_order(book: Facts, _at: float, event: AttemptStarted) -> None:
    """Of the tasks of a batch that could start, the first one does. (Which of them money allows, only the core knows.)"""
    batch = book.batch(event.attempt.batch)
    if event.attempt.step is not Step.WRITE or batch.settings.budget is not None:
        return
    mine = rank(batch, batch.tasks[event.attempt.task])
    for _, page in _find_startable(book, batch):
        if page.step is Step.WRITE and rank(batch, page) < mine:
            message = f"{event.attempt} started before {page.spec.id}, whose turn it was"
            raise book.violation("order", message, page)


def rank(batch: BatchFacts, page: TaskFacts) -> tuple[int, int, float, int]:
    """What is under way goes first, then what was begun, then what is urgent, then by the batch's order."""
    begun = 2 - page.begun - page.active
    if batch.settings.mode is Mode.QUEUE or batch.settings.order is Order.FIFO:
        return (begun, 0, 0.0, page.place)
    if batch.settings.order is Order.QUICK_FIRST:
        spec = page.spec
        length = spec.estimate if spec.estimate is not None else spec.weight * SECONDS_PER_WEIGHT
    else:
        length = -batch.plan.ranks[page.place]
    return (begun, page.spec.priority, length, page.place)


def _is_idle(batch: BatchFacts, page: TaskFacts) -> bool:
    if page.ended is not None or page.alive is not None or page.merging is not None or page.pending_end:
        return False
    if batch.has_no_candidates(page):
        return False
    if page.retry_at is not None or page.asking or page.interrupted or not batch.has_needs_done(page):
        return False
    return all(link.task != page.spec.id or link.generation != page.generation for link in batch.merges)


def _is_phase_open(batch: BatchFacts, page: TaskFacts) -> bool:
    phase = page.spec.phase
    if phase is None or phase not in batch.phases or phase in batch.opened:
        return True
    return page.ignores_phase(batch.phases[phase])


def _has_locks_free(book: Facts, batch: BatchFacts, page: TaskFacts) -> bool:
    me = (batch.id, page.spec.id)
    return all(book.lock_holders.get(token, me) == me for token in page.locks)


def _next_in_queue(batch: BatchFacts, writers: list[TaskFacts]) -> list[TaskFacts]:
    first = min(writers, key=lambda page: rank(batch, page), default=None)
    if first is None or first.active:
        return [first] if first else []
    busy = any(page.active for page in batch.tasks.values())
    return [] if busy or not (first.approved or batch.settings.auto_approve) else [first]


def _slots(book: Facts, batch: BatchFacts, page: TaskFacts) -> int:
    limits = [limit for limit in (book.settings.parallel_limit, batch.settings.max_parallel) if limit]
    return min([max(1, page.spec.slots), *limits])


def _has_room(batch: BatchFacts) -> bool:
    return not batch.settings.max_parallel or batch.slots < batch.settings.max_parallel


def _waits_for_budget(batch: BatchFacts) -> str | None:
    """Money may keep a task waiting while others still run; when nothing runs, the batch must say that it waits."""
    return "money" if batch.settings.budget is not None and batch.alive else None
