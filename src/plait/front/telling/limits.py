"""What bounds all batches: providers, the machine, the engine itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core.decisions import AboutLimit, BreakerClosed, BreakerOpened, DeadlinesMoved, LimitRaised
from plait.core.reports import (
    ClockJumped,
    EngineReleased,
    EngineTaken,
    MachineReport,
    PressureChanged,
    RateLimited,
    RoomChanged,
)
from plait.front.event import Event, EventType
from plait.front.instant import iso
from plait.front.moment import Moment, short_of

MACHINE = "machine"  # it refuses work like a provider, and never says until when


def decided(moment: Moment, decision: AboutLimit) -> Iterator[Event]:
    match decision:
        case BreakerOpened():
            until = iso(decision.until)
            yield moment.tell(
                EventType.LIMIT_OPENED, provider=decision.provider, until=until, reason=decision.why
            )
        case BreakerClosed():
            yield moment.tell(EventType.LIMIT_CLOSED, provider=decision.provider)
        case LimitRaised() | DeadlinesMoved():
            return
        case _:
            assert_never(decision)


def reported(moment: Moment, report: MachineReport) -> Iterator[Event]:
    match report:
        case EngineTaken():
            yield moment.tell(
                EventType.ENGINE_TAKEN, pid=report.pid, host=report.host, version=report.version
            )
        case EngineReleased():
            yield moment.tell(EventType.ENGINE_RELEASED, pid=report.pid)
        case PressureChanged() | RoomChanged():
            pass
        case RateLimited() | ClockJumped():
            pass  # what follows from it is decided, and told then
        case _:
            assert_never(report)
    yield from _machine(moment)


def _machine(moment: Moment) -> Iterator[Event]:
    """A new engine, too, forgets what the last one's sensors saw."""
    was, now = moment.before.short_of, short_of(moment.state)
    if was != now and now is not None:
        yield moment.tell(EventType.LIMIT_OPENED, provider=MACHINE, until=None, reason=now)
    elif was != now:
        yield moment.tell(EventType.LIMIT_CLOSED, provider=MACHINE)
