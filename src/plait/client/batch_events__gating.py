"""How gates go: begun, told as gating; over, told as progress."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.client.record_context import RecordContext
from plait.client.stream_event import EventType, StreamEvent
from plait.core.decisions import GateStarted
from plait.core.reports import GateDone, GateLost


def map_gate_started(context: RecordContext, decision: GateStarted) -> Iterator[StreamEvent]:
    yield context.make_event(EventType.BATCH_GATING, **_gate_fields(decision), command=decision.command)


def map_gate_ended(context: RecordContext, report: GateDone | GateLost) -> Iterator[StreamEvent]:
    gate = context.before.gate
    if gate is None or gate.n != report.n or context.tracker is None:
        return
    told: dict[str, object] = _gate_fields(gate)
    match report:
        case GateDone(passed=True):
            told["result"] = "passed"
        case GateDone():
            told |= {"result": "failed", "error": report.detail, "suspects": _list_suspects(context)}
        case GateLost():
            told |= {"result": "lost", "error": report.why}
        case _:
            assert_never(report)
    yield context.make_event(EventType.BATCH_PROGRESS, **context.tracker.progress(), gating=told)


def _list_suspects(context: RecordContext) -> tuple[str, ...]:
    """Those that the guilty one is among."""
    batch = context.batch
    if batch is None or batch.gate_bad_size is None:
        return ()
    return tuple(
        batch.tasks[entry.place].task.id for entry in batch.merges[batch.gate_good_size : batch.gate_bad_size]
    )


def _gate_fields(gate: GateStarted) -> dict[str, object]:
    return {"gate": gate.n, "commit": gate.commit, "merges": gate.size}
