"""What tasks have been through: their attempts, in order, as the journal tells them.

The gates of a batch as the journal tells them: on what each ran, how it ended, and which one decided about a task.

The conflicts of a batch as the journal tells them: which change met which commit of the branch, and in which files.

The chronicle: what the state forgets and people ask for, of every batch, folded as records come.

It grows with attempts, gates and tasks, not with records; whoever asks for one task pays for that task.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from plait.client.timeline import BatchTimeline
from plait.core.decisions import (
    AttemptEnding,
    AttemptStarted,
    Change,
    GateEnding,
    GateStarted,
    MergeStarted,
    RebuildStarted,
    RequestGranted,
    RequestRefused,
    RetryGranted,
    TaskEnded,
)
from plait.core.errors import UserError, WorldError
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.reports import (
    AttemptExited,
    AttemptLost,
    GateDone,
    GateLost,
    MergeConflicted,
    MergeDone,
    Outcome,
    RebuildDone,
)
from plait.core.requests import Request
from plait.core.state import BatchState, TaskState
from plait.core.status import Category, EndWhy, TaskStatus
from plait.core.task import Attempt


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """`base` is the commit it began from. `outcome` None: it is at work. `then` says why the task went again after it."""

    attempt: Attempt
    agent: str
    started_at: float
    ended_at: float | None = None
    outcome: Outcome | None = None
    ending: EndWhy | None = None
    then: str = ""
    base: str = ""


class AttemptHistory:
    """The attempts of one batch; records of others pass by."""

    def __init__(self, batch: str) -> None:
        self._batch = batch
        self._attempts: dict[Attempt, PastAttempt] = {}
        self._names: dict[str, list[Attempt]] = {}

    def list_attempts(self, task: str) -> list[PastAttempt]:
        return [self._attempts[name] for name in self._names.get(task, ())]

    def apply(self, record: Record) -> None:
        tries = self._attempts
        match record.event:
            case AttemptStarted(attempt=name) as event if name.batch == self._batch and name not in tries:
                tries[name] = PastAttempt(name, event.agent, record.at, base=event.base)
                self._names.setdefault(name.task, []).append(name)
            case AttemptEnding(attempt=name, why=why) if name in tries:
                tries[name] = replace(tries[name], ending=tries[name].ending or why)
            case AttemptExited(attempt=name, outcome=outcome) if name in tries:
                self._apply_exit(record.at, name, outcome)
            case AttemptLost(attempt=name, why=why) if name in tries:
                self._apply_exit(record.at, name, Outcome(Category.LOST, detail=why))
            case RetryGranted(batch=self._batch, task=task, why=why) if task in self._names:
                last = self._names[task][-1]
                tries[last] = replace(tries[last], then=why)
            case _:
                pass

    def _apply_exit(self, at: float, name: Attempt, outcome: Outcome) -> None:
        """A report may come twice; the first one counted."""
        known = self._attempts[name]
        if known.outcome is None:
            self._attempts[name] = replace(known, ended_at=at, outcome=outcome)


def find_attempts(records: Iterable[Record], batch: str, task: str) -> list[PastAttempt]:
    past = AttemptHistory(batch)
    for record in records:
        past.apply(record)
    return past.list_attempts(task)


def format_attempt_label(attempt: Attempt) -> str:
    """`write-2`, as its folder is called."""
    return f"{attempt.step.value}-{attempt.n}"


@dataclass(frozen=True, slots=True)
class GateRun:
    """`passed` None: it runs, it was lost, or the branch changed under it."""

    decision: GateStarted
    started_at: float
    ended_at: float | None = None
    passed: bool | None = None
    detail: str = ""
    dropped: bool = False


def choose_gate(batch: BatchState, number: int | None) -> int:
    """The newest one, or the one of this number. Raises WorldError or UserError if there is none."""
    if not batch.gates:
        none = "no gate is set" if batch.settings.gate is None else "its gate has not run yet"
        raise WorldError(f"batch {batch.id}: {none}, so there is nothing to read")
    if number is not None and not 1 <= number <= batch.gates:
        ran = "once" if batch.gates == 1 else f"{batch.gates} times"
        raise UserError(f"batch {batch.id} has no gate {number}", hint=f"Its gate ran {ran}.")
    return number or batch.gates


class GateHistory:
    """Those of one batch; records of others pass by."""

    def __init__(self, batch: str) -> None:
        self._batch = batch
        self._runs: dict[int, GateRun] = {}
        self._deciding: dict[str, GateRun] = {}

    @property
    def runs(self) -> list[GateRun]:
        return list(self._runs.values())

    def find_deciding(self, task: str) -> GateRun | None:
        """The gate by which a task ended last: the one that failed with it, or the one that it passed."""
        return self._deciding.get(task)

    def apply(self, record: Record) -> None:
        runs = self._runs
        match record.event:
            case GateStarted(batch=self._batch) as order:
                runs[order.n] = GateRun(order, record.at)
            case GateEnding(batch=self._batch, n=n, why=why) if n in runs:
                runs[n] = replace(runs[n], dropped=why is EndWhy.DROP)
            case GateDone(batch=self._batch, n=n) as done if self._is_open(n):
                passed = None if runs[n].dropped else done.passed
                runs[n] = replace(runs[n], ended_at=record.at, passed=passed, detail=done.detail)
            case GateLost(batch=self._batch, n=n, why=why) if self._is_open(n):
                runs[n] = replace(runs[n], ended_at=record.at, detail=why)
            case TaskEnded(batch=self._batch) as end:
                self._apply_task_end(end)
            case _:
                pass

    def _is_open(self, n: int) -> bool:
        """A report may come twice; the first one counted."""
        return n in self._runs and self._runs[n].ended_at is None

    def _apply_task_end(self, end: TaskEnded) -> None:
        passed = _gate_verdict(end)
        fitting = (run for run in reversed(self._runs.values()) if run.passed is passed)
        decided = None if passed is None else next(fitting, None)
        if decided is not None:
            self._deciding[end.task] = decided
        else:
            self._deciding.pop(end.task, None)


def find_deciding_gate(records: Iterable[Record], batch: str, task: str) -> GateRun | None:
    found = GateHistory(batch)
    for record in records:
        found.apply(record)
    return found.find_deciding(task)


def _gate_verdict(end: TaskEnded) -> bool | None:
    if end.status is TaskStatus.DONE:
        return True
    return False if end.category is Category.GATE else None


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """`onto` is what the change was put onto; "": the batch's base."""

    change: Change
    onto: str
    files: tuple[str, ...]


