"""Statuses in the batch branch: a task's merge says in its source that it is done. What is dropped later takes it along."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from plait.core.state import BatchState, TaskState
from plait.engine.commit_contents import EditFiles, ReadFile
from plait.sources.source_model import SourceStatus, StatusChange, StatusFileWriter
from plait.sources.text import decode, encode
from plait.sources.writeback_queue import BatchWriteback, PendingStatus, SourceUpdate


def build_status_edit(batch: BatchState, task: str) -> EditFiles:
    """What this task's merge changes in its sources. The same for the same task: a merge made twice is one commit."""
    bills = tuple(_build_account(batch, batch.tasks[batch.index[task]]).list_updates())

    def edit(read: ReadFile) -> dict[str, bytes]:
        changed: dict[str, bytes] = {}
        for writer, changes in _list_writers(bills):
            if PurePosixPath(writer.path).is_absolute() or ".." in PurePosixPath(writer.path).parts:
                continue  # the source is not in the repository
            before = changed.get(writer.path, read(writer.path))
            if before is None and not writer.creates:
                continue  # the source is not in the repository
            after = encode(writer.apply(decode(before or b""), changes).text)
            if after != before:
                changed[writer.path] = after
        return changed

    return edit


def _build_account(batch: BatchState, task: TaskState) -> BatchWriteback:
    phases = {phase.key: phase.reason for phase in batch.plan.phases}
    account = BatchWriteback(batch.id, batch.sources, batch.settings, {task.task.id: task.task}, phases)
    at = (
        task.last.ended_at if task.last is not None and task.last.ended_at is not None else batch.submitted_at
    )
    account.pending[task.task.id] = PendingStatus(SourceStatus.DONE, 0, at, "merged")
    return account


def _list_writers(
    bills: tuple[SourceUpdate, ...],
) -> Iterator[tuple[StatusFileWriter, tuple[StatusChange, ...]]]:
    from plait.sources.formats import load_format  # noqa: PLC0415 - formats are many, and few batches write to the branch

    for bill in bills:
        for writer in load_format(bill.format).writers(bill.path, bill.changes):
            yield writer, bill.changes
