"""The gates of a batch as the journal tells them: on what each ran, how it ended, and which one decided about a task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plait.core.decisions import GateEnding, GateStarted, TaskEnded
from plait.core.events import Record
from plait.core.frozen import dataclass
from plait.core.reports import GateDone, GateLost
from plait.core.status import Category, EndWhy, TaskStatus
from plait.core.task import Attempt, Step


@dataclass(frozen=True, slots=True)
class GateRun:
    """`passed` None: it runs, it was lost, or the branch changed under it."""

    order: GateStarted
    started_at: float
    ended_at: float | None = None
    passed: bool | None = None
    detail: str = ""
    dropped: bool = False


def gate_attempt(batch: str, n: int) -> Attempt:
    """A gate runs like an attempt at verifying, of no task."""
    return Attempt(batch, "", Step.VERIFY, n)


def gates(records: Iterable[Record], batch: str) -> list[GateRun]:
    found: dict[int, GateRun] = {}
    for record in records:
        _fold(found, record, batch)
    return list(found.values())


def deciding(records: Iterable[Record], batch: str, task: str) -> GateRun | None:
    """The gate by which a task ended last: the one that failed with it, or the one that it passed."""
    found: dict[int, GateRun] = {}
    decided: GateRun | None = None
    for record in records:
        _fold(found, record, batch)
        match record.event:
            case TaskEnded(batch=of, task=name) as end if (of, name) == (batch, task):
                decided = _last(found, _verdict(end))
            case _:
                pass
    return decided


def _verdict(end: TaskEnded) -> bool | None:
    if end.status is TaskStatus.DONE:
        return True
    return False if end.category is Category.GATE else None


def _last(found: dict[int, GateRun], passed: bool | None) -> GateRun | None:  # noqa: FBT001 - as in a run
    fitting = (run for run in reversed(found.values()) if passed is not None and run.passed is passed)
    return next(fitting, None)


def _fold(found: dict[int, GateRun], record: Record, batch: str) -> None:
    match record.event:
        case GateStarted(batch=of) as order if of == batch:
            found[order.n] = GateRun(order, record.at)
        case GateEnding(batch=of, n=n, why=why) if of == batch and n in found:
            found[n] = replace(found[n], dropped=why is EndWhy.DROP)
        case GateDone(batch=of, n=n) as done if of == batch and _open(found, n):
            passed = None if found[n].dropped else done.passed
            found[n] = replace(found[n], ended_at=record.at, passed=passed, detail=done.detail)
        case GateLost(batch=of, n=n, why=why) if of == batch and _open(found, n):
            found[n] = replace(found[n], ended_at=record.at, detail=why)
        case _:
            pass


def _open(found: dict[int, GateRun], n: int) -> bool:
    """A report may come twice; the first one counted."""
    return n in found and found[n].ended_at is None
