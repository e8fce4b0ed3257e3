"""Whether all of a batch is over but its publishing and its end: every task has ended, and nothing is under way or owed."""

from __future__ import annotations

from plait.core.scheduler.merge_queue import is_ungated
from plait.core.scheduler.merge_queue__rebuild import is_branch_stable
from plait.core.state import BatchState
from plait.core.status__owed import NextAction


def is_finished(batch: BatchState) -> bool:
    return (
        batch.unfinished_count == 0
        and not batch.alive
        and _is_branch_idle(batch)
        and not _has_next_actions(batch)
    )


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
