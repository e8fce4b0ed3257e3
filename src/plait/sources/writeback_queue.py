"""Statuses not yet written back to their sources, derived from the journal.

A status is pending from the record that changes it until a SourcesWritten that covers that record, so the next engine
repairs a crash between the journal and a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from datetime import UTC, datetime

from plait.core.decisions import AttemptStarted, MergeStarted, TaskEnded, TaskInterrupted
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.reports import AttemptPhase, SourcesWritten
from plait.core.requests import ChangeSettings, Drop, Submit
from plait.core.settings import Settings, WriteBack
from plait.core.status import TaskStatus
from plait.core.task import VERIFICATION_PHASE, Attempt, Origin, Step, Task
from plait.sources.source_model import SourceStatus
from plait.sources.source_set import SourceAddress, make_source_names
from plait.sources.status_changes import StatusChange

# The status for the source; cancelled tasks are to do again.
_STATUS_BY_TASK_STATUS = {
    TaskStatus.DONE: SourceStatus.DONE,
    TaskStatus.FAILED: SourceStatus.FAILED,
    TaskStatus.TIMED_OUT: SourceStatus.FAILED,
    TaskStatus.CONFLICTED: SourceStatus.FAILED,
    TaskStatus.BLOCKED: SourceStatus.BLOCKED,
    TaskStatus.CANCELLED: SourceStatus.TODO,
    TaskStatus.SKIPPED: SourceStatus.TODO,
}


@dataclass(frozen=True, slots=True)
class PendingStatus:
    """A task's newest status, and the record it comes from."""

    status: SourceStatus
    seq: int
    at: float
    reason: str = ""
    started: float | None = None
    verifying: bool = False


@dataclass
class BatchWriteback:
    """The statuses of a batch that its sources don't have yet."""

    batch: str
    sources: tuple[str, ...]
    settings: Settings
    tasks: dict[str, Task]
    phases: dict[str, str] = field(default_factory=dict)
    pending: dict[str, PendingStatus] = field(default_factory=dict)
    start_counts: dict[str, int] = field(default_factory=dict)
    starts: dict[str, float] = field(default_factory=dict)  # of the tasks that have not ended since
    verifying: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)

    def list_updates(self) -> Iterator[SourceUpdate]:
        """Yield an update for each source with pending statuses; tasks without a source are left out."""
        addresses = [SourceAddress.parse(source) for source in self.sources]
        short = make_source_names([address.path for address in addresses])
        owners = {task: _find_source(addresses, self.tasks[task].origin) for task in self.pending}
        for address, name in zip(addresses, short, strict=True):
            tasks = tuple(task for task, owner in owners.items() if owner == address)
            if tasks:
                changes = tuple(self._make_change(task, name, address.tag) for task in tasks)
                upto = max(self.pending[task].seq for task in tasks)
                yield SourceUpdate(self.batch, address.format, address.path, tasks, changes, upto)

    def writes_verifying(self, task: str) -> bool:
        from plait.sources.formats import get_entry  # few tasks are verified by what runs them

        address = _find_source([SourceAddress.parse(source) for source in self.sources], self.tasks[task].origin)
        return address is not None and get_entry(address.format).writes_verifying

    def _make_change(self, name: str, source: str, tag: str) -> StatusChange:
        task, pending = self.tasks[name], self.pending[name]
        return StatusChange(
            id=name.removeprefix(f"{source}:"),
            status=pending.status,
            at=_to_local_time(pending.at),
            file=task.origin.file if task.origin else "",
            title=task.title,
            reason=pending.reason,
            retries=max(0, self.start_counts.get(name, 0) - 1),
            batch=self.batch,
            tag=tag,
            phase=self.phases.get(task.phase or "", ""),
            needs=tuple(need.on.removeprefix(f"{source}:") for need in task.needs),
            started=None if pending.started is None else _to_local_time(pending.started),
            verifying=pending.verifying,
        )


@dataclass(frozen=True, slots=True)
class SourceUpdate:
    """The changes for one source, their tasks' ids in the batch, and the newest record they cover."""

    batch: str
    format: str
    path: str
    tasks: tuple[str, ...]
    changes: tuple[StatusChange, ...]
    upto: int


def _to_local_time(moment: float) -> datetime:
    return datetime.fromtimestamp(moment, UTC).astimezone()


def _find_source(addresses: Sequence[SourceAddress], origin: Origin | None) -> SourceAddress | None:
    """Return the source of a task: its file, else the nearest folder around it."""
    if origin is None:
        return None
    folders = [address for address in addresses if address.path == "." or origin.file.startswith(f"{address.path}/")]
    named = [address for address in addresses if address.path == origin.file]
    return next(iter(named), None) or max(folders, key=lambda address: len(address.path), default=None)


