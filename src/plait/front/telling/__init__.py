"""What follows from each kind of record for those who listen: a kind is told, or it is named as one that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

from plait.core import decisions, reports, requests
from plait.front.event import Event
from plait.front.moment import Moment
from plait.front.telling import attempts, batches, foresight, limits, tasks, wishes

# Any: each teller takes its own union; the table below gives it nothing else.
Teller = Callable[[Moment, Any], Iterator[Event]]


def _nothing(_moment: Moment, _fact: requests.Request | reports.SourcesWritten) -> Iterator[Event]:
    """A request is told when it is granted; that sources were written is between plait and them."""
    return iter(())


GROUPS: Iterable[tuple[object, Teller]] = (
    (requests.Request, _nothing),
    (decisions.AboutRequest, wishes.answered),
    (decisions.AboutAttempt, attempts.decided),
    (decisions.AboutTask, tasks.judged),
    (decisions.AboutLine, batches.line_decided),
    (decisions.AboutLimit, limits.decided),
    (decisions.AboutBatch, batches.decided),
    (reports.AttemptSign, attempts.signed),
    (reports.AttemptOver, attempts.over),
    (reports.LineReport, batches.line_reported),
    (reports.Foresight, foresight.reported),
    (reports.MachineReport, limits.reported),
)
TELLERS = {fact: teller for union, teller in GROUPS for fact in get_args(union)}
TELLERS[reports.SourcesWritten] = _nothing


def tell(moment: Moment) -> list[Event]:
    fact = moment.record.event
    return list(TELLERS[type(fact)](moment, fact))
