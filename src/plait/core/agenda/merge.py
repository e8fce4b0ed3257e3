"""Verified changes are merged one at a time, the one that stands first in the plan first; then, ungated, they are done."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.agenda.rebuild import line_stands
from plait.core.decisions import MergeStarted, TaskEnded
from plait.core.owed import Owed
from plait.core.state import BatchState, State
from plait.core.status import TaskStatus
from plait.core.task import Step


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for place in batch.owed[Owed.FINISH]:
            gated = " and passed the gate" if batch.settings.gate else ""
            yield now(TaskEnded(batch.id, batch.tasks[place].task.id, TaskStatus.DONE, f"merged{gated}"))
        if batch.merging is None and batch.owed[Owed.MERGE] and line_stands(batch):
            yield now(_merge(batch))


def _merge(batch: BatchState) -> MergeStarted:
    place = batch.owed[Owed.MERGE].first()
    assert place is not None
    task = batch.tasks[place]
    n = task.numbers.get(Step.MERGE, 0) + 1
    return MergeStarted(batch.id, task.task.id, n, task.base or "", task.tip or "", batch.head)
