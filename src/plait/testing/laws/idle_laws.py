"""Work conservation: when the core rests, no task could be started that every limit allows.

A task that wants several slots may hold others back while it waits for room beside what runs, and so may money that
runs out; only what no such reason can excuse is reported.

What must hold when the core says that nothing more is due: no debt is left, and no alarm is set too late.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import AttemptStarted
from plait.core.settings import Mode, OnConflict, Order
from plait.core.status import TaskStatus
from plait.core.task import Step
from plait.testing.laws.batch_laws import may_open
from plait.testing.laws.eligibility import find_available_agents
from plait.testing.laws.facts import BatchFacts, Facts, TaskFacts

SECONDS_PER_WEIGHT = 600.0  # seconds that a task of weight 1 is taken to last


def check_no_starvation(book: Facts) -> None:
    if (
        book.pressure is not None
        or _is_full(book, book.settings.parallel_limit or None)
        or _is_full(book, book.capacity)
    ):
        return
    waiting = [found for batch in book.batches.values() if not batch.ended for found in _find_startable(book, batch)]
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
    ready = [page for page in batch.tasks.values() if _is_idle(batch, page) and _has_locks_free(book, batch, page)]
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


def check_nothing_due(book: Facts, at: float) -> None:
    if book.requests:
        raise book.violation("answered", f"nobody answered {sorted(book.requests)}")
    if book.clock_jump is not None:
        raise book.violation("clock", f"the clock jumped by {book.clock_jump} and no deadline moved")
    for name, provider in book.providers.items():
        if provider.refuses_until is not None:
            raise book.violation("breaker", f"{name} refuses until {provider.refuses_until}, and no breaker opened")
        if provider.may_be_restored:
            raise book.violation("breaker", f"somebody is there who may have logged in, and {name} is not tried")
    for batch in book.batches.values():
        if batch.requested_publish is not None:
            raise book.violation("publish", f"{batch.id} was to be published by request, and is not", batch)
        if not batch.ended:
            _check_batch(book, batch, at)


def _check_batch(book: Facts, batch: BatchFacts, at: float) -> None:
    for page in batch.tasks.values():
        debt = _find_task_debt(batch, page, at)
        if debt is not None:
            law, what = debt
            raise book.violation(law, f"{batch.id}/{page.spec.id} {what}", page)
    owed = (
        _find_gate_debt(batch)
        or _find_halt_debt(batch)
        or _find_phase_debt(batch)
        or _find_merge_debt(book, batch)
        or _find_end_debt(batch)
    )
    if owed is not None:
        raise book.violation("owed", f"batch {batch.id}: {owed}", batch)


def _find_task_debt(batch: BatchFacts, page: TaskFacts, at: float) -> tuple[str, str] | None:
    if page.exit is not None or page.merge_problem is not None:
        return "judged", "waits for a judgement that does not come"
    if page.retry_at is not None and page.retry_at <= at:
        return "backoff", f"waits for {page.retry_at}, which is past"
    lost = (page.ended is None or page.is_done) and bool(batch.find_lost_needs(page))
    if page.alive is not None:
        unwanted = page.pending_end or lost or page.restart_after_exit or batch.stopping
        overdue = page.alive.expires < at
        return ("ending", "runs on though it should not") if (unwanted or overdue) and not page.alive.endings else None
    going = page.retry_at is not None or page.asking or page.interrupted
    lost = lost or (batch.has_no_candidates(page) and not going)
    if page.merging is None and (page.pending_end or lost):
        return "ended", "is over, and nobody ends it"
    return None


def _find_gate_debt(batch: BatchFacts) -> str | None:
    gate = batch.gate
    unwanted = gate is not None and (gate.stale or batch.stopping or batch.cancelled)
    return "its gate runs on though it should not" if unwanted and gate and gate.ending is None else None


def _find_halt_debt(batch: BatchFacts) -> str | None:
    if batch.halted is not None:
        return None
    conflicts = batch.settings.on_conflict is OnConflict.FAIL
    for name in batch.failures:
        conflicted = conflicts and batch.tasks[name].status is TaskStatus.CONFLICTED
        if conflicted or batch.settings.stop_on_fail:
            return f"{name} should have halted it"
    return None


def _find_phase_debt(batch: BatchFacts) -> str | None:
    closed = (key for key in batch.phases if key not in batch.opened)
    ready = [key for key in closed if may_open(batch, key)]
    return f"phase {ready[0]} should have opened" if ready else None


def _find_merge_debt(book: Facts, batch: BatchFacts) -> str | None:
    if batch.merging is not None or batch.rebuild is not None:
        return None
    if batch.find_unwanted():
        given_up = batch.rebuild_failures >= 3 and batch.paused is not None
        return None if given_up else f"{batch.find_unwanted()} should be taken out of the branch"
    ready = [page.spec.id for page in batch.tasks.values() if _can_merge(batch, page)]
    if ready:
        return f"{ready[0]} could be merged"
    merged = [batch.tasks[link.task] for link in batch.merges]
    unfinished = {page.spec.id for page in merged if page.ended is None and batch.has_needs_done(page)}
    if batch.settings.gate is None:
        return f"{sorted(unfinished)} are merged, and not done" if unfinished else None
    passed = {link.task for link in batch.merges[: batch.gate_passed_size]}
    if unfinished & passed:
        return f"{sorted(unfinished & passed)} passed the gate, and are not done"
    idle = batch.gate is None and not batch.is_stopped and book.pressure is None
    return "the gate should run" if idle and batch.needs_gate else None


def _can_merge(batch: BatchFacts, page: TaskFacts) -> bool:
    waits = page.retry_at is not None or page.asking or page.interrupted or page.pending_end
    ready = page.ended is None and page.alive is None and batch.has_needs_done(page)
    at_merge = page.step is Step.MERGE and ready and not waits
    return at_merge and all(link.task != page.spec.id for link in batch.merges)


def _find_end_debt(batch: BatchFacts) -> str | None:
    if any(page.ended is None for page in batch.tasks.values()) or batch.find_unwanted():
        return None
    busy = batch.gate or batch.merging or batch.rebuild or batch.publishing
    if busy or batch.needs_gate or (batch.needs_publish and batch.paused is not None):
        return None
    return "its branch should be published" if batch.needs_publish else "every task has ended, and it has not"


def check_wake_time(book: Facts, at: float, wake: float | None) -> None:
    """The core asks to be woken for the next thing that time alone will bring."""
    soonest = min(_upcoming(book), default=None)
    if wake is not None and wake <= at:
        raise book.violation("alarm", f"nothing is due at {at}, and it wants to be woken at {wake}")
    if soonest is not None and (wake is None or wake > soonest[0] + 1e-6):
        raise book.violation("alarm", f"{soonest[1]} is due at {soonest[0]}, but it sleeps until {wake}")


def _upcoming(book: Facts) -> Iterator[tuple[float, str]]:
    for name, attempt in book.alive.items():
        if not attempt.endings:
            yield attempt.expires, f"the end of {name}"
    for called, provider in book.providers.items():
        if provider.until is not None:
            yield provider.until, f"the breaker of {called}"
    for batch in book.batches.values():
        if batch.gate is not None and batch.gate.ending is None:
            yield batch.gate.started + batch.gate.order.timeout, f"the end of gate {batch.gate.order.n}"
        for page in () if batch.ended else batch.tasks.values():
            if page.retry_at is not None:
                yield page.retry_at, f"another try of {page.spec.id}"
