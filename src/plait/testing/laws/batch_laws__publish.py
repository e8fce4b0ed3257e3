"""What is published: one at a time, what was tested and nothing else, when somebody asked for it or all is over."""

from __future__ import annotations

from plait.core.decisions import PublishStarted
from plait.core.settings import Publish
from plait.testing.laws.facts import BatchFacts
from plait.testing.laws.facts__book import Facts


def check_publish_started(book: Facts, _at: float, event: PublishStarted) -> None:
    batch = book.batch(event.batch)
    why_not = (
        _publish_blocker(batch, event)
        or _publish_mismatch(book, batch, event)
        or _publish_unrequested(batch, event)
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
        return (
            None if event.publish is batch.requested_publish else f"{batch.requested_publish} was asked for"
        )
    if batch.ended or batch.cancelled or batch.paused is not None:
        return "nobody asked for it, and the batch does not go on"
    busy = (
        batch.merging
        or batch.gate
        or any(page.ended is None or page.pending_end for page in batch.tasks.values())
    )
    if busy or batch.needs_gate:
        return "not everything else is over"
    if event.publish is not batch.settings.publish or event.commit != batch.head:
        return f"{event.publish} of {event.commit} is not what its settings say"
    return None if batch.needs_publish else "it was published before"
