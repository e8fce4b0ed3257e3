"""What must hold when the core says that nothing more is due: no debt is left, and no alarm is set too late."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.settings import OnConflict
from plait.core.status import TaskStatus
from plait.core.task import Step
from plait.testing.laws.batch_laws import may_open
from plait.testing.laws.facts import BatchPage, TaskPage
from plait.testing.laws.facts__book import Book


def no_debts(book: Book, at: float) -> None:
    if book.requests:
        raise book.violation("answered", f"nobody answered {sorted(book.requests)}")
    if book.jump is not None:
        raise book.violation("clock", f"the clock jumped by {book.jump} and no deadline moved")
    for name, provider in book.providers.items():
        if provider.said is not None:
            raise book.violation("breaker", f"{name} refuses until {provider.said}, and no breaker opened")
        if provider.mended:
            raise book.violation(
                "breaker", f"somebody is there who may have logged in, and {name} is not tried"
            )
    for batch in book.batches.values():
        if batch.wish is not None:
            raise book.violation("publish", f"{batch.id} was to be published by request, and is not", batch)
        if not batch.ended:
            _batch(book, batch, at)


def _batch(book: Book, batch: BatchPage, at: float) -> None:
    for page in batch.tasks.values():
        debt = _task(batch, page, at)
        if debt is not None:
            law, what = debt
            raise book.violation(law, f"{batch.id}/{page.spec.id} {what}", page)
    owed = _gate(batch) or _halt(batch) or _phase(batch) or _line(book, batch) or _end(batch)
    if owed is not None:
        raise book.violation("owed", f"batch {batch.id}: {owed}", batch)


def _task(batch: BatchPage, page: TaskPage, at: float) -> tuple[str, str] | None:
    if page.exit is not None or page.trouble is not None:
        return "judged", "waits for a judgement that does not come"
    if page.retry_at is not None and page.retry_at <= at:
        return "backoff", f"waits for {page.retry_at}, which is past"
    lost = (page.ended is None or page.done) and bool(batch.lost_needs(page))
    if page.alive is not None:
        unwanted = page.doom or lost or page.redo or batch.stopping
        overdue = page.alive.expires < at
        return (
            ("ending", "runs on though it should not")
            if (unwanted or overdue) and not page.alive.endings
            else None
        )
    going = page.retry_at is not None or page.asking or page.interrupted
    lost = lost or (batch.unwinnable(page) and not going)
    if page.merging is None and (page.doom or lost):
        return "ended", "is over, and nobody ends it"
    return None


def _gate(batch: BatchPage) -> str | None:
    gate = batch.gate
    unwanted = gate is not None and (gate.stale or batch.stopping or batch.cancelled)
    return "its gate runs on though it should not" if unwanted and gate and gate.ending is None else None


def _halt(batch: BatchPage) -> str | None:
    if batch.halted is not None:
        return None
    conflicts = batch.settings.on_conflict is OnConflict.FAIL
    for name in batch.failures:
        conflicted = conflicts and batch.tasks[name].status is TaskStatus.CONFLICTED
        if conflicted or batch.settings.stop_on_fail:
            return f"{name} should have halted it"
    return None


def _phase(batch: BatchPage) -> str | None:
    closed = (key for key in batch.phases if key not in batch.opened)
    ready = [key for key in closed if may_open(batch, key)]
    return f"phase {ready[0]} should have opened" if ready else None


def _line(book: Book, batch: BatchPage) -> str | None:
    if batch.merging is not None or batch.rebuild is not None:
        return None
    if batch.unwanted():
        given_up = batch.rebuild_failures >= 3 and batch.paused is not None
        return None if given_up else f"{batch.unwanted()} should be taken out of the branch"
    ready = [page.spec.id for page in batch.tasks.values() if _can_merge(batch, page)]
    if ready:
        return f"{ready[0]} could be merged"
    merged = [batch.tasks[link.task] for link in batch.line]
    unfinished = {page.spec.id for page in merged if page.ended is None and batch.needs_done(page)}
    if batch.settings.gate is None:
        return f"{sorted(unfinished)} are merged, and not done" if unfinished else None
    passed = {link.task for link in batch.line[: batch.gated]}
    if unfinished & passed:
        return f"{sorted(unfinished & passed)} passed the gate, and are not done"
    idle = batch.gate is None and not batch.stands_still and book.pressure is None
    return "the gate should run" if idle and batch.untested else None


def _can_merge(batch: BatchPage, page: TaskPage) -> bool:
    waits = page.retry_at is not None or page.asking or page.interrupted or page.doom
    ready = page.ended is None and page.alive is None and batch.needs_done(page)
    at_merge = page.step is Step.MERGE and ready and not waits
    return at_merge and all(link.task != page.spec.id for link in batch.line)


def _end(batch: BatchPage) -> str | None:
    if any(page.ended is None for page in batch.tasks.values()) or batch.unwanted():
        return None
    busy = batch.gate or batch.merging or batch.rebuild or batch.publishing
    if busy or batch.untested or (batch.unshipped and batch.paused is not None):
        return None
    return "its branch should be published" if batch.unshipped else "every task has ended, and it has not"


def alarms(book: Book, at: float, wake: float | None) -> None:
    """The core asks to be woken for the next thing that time alone will bring."""
    soonest = min(_upcoming(book), default=None)
    if wake is not None and wake <= at:
        raise book.violation("alarm", f"nothing is due at {at}, and it wants to be woken at {wake}")
    if soonest is not None and (wake is None or wake > soonest[0] + 1e-6):
        raise book.violation("alarm", f"{soonest[1]} is due at {soonest[0]}, but it sleeps until {wake}")


def _upcoming(book: Book) -> Iterator[tuple[float, str]]:
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
