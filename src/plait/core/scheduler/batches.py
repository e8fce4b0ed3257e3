"""Phases, publishing and the end of a batch.

A phase opens when enough of the earlier ones is done; the tasks of one that can never open are blocked.

The batch branch is published on request, and at the end of the batch if its settings say so. With a gate, only a commit
that passed it is pushed. A failed publish is not tried again by itself, but by a request or at the next end of the batch.

A batch ends when every task has ended, nothing runs or is due, and publishing succeeded or failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from plait.core.decisions import BatchEnded, Decision, PhaseOpened, PublishStarted
from plait.core.reducers.batches import required_share
from plait.core.requests import Ship, check_body, check_title
from plait.core.scheduler.merge_queue import is_ungated
from plait.core.settings import Isolation, Publish
from plait.core.state import BatchState, PhaseState, State, TaskState
from plait.core.status import BatchStatus, NextAction, TaskStatus

_PUBLISH_LEVELS = (Publish.OFF, Publish.PUSH, Publish.DRAFT, Publish.PR)  # each includes those before it
# What can be due for a task that has a status.
_ACTIONS_OF_ENDED_TASKS = (NextAction.END_ATTEMPT, NextAction.END_TASK, NextAction.DECIDE_OUTCOME, NextAction.FINISH)


def schedule_phase_openings(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        for name in batch.openable_phases:
            yield PhaseOpened(batch.id, name, _why_phase_opens(batch, batch.phases[name]))


def _why_phase_opens(batch: BatchState, phase: PhaseState) -> str:
    opener = batch.find_task(phase.phase.opens_with)
    if opener is not None and opener.status is TaskStatus.DONE:
        return f"{opener.task.id} is done"
    return describe_phase_progress(batch, phase)


def describe_phase_progress(batch: BatchState, phase: PhaseState) -> str:
    """Describe the progress of the phases that this one waits for: "1: 4 of 5 done, 80% needed"."""
    needed = f"{required_share(batch, phase):.0%} needed"
    return "; ".join(
        f"{earlier.phase.label}: {earlier.settled} of {earlier.phase.total} done, {needed}"
        for earlier in batch.find_earlier_phases(phase)
    )


def why_phase_blocked(batch: BatchState, task: TaskState) -> str:
    """Say why a task of a phase that can never open is blocked."""
    phase = batch.phases[task.task.phase or ""]
    opener = phase.phase.opens_with
    why = f"{opener} was not done" if opener in batch.index else _why_phase_opens(batch, phase)
    return f"its phase {phase.phase.key} can't open ({why})"


def is_finished(batch: BatchState) -> bool:
    """Whether nothing runs, and only publishing and the end of the batch are due."""
    idle = not batch.alive and not batch.has_branch_work and not batch.merges_to_drop
    due = any(batch.tasks_by_action[action] for action in _ACTIONS_OF_ENDED_TASKS)
    return batch.unfinished_count == 0 and idle and not is_ungated(batch) and not due


def schedule_requested_publishes(state: State) -> Iterator[Decision]:
    """Start publishing that a person requested. Comes before every rule that could change the branch."""
    for batch in state.publishing_batches.values():
        commit = find_publishable_commit(batch) if batch.requested_publish is not None else None
        if batch.requested_publish is not None and commit is not None:
            yield _start_publish(batch, commit, batch.requested_publish)


def schedule_publishes(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        if needs_publishing(batch) and batch.paused is None and batch.publishing is None and is_finished(batch):
            yield _start_publish(batch, batch.head, batch.settings.publish)


def needs_publishing(batch: BatchState) -> bool:
    """Whether the batch's settings ask for publishing that has neither succeeded nor failed yet."""
    wanted, done = batch.settings.publish, batch.published
    if wanted is Publish.OFF or not batch.merges or batch.cancelled or batch.publish_failure is not None:
        return False
    return (
        done is None or done.commit != batch.head or _PUBLISH_LEVELS.index(done.publish) < _PUBLISH_LEVELS.index(wanted)
    )


