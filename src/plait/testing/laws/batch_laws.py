"""The batch branch: one merge at a time, onto its head, and out again with what is not wanted.

What is published: one at a time, what was tested and nothing else, when somebody asked for it or all is over.

What is decided about a batch as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from plait.core.decisions import (
    BatchEnded,
    BatchPaused,
    BatchUnpaused,
    GateStarted,
    MergeStarted,
    PhaseOpened,
    PublishStarted,
    RebuildStarted,
)
from plait.core.settings import Publish
from plait.core.status import BatchStatus, PauseCause, TaskStatus
from plait.core.task import Step
from plait.testing.laws.facts import BatchFacts, Facts, TaskFacts


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


def check_publish_started(book: Facts, _at: float, event: PublishStarted) -> None:
    batch = book.batch(event.batch)
    why_not = (
        _publish_blocker(batch, event) or _publish_mismatch(book, batch, event) or _publish_unrequested(batch, event)
    )
    if why_not is not None:
        raise book.violation("publish", f"{event.batch} is published: {why_not}", batch)


def _publish_blocker(batch: BatchFacts, event: PublishStarted) -> str | None:
    if batch.publishing is not None:
        return "it is being published"
    if event.n != batch.publishes + 1:
        return f"the last time was {batch.publishes}"
    anew = batch.rebuild is not None or batch.find_unwanted()
    return "the branch is to be made anew" if anew else None


def _publish_mismatch(book: Facts, batch: BatchFacts, event: PublishStarted) -> str | None:
    """A commit of the line, with the merges up to it in it and no other, and nothing that the gate did not pass."""
    place = next((n for n, link in enumerate(batch.merges) if link.commit == event.commit), None)
    if place is None:
        return f"{event.commit} is no commit of its branch"
    if book.contents(event.commit) != {link.task for link in batch.merges[: place + 1]}:
        return f"{event.commit} holds {sorted(book.contents(event.commit))}"
    if batch.settings.gate is not None and event.commit not in batch.passed:
        return f"the gate has not passed {event.commit}"
    if event.expected != batch.pushed:
        return f"{event.expected!r} is not what was pushed last ({batch.pushed!r})"
    if event.publish is Publish.OFF or batch.in_place:
        return "nothing is to be done"
    return _title_mismatch(batch, event)


def _title_mismatch(batch: BatchFacts, event: PublishStarted) -> str | None:
    """What a person said last is said, until somebody says something else."""
    if (event.title, event.body) != batch.pull_request_text:
        return f"{(event.title, event.body)} is not what was said last: {batch.pull_request_text}"
    return None if event.renamed is batch.title_changed else f"a title was said: {batch.title_changed}"


def _publish_unrequested(batch: BatchFacts, event: PublishStarted) -> str | None:
    if batch.requested_publish is not None:
        return None if event.publish is batch.requested_publish else f"{batch.requested_publish} was asked for"
    if batch.ended or batch.cancelled or batch.paused is not None:
        return "nobody asked for it, and the batch does not go on"
    busy = batch.merging or batch.gate or any(page.ended is None or page.pending_end for page in batch.tasks.values())
    if busy or batch.needs_gate:
        return "not everything else is over"
    if event.publish is not batch.settings.publish or event.commit != batch.head:
        return f"{event.publish} of {event.commit} is not what its settings say"
    return None if batch.needs_publish else "it was published before"


def check_phase_opened(book: Facts, _at: float, event: PhaseOpened) -> None:
    batch = book.batch(event.batch)
    if event.phase in batch.opened:
        raise book.violation("twice", f"phase {event.phase} was opened twice", batch)
    if not may_open(batch, event.phase):
        raise book.violation("phase", f"phase {event.phase} opened too soon", batch)


def may_open(batch: BatchFacts, key: str) -> bool:
    """Its opener is done; or enough of each earlier phase is, or, unless the gate is strict, nothing else can be."""
    phase = batch.phases[key]
    opener = batch.tasks.get(phase.opens_with or "")
    if opener is not None and not opener.ended_without_success:
        return opener.is_done
    gate = batch.phase_threshold(key)
    late = [earlier for earlier in phase.after if not _is_phase_reached(batch, earlier, gate)]
    if gate >= 1.0:
        return opener is None and not late
    # All of them or none: one phase that can still run keeps the gate shut for those that fell short.
    return not late or not any(_can_phase_run(batch, earlier) for earlier in phase.after)


def _is_phase_reached(batch: BatchFacts, key: str, gate: float) -> bool:
    phase = batch.phases[key]
    settled = phase.settled + sum(
        page.status in {TaskStatus.DONE, TaskStatus.SKIPPED}
        for page in batch.tasks.values()
        if page.spec.phase == key and page.spec.gating
    )
    return settled >= phase.total * gate - 1e-9


def _can_phase_run(batch: BatchFacts, key: str) -> bool:
    pages = (page for page in batch.tasks.values() if page.spec.phase == key and page.spec.gating)
    return any(page.ended is None for page in pages)


def check_batch_paused(book: Facts, _at: float, event: BatchPaused) -> None:
    batch = book.batch(event.batch)
    if batch.is_stopped or batch.paused is event.cause or batch.ended:
        raise book.violation("twice", f"{event.batch} was paused ({event.cause}) once more", batch)
    if event.cause is PauseCause.BUDGET and (batch.settings.budget is None or batch.alive):
        raise book.violation("budget", f"{event.batch} was paused for money without need", batch)
    if event.cause in _PAUSE_CONDITIONS and not _PAUSE_CONDITIONS[event.cause](batch):
        raise book.violation("paused", f"{event.batch} was paused for its {event.cause} without need", batch)


_PAUSE_CONDITIONS: Mapping[PauseCause, Callable[[BatchFacts], bool]] = {
    PauseCause.GATE: lambda batch: batch.base_failed or batch.gate_losses >= 3,
    PauseCause.BRANCH: lambda batch: batch.rebuild_failures >= 3,
    PauseCause.PROVIDER: lambda batch: batch.rejections >= 2,
}


def check_batch_unpaused(book: Facts, _at: float, event: BatchUnpaused) -> None:
    batch = book.batch(event.batch)
    gateless = batch.paused is PauseCause.GATE and batch.settings.gate is None
    if batch.paused is not PauseCause.BUDGET and not gateless:
        raise book.violation("paused", f"{event.batch} was unpaused by nobody ({batch.paused})", batch)


def check_batch_ended(book: Facts, _at: float, event: BatchEnded) -> None:
    batch = book.batch(event.batch)
    if batch.ended:
        raise book.violation("twice", f"{event.batch} ended twice", batch)
    left = [page.spec.id for page in batch.tasks.values() if page.ended is None or page.alive or page.pending_end]
    if left or batch.merging or batch.rebuild or batch.gate or batch.find_unwanted():
        raise book.violation("batch-ended", f"{event.batch} ended with {left or 'its branch'} unfinished", batch)
    merged = {link.task for link in batch.merges}
    if not batch.in_place and book.contents(batch.head) != merged:
        message = f"{event.batch} ended with {sorted(book.contents(batch.head))} in its branch"
        raise book.violation("batch-ended", message, batch)
    if batch.publishing is not None or batch.needs_publish:
        raise book.violation("batch-ended", f"{event.batch} ended, and its branch is not published", batch)
    if batch.needs_gate:
        raise book.violation("batch-ended", f"{event.batch} ended, and its gate has not passed", batch)
    asked = [page for page in batch.tasks.values() if page.spec.entrant is None]
    whole = all(page.is_done or (page.was_dropped and page.status is TaskStatus.SKIPPED) for page in asked)
    right = BatchStatus.CANCELLED if batch.cancelled else BatchStatus.COMPLETED if whole else BatchStatus.FAILED
    if event.status is not right:
        raise book.violation("batch-ended", f"{event.batch} ended {event.status}, not {right}", batch)
    undermined = [page.spec.id for page in batch.tasks.values() if page.is_done and batch.find_lost_needs(page)]
    if undermined:
        raise book.violation("batch-ended", f"{event.batch} ended with {undermined} done without its needs", batch)
