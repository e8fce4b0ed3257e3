"""The batch branch: one merge at a time, onto its head, and out again with what is not wanted."""

from __future__ import annotations

from plait.core.decisions import GateStarted, MergeStarted, RebuildStarted
from plait.core.task import Step
from plait.testing.laws.facts import BatchFacts, TaskFacts
from plait.testing.laws.facts__book import Facts


def check_merge_started(book: Facts, _at: float, event: MergeStarted) -> None:
    batch = book.batch(event.batch)
    page = book.task(event.batch, event.task)
    if page.spec.entrant is not None:
        raise book.violation("contest", f"{event.task} is an entrant, and is merged", page)
    why_not = _merge_blocker(batch) or _merge_not_ready(batch, page) or _merge_mismatch(batch, page, event)
    if why_not is not None:
        raise book.violation("merge", f"the merge of {event.task} began {why_not}", page)


def _merge_blocker(batch: BatchFacts) -> str | None:
    if batch.merging is not None:
        return f"while {batch.merging} is being merged"
    anew = batch.rebuild is not None or batch.find_unwanted()
    return "while the branch is to be made anew" if anew else None


def _merge_not_ready(batch: BatchFacts, page: TaskFacts) -> str | None:
    if page.step is not Step.MERGE or page.is_in_progress or page.retry_at is not None:
        return "before it had come so far"
    if page.ended is not None or page.pending_end or batch.find_lost_needs(page):
        return "though it is over"
    return None if batch.has_needs_done(page) else "before its needs were done again"


def _merge_mismatch(batch: BatchFacts, page: TaskFacts, event: MergeStarted) -> str | None:
    if event.onto != batch.head:
        return f"onto {event.onto}, but the branch is at {batch.head}"
    if event.n != page.numbers.get(Step.MERGE, 0) + 1:
        return "for the second time under that number"
    if event.tip != page.tip or page.last_write is None or event.base != page.last_write.base:
        return f"with {event.base}..{event.tip}, which is not what it wrote last"
    merged = any(link.task == event.task for link in batch.merges)
    return "though its change is in the branch" if merged else None


def check_rebuild_started(book: Facts, _at: float, event: RebuildStarted) -> None:
    batch = book.batch(event.batch)
    if batch.merging is not None or batch.rebuild is not None:
        raise book.violation("rebuild", f"rebuild {event.n} began while the branch is busy", batch)
    if event.n != batch.rebuilds + 1:
        raise book.violation("twice", f"rebuild {event.n} began after {batch.rebuilds}", batch)
    if set(event.without) != set(batch.find_unwanted()):
        message = f"rebuild {event.n} leaves out {event.without}, not {batch.find_unwanted()}"
        raise book.violation("rebuild", message, batch)
    if event.line != tuple(link.change for link in batch.merges if link.task not in event.without):
        raise book.violation("rebuild", f"rebuild {event.n} keeps {event.line}", batch)


def check_gate_started(book: Facts, _at: float, event: GateStarted) -> None:
    batch = book.batch(event.batch)
    why_not = None
    if batch.settings.gate is None or event.command != batch.settings.gate:
        why_not = f"{event.command!r} is not the gate"
    elif batch.gate is not None:
        why_not = f"gate {batch.gate.order.n} runs"
    elif batch.rebuild is not None or batch.find_unwanted():
        why_not = "the branch is to be made anew"
    elif event.n != batch.gates + 1:
        why_not = f"the last one was {batch.gates}"
    elif event.size > len(batch.merges):
        why_not = f"only {len(batch.merges)} are merged"
    elif event.commit != (batch.merges[event.size - 1].commit if event.size else batch.base):
        why_not = f"{event.commit} is not what {event.size} merges made"
    elif batch.is_stopped or book.pressure is not None:
        why_not = "nothing new may start"
    if why_not is not None:
        raise book.violation("gate", f"gate {event.n} of {event.batch} began: {why_not}", batch)