class WritebackQueue:
    """The pending statuses of all batches. `apply` ignores records about unknown batches or tasks."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._batches: dict[str, BatchWriteback] = {}
        for record in records:
            self.apply(record)

    def apply(self, record: Record) -> None:  # noqa: C901 - a case for each event
        event = record.event
        match event:
            case Submit() if event.batch not in self._batches:
                tasks = {task.id: task for task in event.plan.tasks}
                phases = {phase.key: phase.reason for phase in event.plan.phases}
                self._batches[event.batch] = BatchWriteback(event.batch, event.sources, event.settings, tasks, phases)
            case ChangeSettings(batch=batch) if batch in self._batches:
                writeback = self._batches[batch]
                writeback.settings = writeback.settings.with_fields(event.settings, event.fields)
            case Drop(batch=batch, task=task) if batch in self._batches:
                self._batches[batch].dropped.add(task)
            case AttemptStarted(attempt=attempt) if attempt.step is Step.WRITE:
                self._start_task(attempt.batch, attempt.task, record)
            case AttemptStarted(attempt=attempt) if attempt.batch in self._batches:
                self._batches[attempt.batch].starts.setdefault(attempt.task, record.at)  # work that is checked again
                self._set_verifying(attempt, record, verifying=True)
            case MergeStarted(batch=batch, task=task) if batch in self._batches:
                self._batches[batch].starts.setdefault(task, record.at)  # a result that could not be merged before
            case AttemptPhase(attempt=attempt) if attempt.step is Step.WRITE:
                self._set_verifying(attempt, record, verifying=event.name == VERIFICATION_PHASE)
            case TaskEnded():
                self._add_pending(
                    event.batch,
                    event.task,
                    _choose_end_status(self._batches.get(event.batch), event),
                    event.reason,
                    record,
                )
            case TaskInterrupted():
                self._add_pending(event.batch, event.task, SourceStatus.TODO, event.reason, record)
            case SourcesWritten():
                self._remove_written(event)
            case _:
                pass

    def list_open_batches(self) -> list[BatchWriteback]:
        """List the batches with pending statuses that are written into the checkout."""
        return [
            writeback
            for writeback in self._batches.values()
            if writeback.pending and writeback.settings.write_back in {WriteBack.CHECKOUT, WriteBack.BOTH}
        ]

    def _start_task(self, batch: str, task: str, record: Record) -> None:
        writeback = self._batches.get(batch)
        started = writeback.tasks.get(task) if writeback is not None else None
        if writeback is None or started is None:
            return
        if started.entrant is not None:  # a contest entrant is not in a source, but its task is
            writeback.starts.setdefault(started.entrant, record.at)
            self._add_pending(batch, started.entrant, SourceStatus.DOING, "", record)
            return
        writeback.start_counts[task] = writeback.start_counts.get(task, 0) + 1
        writeback.starts[task] = record.at
        writeback.verifying.discard(task)
        self._add_pending(batch, task, SourceStatus.DOING, "", record)

    def _set_verifying(self, attempt: Attempt, record: Record, *, verifying: bool) -> None:
        """Note whether a running task is being verified, if its source has a status for that."""
        task, writeback = attempt.task, self._batches.get(attempt.batch)
        if writeback is None or task not in writeback.starts or verifying == (task in writeback.verifying):
            return
        if task in writeback.tasks and writeback.writes_verifying(task):
            (writeback.verifying.add if verifying else writeback.verifying.discard)(task)
            self._add_pending(attempt.batch, task, SourceStatus.DOING, "", record)

    def _add_pending(self, batch: str, task: str, status: SourceStatus, reason: str, record: Record) -> None:
        writeback = self._batches.get(batch)
        if writeback is not None and task in writeback.tasks and writeback.tasks[task].entrant is None:
            starts = writeback.starts
            if status is not SourceStatus.DOING:
                writeback.verifying.discard(task)
            started = starts.get(task) if status is SourceStatus.DOING else starts.pop(task, None)
            writeback.pending[task] = PendingStatus(
                status, record.seq, record.at, reason, started, task in writeback.verifying
            )

    def _remove_written(self, event: SourcesWritten) -> None:
        pending = self._batches[event.batch].pending if event.batch in self._batches else {}
        for task in event.tasks:
            if task in pending and pending[task].seq <= event.upto:
                del pending[task]


def _choose_end_status(writeback: BatchWriteback | None, event: TaskEnded) -> SourceStatus:
    """Return the status for the source: a dropped task is skipped; one that a halt skipped is still to do."""
    if event.status is TaskStatus.SKIPPED and writeback is not None and event.task in writeback.dropped:
        return SourceStatus.SKIPPED
    return _STATUS_BY_TASK_STATUS.get(event.status, SourceStatus.TODO)
