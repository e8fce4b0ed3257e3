"""What bounds all batches: providers, the machine, the engine itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.client.json_encoding__instant import to_iso
from plait.client.record_context import RecordContext, find_machine_shortage
from plait.client.stream_event import EventType, StreamEvent
from plait.core.decisions import BreakerClosed, BreakerOpened, DeadlinesMoved, LimitDecision, LimitRaised
from plait.core.reports import (
    CapacityChanged,
    ClockJumped,
    EngineReleased,
    EngineTaken,
    MachineReport,
    PressureChanged,
    RateLimited,
)

MACHINE_PROVIDER = "machine"  # it refuses work like a provider, and never says until when


def map_limit_decision(context: RecordContext, decision: LimitDecision) -> Iterator[StreamEvent]:
    match decision:
        case BreakerOpened():
            until = to_iso(decision.until)
            yield context.make_event(
                EventType.LIMIT_OPENED, provider=decision.provider, until=until, reason=decision.why
            )
        case BreakerClosed():
            yield context.make_event(EventType.LIMIT_CLOSED, provider=decision.provider)
        case LimitRaised() | DeadlinesMoved():
            return
        case _:
            assert_never(decision)


def map_machine_report(context: RecordContext, report: MachineReport) -> Iterator[StreamEvent]:
    match report:
        case EngineTaken():
            yield context.make_event(
                EventType.ENGINE_TAKEN, pid=report.pid, host=report.host, version=report.version
            )
        case EngineReleased():
            yield context.make_event(EventType.ENGINE_RELEASED, pid=report.pid)
        case PressureChanged() | CapacityChanged():
            pass
        case RateLimited() | ClockJumped():
            pass  # what follows from it is decided, and told then
        case _:
            assert_never(report)
    yield from _map_machine_shortage(context)


def _map_machine_shortage(context: RecordContext) -> Iterator[StreamEvent]:
    """A new engine, too, forgets what the last one's sensors saw."""
    was, now = context.before.short_of, find_machine_shortage(context.state)
    if was != now and now is not None:
        yield context.make_event(EventType.LIMIT_OPENED, provider=MACHINE_PROVIDER, until=None, reason=now)
    elif was != now:
        yield context.make_event(EventType.LIMIT_CLOSED, provider=MACHINE_PROVIDER)
