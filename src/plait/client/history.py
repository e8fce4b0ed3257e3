"""The gates of a batch as the journal tells them: on what each ran, how it ended, and which one decided about a task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plait.core.decisions import GateEnding, GateStarted, TaskEnded
from plait.core.errors import UserError, WorldError
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.reports import GateDone, GateLost
from plait.core.state import BatchState
from plait.core.status import Category, EndWhy, TaskStatus
from plait.core.task import Attempt, Step


@dataclass(frozen=True, slots=True)
class GateRun:
    """`passed` None: it runs, it was lost, or the branch changed under it."""

    decision: GateStarted
    started_at: float
    ended_at: float | None = None
    passed: bool | None = None
    detail: str = ""
    dropped: bool = False


def make_gate_attempt(batch: str, n: int) -> Attempt:
    """A gate runs like an attempt at verifying, of no task."""
    return Attempt(batch, "", Step.VERIFY, n)


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
