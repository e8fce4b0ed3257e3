"""Predict which running tasks would conflict, as a warning for people. No decision depends on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.reports import ConflictCleared, ConflictPredicted
from plait.core.settings import Isolation
from plait.core.state import BatchState
from plait.core.task import Step
from plait.engine.context import EngineContext
from plait.git.interfaces import PredictedConflict
from plait.system import log

if TYPE_CHECKING:
    from plait.git.merge.branch_merger import GitBranchMerger

CHECK_SECONDS = 30.0  # between two checks of a batch
REST_FACTOR = 30  # or this many times as long as the last check took


class ConflictPredictor:
    def __init__(
        self,
        context: EngineContext,
        preview_commit: Callable[[str, str, str], str | None],
        merger: Callable[[], GitBranchMerger],
    ) -> None:
        self._state = context.state
        self._workers = context.workers
        self._load_inputs = context.inputs.get_inputs
        self._emit = context.emit
        self._preview_commit = preview_commit
        self._merger = merger
        self._next: dict[str, float] = {}

    def check_batches(self, now: float) -> None:
        """Check each batch with unmerged changes from time to time."""
        self._next = {batch: at for batch, at in self._next.items() if batch in self._state.open}
        for batch in self._state.open.values():
            if batch.settings.isolation is not Isolation.WORKTREE:
                continue
            due = self._next.setdefault(batch.id, now + CHECK_SECONDS)
            if now >= due:
                self._next[batch.id] = now + CHECK_SECONDS
                self._start_check(batch)

    def _start_check(self, batch: BatchState) -> None:
        unmerged = list(_list_unmerged(batch))
        has_predictions = any(task.predicted_conflicts for task in batch.tasks)
        moved = any(change.base != batch.head for change in unmerged)
        if len(unmerged) > 1 or (unmerged and moved) or has_predictions:
            self._workers.submit(
                ("conflict-prediction", batch.id),
                partial(self._predict, batch.id, batch.head, unmerged),
                partial(self._report_changes, batch.id),
                lambda error: log.write_line(f"warning: can't predict conflicts in batch {batch.id}: {error}"),
            )

    def _predict(self, batch: str, head: str, unmerged: list[Change]) -> tuple[float, list[PredictedConflict]]:
        began = time.monotonic()
        tips = {change.task: (change.base, tip) for change in unmerged if (tip := self._find_tip(batch, change))}
        conflicts = (
            self._merger().predict_conflicts(head, tips, self._load_inputs(batch).options.merge_rules) if tips else []
        )
        return time.monotonic() - began, conflicts

    def _find_tip(self, batch: str, change: Change) -> str | None:
        """Return the commit with the task's change; None if it has changed nothing yet, or can't be read now."""
        try:
            return change.tip or self._preview_commit(batch, change.task, change.base)
        except WorldError:
            return None

    def _report_changes(self, batch: str, result: tuple[float, list[PredictedConflict]]) -> None:
        """Report new conflicts, and those that no longer exist."""
        seconds, conflicts = result
        self._next[batch] = time.monotonic() + max(CHECK_SECONDS, REST_FACTOR * seconds)
        state = self._state.open.get(batch)
        if state is None:
            return
        predicted = {(conflict.left, conflict.right): conflict.files for conflict in conflicts}
        for pair, files in predicted.items():
            if _find_predicted(state, *pair) != files:
                self._emit(ConflictPredicted(batch, *pair, files))
        for pair in _list_predicted_pairs(state):
            if pair not in predicted and pair[::-1] not in predicted:
                self._emit(ConflictCleared(batch, *pair))


def _list_unmerged(batch: BatchState) -> Iterator[Change]:
    """Yield the changes that are not merged yet; the tip is "" while an attempt is writing."""
    for index in batch.active:
        task = batch.tasks[index]
        writing = any(name.step is Step.WRITE for name in task.alive)
        to_merge = task.task.entrant is None and task.status is None and not task.is_merged
        if to_merge and task.base and (writing or task.tip):
            yield Change(task.task.id, task.base, "" if writing else task.tip or "")


def _find_predicted(batch: BatchState, left: str, right: str) -> tuple[str, ...] | None:
    task = batch.find_task(left)
    return task.predicted_conflicts.get(right) if task is not None else None


def _list_predicted_pairs(batch: BatchState) -> Iterator[tuple[str, str]]:
    """Yield each predicted pair once."""
    for task in batch.tasks:
        for other in task.predicted_conflicts:
            if not other or task.task.id < other:
                yield task.task.id, other
