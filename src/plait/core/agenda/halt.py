"""With stop-on-fail, and for a conflict where conflicts fail the batch, one failure stops all that has not started."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.block import VERBS
from plait.core.agenda.due import Due, now
from plait.core.decisions import BatchHalted
from plait.core.settings import OnConflict
from plait.core.state import State
from plait.core.status import TaskStatus


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.failure is None or batch.halted is not None:
            continue
        failed = batch.tasks[batch.index[batch.failure]]
        conflict = failed.status is TaskStatus.CONFLICTED and batch.settings.on_conflict is OnConflict.FAIL
        if failed.status in VERBS and (conflict or batch.settings.stop_on_fail):
            why = f"the batch stopped because {failed.task.id} {VERBS[failed.status]}"
            yield now(BatchHalted(batch.id, failed.task.id, why))
