"""The batch branch: one merge at a time, onto its head, and out again with what is not wanted."""

from __future__ import annotations

from plait.core.decisions import GateStarted, MergeStarted, RebuildStarted
from plait.core.task import Step
from plait.testing.audit.book import Book


def merge_started(book: Book, _at: float, event: MergeStarted) -> None:
    batch = book.batch(event.batch)
    page = book.task(event.batch, event.task)
    why_not = None
    if batch.merging is not None:
        why_not = f"while {batch.merging} is being merged"
    elif batch.rebuild is not None or batch.unwanted():
        why_not = "while the branch is to be made anew"
    elif event.onto != batch.head:
        why_not = f"onto {event.onto}, but the branch is at {batch.head}"
    elif page.step is not Step.MERGE or page.alive or page.exit or page.trouble or page.retry_at is not None:
        why_not = "before it had come so far"
    elif page.ended is not None or page.doom or batch.lost_needs(page):
        why_not = "though it is over"
    elif not batch.needs_done(page):
        why_not = "before its needs were done again"
    elif event.n != page.numbers.get(Step.MERGE, 0) + 1:
        why_not = "for the second time under that number"
    elif event.tip != page.tip or any(link.task == event.task for link in batch.line):
        why_not = f"with {event.tip}, which is not what it wrote last, or again"
    if why_not is not None:
        raise book.violation("merge", f"the merge of {event.task} began {why_not}", page)


def rebuild_started(book: Book, _at: float, event: RebuildStarted) -> None:
    batch = book.batch(event.batch)
    if batch.merging is not None or batch.rebuild is not None:
        raise book.violation("rebuild", f"rebuild {event.n} began while the branch is busy", batch)
    if event.n != batch.rebuilds + 1:
        raise book.violation("twice", f"rebuild {event.n} began after {batch.rebuilds}", batch)
    if set(event.without) != set(batch.unwanted()):
        message = f"rebuild {event.n} leaves out {event.without}, not {batch.unwanted()}"
        raise book.violation("rebuild", message, batch)


def gate_started(book: Book, _at: float, event: GateStarted) -> None:
    batch = book.batch(event.batch)
    why_not = None
    if batch.settings.gate is None:
        why_not = "there is no gate"
    elif batch.gate is not None:
        why_not = f"gate {batch.gate.order.n} runs"
    elif batch.rebuild is not None or batch.unwanted():
        why_not = "the branch is to be made anew"
    elif event.n != batch.gates + 1:
        why_not = f"the last one was {batch.gates}"
    elif event.size > len(batch.line):
        why_not = f"only {len(batch.line)} are merged"
    elif event.commit != (batch.line[event.size - 1].commit if event.size else batch.base):
        why_not = f"{event.commit} is not what {event.size} merges made"
    elif batch.paused is not None or book.pressure is not None:
        why_not = "nothing new may start"
    if why_not is not None:
        raise book.violation("gate", f"gate {event.n} of {event.batch} began: {why_not}", batch)
