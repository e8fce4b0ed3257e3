"""A phase opens when enough of the earlier ones is done; tasks of one that can never open are blocked.

Whether all of a batch is over but its publishing and its end: every task has ended, and nothing is under way or owed.

The batch branch is published when a person asks for it, and at the batch's end where its settings say so.

What the gate has passed is what is pushed: where there is a gate, no other commit is. A failure is told and not tried
again by itself; it is a person's turn then, or that of the batch's next end.

A batch ends when every task has ended, nothing is under way or owed, and what it publishes was seen to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from plait.core.decisions import BatchEnded, Due, PhaseOpened, PublishStarted, due_now
from plait.core.reducers.batches import required_share
from plait.core.requests import Ship, check_body, check_title
from plait.core.scheduler.merge_queue import is_branch_stable, is_ungated
from plait.core.settings import Isolation, Publish
from plait.core.state import BatchState, PhaseState, State, TaskState
from plait.core.status import BatchStatus, NextAction, TaskStatus


def schedule_phase_openings(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for name in batch.openable_phases:
            yield due_now(PhaseOpened(batch.id, name, _why_phase_opens(batch, batch.phases[name])))


def _why_phase_opens(batch: BatchState, phase: PhaseState) -> str:
    opener = batch.find_task(phase.phase.opens_with) if phase.phase.opens_with else None
    if opener is not None and opener.status is TaskStatus.DONE:
        return f"{opener.task.id} is done"
    return describe_phase_progress(batch, phase)


def describe_phase_progress(batch: BatchState, phase: PhaseState) -> str:
    """How far the phases are that this one waits for, in words: "1: 4 of 5 done, 80% needed"."""
    needed = f"{required_share(batch, phase):.0%} needed"
    earlier = (batch.phases[name] for name in phase.phase.after if name in batch.phases)
    return "; ".join(f"{other.phase.key}: {other.settled} of {other.phase.total} done, {needed}" for other in earlier)


def why_phase_blocked(batch: BatchState, task: TaskState) -> str:
    """Why a task of a phase that can't open any more is blocked."""
    phase = batch.phases[task.task.phase or ""]
    opener = phase.phase.opens_with
    why = f"{opener} did not get done" if opener in batch.index else _why_phase_opens(batch, phase)
    return f"its phase {phase.phase.key} can't open any more ({why})"


def is_finished(batch: BatchState) -> bool:
    return batch.unfinished_count == 0 and not batch.alive and _is_branch_idle(batch) and not _has_next_actions(batch)


def _is_branch_idle(batch: BatchState) -> bool:
    return is_branch_stable(batch) and batch.merging is None and batch.gate is None and not is_ungated(batch)


def _has_next_actions(batch: BatchState) -> bool:
    return any(
        batch.tasks_by_action[owed]
        for owed in (
            NextAction.END_ATTEMPT,
            NextAction.END_TASK,
            NextAction.DECIDE_OUTCOME,
            NextAction.FINISH,
        )
    )


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
        if needs_publishing(batch) and batch.paused is None and batch.publishing is None and is_finished(batch):
            yield due_now(_start_publish(batch, batch.head, batch.settings.publish))


def needs_publishing(batch: BatchState) -> bool:
    """Its settings ask for something that is neither there nor has failed."""
    wanted, done = batch.settings.publish, batch.published
    if wanted is Publish.OFF or not batch.merges or batch.cancelled or batch.publish_failure is not None:
        return False
    return (
        done is None or done.commit != batch.head or _PUBLISH_LEVELS.index(done.publish) < _PUBLISH_LEVELS.index(wanted)
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
    return None if find_publishable_commit(batch) else f"the gate has not passed on what is merged of batch {batch.id}"


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


def schedule_batch_ends(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.publishing is None and is_finished(batch) and not needs_publishing(batch):
            yield due_now(_end_batch(batch))


def _end_batch(batch: BatchState) -> BatchEnded:
    """Of a contest, its task alone counts."""
    asked = [task for task in batch.tasks if task.task.entrant is None]
    tally = dict.fromkeys(batch.status_counts, 0) | Counter(task.status for task in asked if task.status is not None)
    done = tally.get(TaskStatus.DONE, 0)
    counts = ", ".join(f"{count} {status.value.replace('_', ' ')}" for status, count in tally.items() if count)
    dropped = sum(task.status is TaskStatus.SKIPPED and task.by is None for task in asked)
    if batch.cancelled:
        status = BatchStatus.CANCELLED
    else:
        status = BatchStatus.COMPLETED if done + dropped == len(asked) else BatchStatus.FAILED
    unpublished = f"; not published: {batch.publish_failure.why}" if batch.publish_failure else ""
    return BatchEnded(batch.id, status, counts + unpublished)