def find_publishable_commit(batch: BatchState) -> str | None:
    """Return the newest commit of the branch that may be published, or None."""
    tested = (
        entry.commit
        for entry in reversed(batch.merges)
        if batch.settings.gate is None or entry.commit in batch.gate_passed_commits
    )
    return next(tested, None)


def why_not_ship(batch: BatchState, request: Ship) -> str | None:
    if request.publish is Publish.OFF:
        return "nothing to publish: choose push, pr or draft"
    return check_title(request.title) or check_body(request.body) or why_not_publish(batch)


def why_not_publish(batch: BatchState) -> str | None:
    if batch.settings.isolation is Isolation.IN_PLACE:
        return f"batch {batch.id} runs in place: it has no branch to publish"
    if batch.publishing is not None:
        return f"batch {batch.id} is already being published"
    if batch.cancelled and batch.ended is None:
        return f"batch {batch.id} is being cancelled"
    if not batch.is_branch_stable:
        return f"the branch of batch {batch.id} is being rebuilt: try again later"
    if not batch.merges:
        return f"nothing of batch {batch.id} is merged"
    return None if find_publishable_commit(batch) else f"the gate has not passed on what is merged of batch {batch.id}"


def _start_publish(batch: BatchState, commit: str, publish: Publish) -> PublishStarted:
    text = batch.pull_request_override
    n = batch.publishes + 1
    return PublishStarted(batch.id, n, commit, publish, batch.pushed, text.title, text.body, renamed=batch.renamed)


def schedule_batch_ends(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        if batch.publishing is None and is_finished(batch) and not needs_publishing(batch):
            yield _end_batch(batch)


def _end_batch(batch: BatchState) -> BatchEnded:
    """Decide the batch's end status and summary. Entrants of a contest don't count: their task does."""
    requested = _list_requested(batch)
    counts_by_status = dict.fromkeys(batch.status_counts, 0) | Counter(
        task.status for task in requested if task.status is not None
    )
    counts = ", ".join(f"{count} {status.label}" for status, count in counts_by_status.items() if count)
    if batch.cancelled:
        status = BatchStatus.CANCELLED
    else:
        status = BatchStatus.FAILED if count_merged(batch)[1] else BatchStatus.COMPLETED
    unpublished = f"; not published: {batch.publish_failure.why}" if batch.publish_failure else ""
    return BatchEnded(batch.id, status, counts + unpublished)


def _list_requested(batch: BatchState) -> list[TaskState]:
    return [task for task in batch.tasks if task.task.entrant is None]


def count_merged(batch: BatchState) -> tuple[int, int]:
    """Count the tasks that are merged (in place: done) and those that are not, without those that a person dropped."""
    requested = _list_requested(batch)
    merged = sum(task.status is TaskStatus.DONE for task in requested)
    dropped = sum(task.status is TaskStatus.SKIPPED and task.by is None for task in requested)
    return merged, len(requested) - merged - dropped


def find_end_status(batch: BatchState) -> BatchStatus | None:
    """Return how the batch ended, or None if it has not. A failed batch with something merged is partial, unless a
    failure kept the rest from starting.
    """
    partial = batch.ended is BatchStatus.FAILED and is_partial(
        (task.status, task.by) for task in _list_requested(batch)
    )
    return BatchStatus.PARTIAL if partial else batch.ended


def is_partial(ends: Iterable[tuple[TaskStatus | None, str | None]]) -> bool:
    """Whether a failed batch is a partial success, by how its tasks ended and what ended them."""
    ended = list(ends)
    halted = any(status is TaskStatus.SKIPPED and by is not None for status, by in ended)
    return not halted and any(status is TaskStatus.DONE for status, _ in ended)


def describe_merged(batch: BatchState) -> str:
    """Describe the result in numbers: `23 merged, 5 not merged`."""
    merged, unmerged = count_merged(batch)
    verb = "done" if batch.settings.isolation is Isolation.IN_PLACE else "merged"
    return f"{merged} {verb}, {unmerged} not {verb}"
