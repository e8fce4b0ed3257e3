"""Verified changes are merged one at a time, the one that stands first in the plan first; then, ungated, they are done."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import MergeStarted, TaskEnded
from plait.core.decisions__due import Due, due_now
from plait.core.scheduler.merge_queue__rebuild import is_branch_stable
from plait.core.state import BatchState, State
from plait.core.status import TaskStatus
from plait.core.status__owed import NextAction
from plait.core.task import Step


def schedule_merges(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for place in batch.tasks_by_action[NextAction.FINISH]:
            gated = " and passed the gate" if batch.settings.gate else ""
            yield due_now(TaskEnded(batch.id, batch.tasks[place].task.id, TaskStatus.DONE, f"merged{gated}"))
        if batch.merging is None and batch.tasks_by_action[NextAction.MERGE] and is_branch_stable(batch):
            yield due_now(_start_next_merge(batch))


def _start_next_merge(batch: BatchState) -> MergeStarted:
    place = batch.tasks_by_action[NextAction.MERGE].first()
    assert place is not None
    task = batch.tasks[place]
    n = task.attempt_counts.get(Step.MERGE, 0) + 1
    return MergeStarted(batch.id, task.task.id, n, task.base or "", task.tip or "", batch.head)
