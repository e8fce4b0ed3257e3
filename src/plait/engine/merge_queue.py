"""The merge queue: merging changes into the batch branch, rebuilding it, and publishing it.

Work on one batch is done in order. Nothing else changes the branch, so an interrupted merge is found done or not done,
never half done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from plait.core.decisions import AttemptStarted, MergeStarted, PublishStarted, RebuildStarted
from plait.core.errors import PlaitError, describe_error
from plait.core.reports import (
    AttemptLost,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    PublishDone,
    PublishFailed,
    RebuildDone,
    RebuildFailed,
    Report,
)
from plait.core.settings import WriteBack
from plait.core.task import Attempt, Step
from plait.core.views import BatchView, make_batch_view
from plait.engine.commit_contents import EditFiles, build_merge_message
from plait.engine.context import EngineContext
from plait.git.interfaces import ChangeGoneError
from plait.system import log

if TYPE_CHECKING:
    from plait.forges.publisher import GitPublisher
    from plait.git.merge.branch_merger import GitBranchMerger


class MergeQueue:
    """Merges, rebuilds and publishes in worker threads, in order for each batch."""

    def __init__(
        self,
        context: EngineContext,
        open_merger: Callable[[], GitBranchMerger],
        open_publisher: Callable[[], GitPublisher],
    ) -> None:
        self._open_merger = open_merger
        self._open_publisher = open_publisher
        self._workers = context.workers
        self._state = context.state
        self._inputs = context.inputs
        self._emit = context.emit

    @cached_property
    def merger(self) -> GitBranchMerger:
        return self._open_merger()

    @cached_property
    def publisher(self) -> GitPublisher:
        return self._open_publisher()

    def merge(self, order: MergeStarted) -> None:
        branch = self._state.batches[order.batch].branch
        edit = self._build_edit(order.batch, order.task)
        self._submit(
            order.batch,
            lambda: self._run_merge(order, branch, edit),
            lambda error: _to_merge_failure(order, error),
        )

    def rebuild(self, order: RebuildStarted) -> None:
        branch, base = self._state.batches[order.batch].branch, self._state.batches[order.batch].base
        edits = {change.task: self._build_edit(order.batch, change.task) for change in order.line}
        self._submit(
            order.batch,
            lambda: self._run_rebuild(order, branch, base, edits),
            lambda error: [RebuildFailed(order.batch, order.n, _format_with_hint(error))],
        )

    def publish(self, order: PublishStarted) -> None:
        view = make_batch_view(self._state, self._state.batches[order.batch])
        self._submit(
            order.batch,
            lambda: self._run_publish(order, view),
            lambda error: [
                PublishFailed(
                    order.batch,
                    order.n,
                    describe_error(error),
                    error.hint if isinstance(error, PlaitError) else "",
                )
            ],
        )

    def describe_conflict(self, order: AttemptStarted) -> str:
        """Both sides of the conflict that this attempt resolves; "" if there is none. Called from a worker thread."""
        name, change = order.attempt, order.repairs
        if change is None:
            return ""
        conflict = MergeStarted(name.batch, name.task, name.n, change.base, change.tip, order.base)
        rules = self._inputs.get_inputs(name.batch).options.merge_rules
        try:
            return self.merger.describe_conflict(conflict, rules)
        except (PlaitError, OSError) as error:  # the attempt can do without
            log.write_line(f"warning: can't describe the conflict to {name}: {describe_error(error)}")
            return ""

    def _submit(self, batch: str, job: Callable[[], Report], failed: Callable[[Exception], Sequence[Report]]) -> None:
        def report_failure(error: Exception) -> None:
            log.write_line(f"warning: batch {batch}: {describe_error(error)}")
            if not isinstance(error, PlaitError):
                log.write_traceback(error)
            for report in failed(error):
                self._emit(report)

        self._workers.submit(("line", batch), job, self._emit, report_failure)

    def _run_merge(self, order: MergeStarted, branch: str, edit: EditFiles | None) -> MergeDone | MergeConflicted:
        inputs = self._inputs.get_inputs(order.batch)
        message = build_merge_message(inputs, order.batch, order.task, order.n, edit)
        return self.merger.merge(order, branch, message, inputs.options.merge_rules)

    def _run_rebuild(
        self, order: RebuildStarted, branch: str, base: str, edits: Mapping[str, EditFiles | None]
    ) -> RebuildDone:
        inputs = self._inputs.get_inputs(order.batch)
        messages = {task: build_merge_message(inputs, order.batch, task, 0, edit) for task, edit in edits.items()}
        return self.merger.rebuild(order, branch, base, messages, inputs.options.merge_rules)

    def _run_publish(self, order: PublishStarted, view: BatchView) -> PublishDone | PublishFailed:
        return self.publisher.publish(
            order, view, self._inputs.get_inputs(order.batch), self._inputs.get_environment_or_own(order.batch)
        )

    def _build_edit(self, batch: str, task: str) -> EditFiles | None:
        known = self._state.batches[batch]
        wanted = known.settings.write_back in {WriteBack.BRANCH, WriteBack.BOTH}
        if not wanted:
            return None
        from plait.engine.commit_contents import build_status_edit  # few batches write statuses to their branch

        return build_status_edit(known, task)


def _to_merge_failure(order: MergeStarted, error: Exception) -> Sequence[Report]:
    failed = MergeFailed(order.batch, order.task, order.n, _format_with_hint(error))
    if not isinstance(error, ChangeGoneError):
        return [failed]
    name = Attempt(order.batch, order.task, Step.MERGE, order.n)
    return [replace(failed, why=error.message), AttemptLost(name, error.message)]


def _format_with_hint(error: Exception) -> str:
    """The error with its hint, for the person who reads why the batch stopped."""
    hint = error.hint if isinstance(error, PlaitError) else ""
    return f"{describe_error(error)}. {hint}" if hint else describe_error(error)