class ConflictHistory:
    """Those of one batch; records of others pass by."""

    def __init__(self, batch: str) -> None:
        self._batch = batch
        self._merges: dict[str, MergeStarted] = {}
        self._rebuild: RebuildStarted | None = None
        self._last: dict[str, MergeConflict] = {}

    def find_last(self, task: str) -> MergeConflict | None:
        return self._last.get(task)

    def apply(self, record: Record) -> None:
        match record.event:
            case MergeStarted(batch=self._batch) as order:
                self._merges[order.task] = order
            case MergeConflicted(batch=self._batch, task=task, n=n, files=files):
                tried = self._merges.get(task)
                if tried is not None and tried.n == n:
                    self._last[task] = MergeConflict(Change(task, tried.base, tried.tip), tried.onto, files)
            case MergeDone(batch=self._batch, task=task):
                self._last.pop(task, None)
            case RebuildStarted(batch=self._batch) as anew:
                self._rebuild = anew
            case RebuildDone(batch=self._batch, n=n) as done if self._rebuild and self._rebuild.n == n:
                self._apply_rebuild(self._rebuild, done)
            case _:
                pass

    def _apply_rebuild(self, order: RebuildStarted, done: RebuildDone) -> None:
        commits = {merged.task: merged.commit for merged in done.line}
        clashes = {clash.task: clash.files for clash in done.clashes}
        head = ""
        for change in order.line:
            if change.task in clashes:
                self._last[change.task] = MergeConflict(change, head, clashes[change.task])
            else:
                head = commits.get(change.task, head)


def has_conflict(task: TaskState) -> bool:
    """It ended so, or is about to, or is being repaired."""
    return task.status is TaskStatus.CONFLICTED or task.conflict_files is not None or task.change_to_repair is not None


def find_earlier_changes(batch: BatchState, conflict: MergeConflict) -> dict[str, Change]:
    """The changes that the branch had then, as far as it still has them, by task and in their order."""
    place = next((n for n, entry in enumerate(batch.merges, 1) if entry.commit == conflict.onto), len(batch.merges))
    line = (entry.change for entry in batch.merges[:place] if conflict.onto)
    return {change.task: change for change in line if change.task != conflict.change.task}


@dataclass(frozen=True, slots=True)
class BatchHistory:
    """Of one batch: its attempts, its gates, its conflicts, its timeline."""

    attempts: AttemptHistory
    gates: GateHistory
    conflicts: ConflictHistory
    timeline: BatchTimeline

    @classmethod
    def make_empty(cls, batch: str) -> BatchHistory:
        return cls(AttemptHistory(batch), GateHistory(batch), ConflictHistory(batch), BatchTimeline(batch))

    def apply(self, record: Record) -> None:
        self.attempts.apply(record)
        self.gates.apply(record)
        self.conflicts.apply(record)
        self.timeline.apply(record)


@dataclass(slots=True)
class HistoryIndex:
    """It follows from the records alone, from the first one on."""

    _batches: dict[str, BatchHistory] = field(default_factory=dict)
    _unanswered: dict[str, str] = field(default_factory=dict)  # requests that are not answered, and their batches

    def get_batch(self, batch: str) -> BatchHistory:
        """Of a batch that nothing is told of, an empty one."""
        return self._batches.get(batch) or BatchHistory.make_empty(batch)

    def apply(self, record: Record) -> None:
        batch = self._find_batch_id(record)
        if batch is not None:
            if batch not in self._batches:
                self._batches[batch] = BatchHistory.make_empty(batch)
            self._batches[batch].apply(record)

    def _find_batch_id(self, record: Record) -> str | None:
        """An answer is about what its request is about."""
        event = record.event
        if isinstance(event, RequestGranted | RequestRefused):
            return self._unanswered.pop(event.request, None)
        attempt = getattr(event, "attempt", None)
        batch: str | None = getattr(event, "batch", None) if attempt is None else attempt.batch
        if batch is not None and isinstance(event, Request):
            self._unanswered[event.id] = batch
        return batch
