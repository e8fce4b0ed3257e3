"""The messages of commits, and the statuses that a task's merge writes to its source on the batch branch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from plait.core.state import BatchState, TaskState
from plait.core.task import Attempt, Task
from plait.git.interfaces import CommitInfo, MergeMessage
from plait.sources.source_model import SourceStatus
from plait.sources.status_changes import StatusChange, StatusFileWriter
from plait.sources.text import decode, encode
from plait.sources.writeback_queue import BatchWriteback, PendingStatus, SourceUpdate
from plait.store.batch_inputs import BatchInputs

_NON_WORD = re.compile(r"[^a-z0-9]+")


_MAX_SUBJECT_LENGTH = 72


ReadFile = Callable[[str], bytes | None]


EditFiles = Callable[[ReadFile], Mapping[str, bytes]]


def build_author(inputs: BatchInputs, attempt: Attempt) -> CommitInfo:
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


def _build_trailers(batch: str, task: str) -> tuple[tuple[str, str], ...]:
    return (("Plait-Batch", batch), ("Plait-Task", task))


def _build_subject(task: Task) -> str:
    words = " ".join((task.title or task.id).split())
    known = task.id in words or _NON_WORD.sub("-", words.lower()).strip("-") == task.id
    subject = words if known else f"{task.id}: {words}"
    return subject if len(subject) <= _MAX_SUBJECT_LENGTH else f"{subject[: _MAX_SUBJECT_LENGTH - 1].rstrip()}…"


def build_status_edit(batch: BatchState, task: str) -> EditFiles:
    """What this task's merge changes in its sources; always the same, so that a merge made twice is one commit."""
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
    at = task.last.ended_at if task.last is not None and task.last.ended_at is not None else batch.submitted_at
    account.pending[task.task.id] = PendingStatus(SourceStatus.DONE, 0, at, "merged")
    return account


def _list_writers(
    bills: tuple[SourceUpdate, ...],
) -> Iterator[tuple[StatusFileWriter, tuple[StatusChange, ...]]]:
    from plait.sources.formats import load_format  # formats are many, and few batches write to the branch

    for bill in bills:
        for writer in load_format(bill.format).writers(bill.path, bill.changes):
            yield writer, bill.changes
