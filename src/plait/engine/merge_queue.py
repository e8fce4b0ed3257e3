"""The merge queue: merging changes into the batch branch, rebuilding it, and publishing it; the messages of commits.

Work on one batch is done in order. Nothing else changes the branch, so an interrupted merge is found done or not done,
never half done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from plait.core import decisions, reports
from plait.core.errors import PlaitError, describe_error, format_with_hint
from plait.core.settings import WriteBack
from plait.core.state import BatchState, TaskState
from plait.core.task import Attempt, Step, Task
from plait.core.text import defuse_references, shorten
from plait.core.views import BatchView, make_batch_view
from plait.engine.context import EngineContext
from plait.engine.status_writeback import load_writers
from plait.git.command import CommandControl
from plait.git.interfaces import ChangeGoneError, CommitInfo, KnownMerge, MergeMessage
from plait.sources.source_model import SourceStatus
from plait.sources.text import decode, encode
from plait.sources.writeback_queue import BatchWriteback, PendingStatus
from plait.store.batch_files import BatchInputs
from plait.system import log

if TYPE_CHECKING:
    from plait.forges.publisher import GitPublisher
    from plait.git.merge.branch_merger import GitBranchMerger

_NON_WORD = re.compile(r"[^a-z0-9]+")
_MAX_SUBJECT_LENGTH = 72
ReadFile = Callable[[str], bytes | None]
EditFiles = Callable[[ReadFile], Mapping[str, bytes]]


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
        self._merges: dict[str, CommandControl] = {}  # the last merge of each batch
        self._publishes: dict[str, CommandControl] = {}  # the last of each batch
        self._restoring: dict[str, list[Callable[[], None]]] = {}  # what waits for it, by batch

    @cached_property
    def merger(self) -> GitBranchMerger:
        return self._open_merger()

    @cached_property
    def publisher(self) -> GitPublisher:
        return self._open_publisher()

    def merge(self, decision: decisions.MergeStarted) -> None:
        branch = self._state.batches[decision.batch].branch
        edit = self._build_edit(decision.batch, decision.task)
        name = Attempt(decision.batch, decision.task, Step.MERGE, decision.n)
        self._merges[decision.batch] = self._submit(
            decision.batch,
            lambda: self._run_merge(decision, branch, edit),
            lambda error: _to_merge_failure(decision, error),
            lambda program: self._emit(reports.CommitWaiting(name, decision.n, program)),
        )

    def cancel_unwanted_work(self) -> None:
        """Cancel what waits for a person in vain: a merge whose task is to end, or publishing a cancelled batch."""
        for batch in self._state.open.values():
            task = batch.tasks[batch.merging] if batch.merging is not None else None
            if task is not None and task.pending_end is not None:
                _cancel_waiting(self._merges.get(batch.id))
            if batch.cancelled and batch.publishing is not None:
                _cancel_waiting(self._publishes.get(batch.id))

    def rebuild(self, decision: decisions.RebuildStarted) -> None:
        branch, base = self._state.batches[decision.batch].branch, self._state.batches[decision.batch].base
        edits = {change.task: self._build_edit(decision.batch, change.task) for change in decision.line}
        self._submit(
            decision.batch,
            lambda: self._run_rebuild(decision, branch, base, edits),
            lambda error: [reports.RebuildFailed(decision.batch, decision.n, format_with_hint(error))],
        )

    def publish(self, decision: decisions.PublishStarted) -> None:
        self.restore(self._state.batches[decision.batch], then=lambda: self._publish(decision))

    def _publish(self, decision: decisions.PublishStarted) -> None:
        view = make_batch_view(self._state, self._state.batches[decision.batch])
        self._publishes[decision.batch] = self._submit(
            decision.batch,
            lambda: self._run_publish(decision, view),
            lambda error: [
                reports.PublishFailed(
                    decision.batch,
                    decision.n,
                    describe_error(error),
                    error.hint if isinstance(error, PlaitError) else "",
                )
            ],
            lambda program: self._emit(reports.PublishWaiting(decision.batch, decision.n, program)),
        )

    def restore(self, batch: BatchState, then: Callable[[], None] = lambda: None) -> None:
        """Make merges of the batch's branch again if they are gone: everything that is based on them would fail. Calls
        `then` afterwards.

        Many failures at the same time start one check. A rebuild makes the merges anyway, and without some of them.
        """
        if not batch.merges or not batch.is_branch_stable:
            then()
            return
        if batch.id in self._restoring:
            self._restoring[batch.id].append(then)
            return
        self._restoring[batch.id] = [then]
        head, base = batch.merges[-1].commit, batch.base

        def end(said: str = "") -> None:
            if said:
                log.write_line(f"warning: batch {batch.id}: {said}")
            for each in self._restoring.pop(batch.id):
                each()

        def make_again(is_whole: bool) -> None:  # noqa: FBT001 - the only result of the job
            if is_whole or not batch.merges or not batch.is_branch_stable:
                end()
                return
            job = self._prepare_restoration(batch)
            done = partial(end, "merges were missing from its branch and have been made again")
            self._workers.submit(("branch", batch.id), job, lambda _: done(), report_failure)

        def report_failure(error: Exception) -> None:
            end(format_with_hint(error))

        self._workers.submit(("branch", batch.id), lambda: self.merger.is_whole(head, base), make_again, report_failure)

    def _prepare_restoration(self, batch: BatchState) -> Callable[[], None]:
        """Prepare the job that makes the merges again; even preparing takes time for each of them."""
        merges = tuple(batch.merges)
        numbers = [batch.tasks[merge.task_index].attempt_counts.get(Step.MERGE, 0) for merge in merges]
        edits = [self._build_edit(batch.id, merge.change.task) for merge in merges]

        def restore() -> None:
            inputs, known = self._inputs.get_inputs(batch.id), []
            for merge, number, edit in zip(merges, numbers, edits, strict=True):
                task = merge.change.task  # those of a rebuild have no number
                messages = (build_merge_message(inputs, batch.id, task, n, edit) for n in (number, 0))
                known.append(KnownMerge(merge.change, merge.commit, tuple(messages)))
            self.merger.restore(batch.id, batch.branch, batch.base, known, inputs.options.merge_rules)

        return restore

    def describe_conflict(self, decision: decisions.AttemptStarted) -> str:
        """Describe both sides of the conflict to resolve, in a worker thread; "" without one."""
        name, change = decision.attempt, decision.repairs
        if change is None:
            return ""
        conflict = decisions.MergeStarted(name.batch, name.task, name.n, change.base, change.tip, decision.base)
        rules = self._inputs.get_inputs(name.batch).options.merge_rules
        try:
            return self.merger.describe_conflict(conflict, rules)
        except (PlaitError, OSError) as error:  # the attempt can do without
            log.write_line(f"warning: can't describe the conflict to {name}: {describe_error(error)}")
            return ""

    def _submit(
        self,
        batch: str,
        job: Callable[[], reports.Report],
        failed: Callable[[Exception], Sequence[reports.Report]],
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> CommandControl:
        def report_failure(error: Exception) -> None:
            log.write_line(f"warning: batch {batch}: {describe_error(error)}")
            if not isinstance(error, PlaitError):
                log.write_traceback(error)
            for report in failed(error):
                self._emit(report)

        def report_wait(program: str) -> None:
            on_wait(program)
            self.cancel_unwanted_work()

        return self._workers.submit(("branch", batch), job, self._emit, report_failure, report_wait)

    def _run_merge(
        self, decision: decisions.MergeStarted, branch: str, edit: EditFiles | None
    ) -> reports.MergeDone | reports.MergeConflicted:
        inputs = self._inputs.get_inputs(decision.batch)
        message = build_merge_message(inputs, decision.batch, decision.task, decision.n, edit)
        return self.merger.merge(decision, branch, message, inputs.options.merge_rules)

    def _run_rebuild(
        self, decision: decisions.RebuildStarted, branch: str, base: str, edits: Mapping[str, EditFiles | None]
    ) -> reports.RebuildDone:
        inputs = self._inputs.get_inputs(decision.batch)
        messages = {task: build_merge_message(inputs, decision.batch, task, 0, edit) for task, edit in edits.items()}
        return self.merger.rebuild(decision, branch, base, messages, inputs.options.merge_rules)

    def _run_publish(
        self, decision: decisions.PublishStarted, view: BatchView
    ) -> reports.PublishDone | reports.PublishFailed:
        return self.publisher.publish(
            decision, view, self._inputs.get_inputs(decision.batch), self._inputs.get_environment_or_own(decision.batch)
        )

    def _build_edit(self, batch: str, task: str) -> EditFiles | None:
        state = self._state.batches[batch]
        if state.settings.write_back not in {WriteBack.BRANCH, WriteBack.BOTH}:
            return None
        return _build_status_edit(state, state.tasks[state.index[task]])


def _cancel_waiting(control: CommandControl | None) -> None:
    if control is not None and control.awaited_program:
        control.cancel()


def _to_merge_failure(decision: decisions.MergeStarted, error: Exception) -> Sequence[reports.Report]:
    failed = reports.MergeFailed(decision.batch, decision.task, decision.n, format_with_hint(error))
    if not isinstance(error, ChangeGoneError):
        return [failed]
    name = Attempt(decision.batch, decision.task, Step.MERGE, decision.n)
    return [replace(failed, why=error.message), reports.AttemptLost(name, error.message)]


def build_commit_info(inputs: BatchInputs, attempt: Attempt) -> CommitInfo:
    task = inputs.tasks_by_id[attempt.task]
    return CommitInfo(
        _build_subject(task),
        (*_build_trailers(attempt.batch, attempt.task), ("Plait-Attempt", str(attempt.n))),
    )


def build_merge_message(
    inputs: BatchInputs, batch: str, task: str, n: int, edit: EditFiles | None = None
) -> MergeMessage:
    message = f"Merge {_build_subject(inputs.tasks_by_id[task])}"
    return MergeMessage(message, (*_build_trailers(batch, task), ("Plait-Merge", str(n))), edit)


def build_resolution_message(inputs: BatchInputs, task: str) -> MergeMessage:
    return MergeMessage(f"Resolve the conflict of {_build_subject(inputs.tasks_by_id[task])}")


def _build_trailers(batch: str, task: str) -> tuple[tuple[str, str], ...]:
    return (("Plait-Batch", batch), ("Plait-Task", task))


def _build_subject(task: Task) -> str:
    title = " ".join((task.title or task.id).split())
    names_task = task.id in title or _NON_WORD.sub("-", title.lower()).strip("-") == task.id
    subject = title if names_task else f"{task.id}: {title}"
    return defuse_references(shorten(subject, _MAX_SUBJECT_LENGTH))


def _build_status_edit(batch: BatchState, task: TaskState) -> EditFiles:
    """Build the edit that a merge makes in its sources; always the same, so that merging twice is one commit."""
    phases = {phase.key: phase.reason for phase in batch.plan.phases}
    writeback = BatchWriteback(batch.id, batch.sources, batch.settings, {task.task.id: task.task}, phases)
    at = task.last.ended_at if task.last is not None and task.last.ended_at is not None else batch.submitted_at
    writeback.pending[task.task.id] = PendingStatus(SourceStatus.DONE, 0, at, "merged")
    updates = tuple(writeback.list_updates())

    def edit(read: ReadFile) -> dict[str, bytes]:
        changed: dict[str, bytes] = {}
        for update in updates:
            for writer in load_writers(update):
                path = PurePosixPath(writer.path)
                if path.is_absolute() or ".." in path.parts:
                    continue  # the source is not in the repository
                before = changed.get(writer.path, read(writer.path))
                if before is None and not writer.creates:
                    continue  # the source is not in the repository
                after = encode(writer.apply(decode(before or b""), update.changes).text)
                if after != before:
                    changed[writer.path] = after
        return changed

    return edit
