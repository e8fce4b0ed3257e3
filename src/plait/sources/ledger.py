"""What a batch's sources have not been told yet: a fold over the journal, so that a crash between the journal and a
file is repaired by whoever reads the journal next.

A task is owed to its source from the record that changes its status until a SourcesWritten that covers that record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from datetime import UTC, datetime

from plait.core.decisions import AttemptStarted, TaskEnded, TaskInterrupted
from plait.core.events import Record
from plait.core.frozen import dataclass
from plait.core.reports import SourcesWritten
from plait.core.requests import ChangeSettings, Drop, Submit
from plait.core.settings import Settings, WriteBack
from plait.core.status import TaskStatus
from plait.core.task import Origin, Step, Task
from plait.sources.address import Address, names
from plait.sources.model import Change, Mark

# What a status of the batch means to the source. Cancelled and interrupted work is open again for whoever comes next.
_MARKS = {
    TaskStatus.DONE: Mark.DONE,
    TaskStatus.FAILED: Mark.FAILED,
    TaskStatus.TIMED_OUT: Mark.FAILED,
    TaskStatus.CONFLICTED: Mark.FAILED,
    TaskStatus.BLOCKED: Mark.BLOCKED,
    TaskStatus.CANCELLED: Mark.TODO,
    TaskStatus.SKIPPED: Mark.TODO,
}


@dataclass(frozen=True, slots=True)
class Owed:
    """One task's newest status, and the record that told it."""

    mark: Mark
    seq: int
    at: float
    reason: str = ""


@dataclass
class Account:
    """What is owed to the sources of one batch."""

    batch: str
    sources: tuple[str, ...]
    settings: Settings
    tasks: dict[str, Task]
    phases: dict[str, str] = field(default_factory=dict)
    owed: dict[str, Owed] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def bills(self) -> Iterator[Bill]:
        """A bill for each source that can be told something; tasks that no source told of are owed to nobody."""
        addresses = [Address.of(source) for source in self.sources]
        short = names([address.path for address in addresses])
        tellers = {task: _teller(addresses, self.tasks[task].origin) for task in self.owed}
        for address, name in zip(addresses, short, strict=True):
            tasks = tuple(task for task, teller in tellers.items() if teller == address)
            if tasks:
                changes = tuple(self._change(task, name, address.tag) for task in tasks)
                upto = max(self.owed[task].seq for task in tasks)
                yield Bill(self.batch, address.format, address.path, tasks, changes, upto)

    def _change(self, name: str, source: str, tag: str) -> Change:
        task, owed = self.tasks[name], self.owed[name]
        return Change(
            id=name.removeprefix(f"{source}:"),
            mark=owed.mark,
            at=datetime.fromtimestamp(owed.at, UTC).astimezone(),
            file=task.origin.file if task.origin else "",
            title=task.title,
            reason=owed.reason,
            tries=max(0, self.begun.get(name, 0) - 1),
            batch=self.batch,
            tag=tag,
            phase=self.phases.get(task.phase or "", ""),
            needs=tuple(need.on.removeprefix(f"{source}:") for need in task.needs),
        )


@dataclass(frozen=True, slots=True)
class Bill:
    """The changes for one source, the tasks they are about by their names in the batch, and the newest record told."""

    batch: str
    format: str
    path: str
    tasks: tuple[str, ...]
    changes: tuple[Change, ...]
    upto: int


def _teller(addresses: Sequence[Address], origin: Origin | None) -> Address | None:
    """The one source that told of a task: the file in which it was said, else the nearest folder around that."""
    if origin is None:
        return None
    around = [each for each in addresses if each.path == "." or origin.file.startswith(f"{each.path}/")]
    named = [each for each in addresses if each.path == origin.file]
    return next(iter(named), None) or max(around, key=lambda each: len(each.path), default=None)


class Ledger:
    """All accounts. `take` is total: facts about what is unknown or long over change nothing."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._accounts: dict[str, Account] = {}
        for record in records:
            self.take(record)

    def take(self, record: Record) -> None:
        event = record.event
        match event:
            case Submit() if event.batch not in self._accounts:
                tasks = {task.id: task for task in event.plan.tasks}
                phases = {phase.key: phase.reason for phase in event.plan.phases}
                self._accounts[event.batch] = Account(
                    event.batch, event.sources, event.settings, tasks, phases
                )
            case ChangeSettings(batch=batch) if batch in self._accounts:
                account = self._accounts[batch]
                account.settings = account.settings.patched(event.settings, event.fields)
            case Drop(batch=batch, task=task) if batch in self._accounts:
                self._accounts[batch].dropped.add(task)
            case AttemptStarted(attempt=attempt) if attempt.step is Step.WRITE:
                self._begin(attempt.batch, attempt.task, record)
            case TaskEnded():
                self._owe(
                    event.batch,
                    event.task,
                    _mark(self._accounts.get(event.batch), event),
                    event.reason,
                    record,
                )
            case TaskInterrupted():
                self._owe(event.batch, event.task, Mark.TODO, event.reason, record)
            case SourcesWritten():
                self._settle(event)
            case _:
                pass

    def open(self) -> list[Account]:
        """The accounts with something owed that is to be written into the checkout."""
        return [
            account
            for account in self._accounts.values()
            if account.owed and account.settings.write_back in {WriteBack.CHECKOUT, WriteBack.BOTH}
        ]

    def _begin(self, batch: str, task: str, record: Record) -> None:
        account = self._accounts.get(batch)
        known = account.tasks.get(task) if account is not None else None
        if account is None or known is None:
            return
        if known.entrant is not None:  # no source knows of it: its task is what is being done
            self._owe(batch, known.entrant, Mark.DOING, "", record)
            return
        account.begun[task] = account.begun.get(task, 0) + 1
        self._owe(batch, task, Mark.DOING, "", record)

    def _owe(self, batch: str, task: str, mark: Mark, reason: str, record: Record) -> None:
        account = self._accounts.get(batch)
        if account is not None and task in account.tasks and account.tasks[task].entrant is None:
            account.owed[task] = Owed(mark, record.seq, record.at, reason)

    def _settle(self, event: SourcesWritten) -> None:
        owed = self._accounts[event.batch].owed if event.batch in self._accounts else {}
        for task in event.tasks:
            if task in owed and owed[task].seq <= event.upto:
                del owed[task]


def _mark(account: Account | None, event: TaskEnded) -> Mark:
    """A task that somebody dropped is not wanted any more; one that a halted batch passed over is."""
    if event.status is TaskStatus.SKIPPED and account is not None and event.task in account.dropped:
        return Mark.SKIPPED
    return _MARKS.get(event.status, Mark.TODO)
