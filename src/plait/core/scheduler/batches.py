"""The batch branch is published when a person asks for it, and at the batch's end where its settings say so.

What the gate has passed is what is pushed: where there is a gate, no other commit is. A failure is told and not tried
again by itself; it is a person's turn then, or that of the batch's next end.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import PublishStarted
from plait.core.decisions__due import Due, due_now
from plait.core.requests import Ship
from plait.core.requests__wording import check_body, check_title
from plait.core.scheduler.batches__over import is_finished
from plait.core.scheduler.merge_queue__rebuild import is_branch_stable
from plait.core.settings import Isolation, Publish
from plait.core.state import BatchState, State

# Each holds what those before it do.
_PUBLISH_LEVELS = (Publish.OFF, Publish.PUSH, Publish.DRAFT, Publish.PR)


def schedule_requested_publishes(state: State) -> Iterator[Due]:
    """What a person was granted comes before anything that could change the line it was granted for."""
    for batch in state.publishing_batches.values():
        commit = find_publishable_commit(batch) if batch.requested_publish is not None else None
        if batch.requested_publish is not None and commit is not None:
            yield due_now(_start_publish(batch, commit, batch.requested_publish))


def schedule_publishes(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if (
            needs_publishing(batch)
            and batch.paused is None
            and batch.publishing is None
            and is_finished(batch)
        ):
            yield due_now(_start_publish(batch, batch.head, batch.settings.publish))


def needs_publishing(batch: BatchState) -> bool:
    """Its settings ask for something that is neither there nor has failed."""
    wanted, done = batch.settings.publish, batch.published
    if wanted is Publish.OFF or not batch.merges or batch.cancelled or batch.publish_failure is not None:
        return False
    return (
        done is None
        or done.commit != batch.head
        or _PUBLISH_LEVELS.index(done.publish) < _PUBLISH_LEVELS.index(wanted)
    )


def find_publishable_commit(batch: BatchState) -> str | None:
    """The newest commit of the line that may be published."""
    tested = (
        entry.commit
        for entry in reversed(batch.merges)
        if batch.settings.gate is None or entry.commit in batch.gate_passed_commits
    )
    return next(tested, None)


def why_not_ship(batch: BatchState, request: Ship) -> str | None:
    if request.publish is Publish.OFF:
        return "nothing was asked for: push, pr or draft"
    return check_title(request.title) or check_body(request.body) or why_not_publish(batch)


def why_not_publish(batch: BatchState) -> str | None:
    if batch.settings.isolation is Isolation.IN_PLACE:
        return f"batch {batch.id} works in place: it has no branch to publish"
    if batch.publishing is not None:
        return f"batch {batch.id} is being published already"
    if batch.cancelled and batch.ended is None:
        return f"batch {batch.id} is being cancelled"
    if not is_branch_stable(batch):
        return f"the branch of batch {batch.id} is being made anew: ask again when it stands"
    if not batch.merges:
        return f"nothing of batch {batch.id} is merged"
    return (
        None
        if find_publishable_commit(batch)
        else f"the gate has not passed on what is merged of batch {batch.id}"
    )


def _start_publish(batch: BatchState, commit: str, publish: Publish) -> PublishStarted:
    said = batch.pull_request_override
    return PublishStarted(
        batch.id,
        batch.publishes + 1,
        commit,
        publish,
        batch.pushed,
        said.title,
        said.body,
        renamed=batch.renamed,
    )
