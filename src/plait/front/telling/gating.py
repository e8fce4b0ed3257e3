"""How gates go: begun, told as gating; over, told as progress."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core.decisions import GateStarted
from plait.core.reports import GateDone, GateLost
from plait.front.event import Event, EventType
from plait.front.moment import Moment


def started(moment: Moment, decision: GateStarted) -> Iterator[Event]:
    yield moment.tell(EventType.BATCH_GATING, **_which(decision), command=decision.command)


def over(moment: Moment, report: GateDone | GateLost) -> Iterator[Event]:
    gate = moment.before.gate
    if gate is None or gate.n != report.n or moment.book is None:
        return
    told: dict[str, object] = _which(gate)
    match report:
        case GateDone(passed=True):
            told["result"] = "passed"
        case GateDone():
            told |= {"result": "failed", "error": report.detail, "suspects": _suspects(moment)}
        case GateLost():
            told |= {"result": "lost", "error": report.why}
        case _:
            assert_never(report)
    yield moment.tell(EventType.BATCH_PROGRESS, **moment.book.progress(), gating=told)


def _suspects(moment: Moment) -> tuple[str, ...]:
    """Those that the guilty one is among."""
    batch = moment.batch
    if batch is None or batch.bad is None:
        return ()
    return tuple(batch.tasks[entry.place].task.id for entry in batch.line[batch.gated : batch.bad])


def _which(gate: GateStarted) -> dict[str, object]:
    return {"gate": gate.n, "commit": gate.commit, "merges": gate.size}
