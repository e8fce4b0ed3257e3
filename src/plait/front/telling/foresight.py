"""Conflicts that are foreseen, or not any more, told as progress of the task that was looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core.reports import ConflictCleared, ConflictForeseen, Foresight
from plait.front.event import Event, EventType
from plait.front.moment import Moment


def reported(moment: Moment, report: Foresight) -> Iterator[Event]:
    task, known = moment.task, moment.before.foreseen
    if task is None or moment.book is None:
        return
    match report:
        case ConflictForeseen():
            files = task.foreseen.get(report.other, ())
        case ConflictCleared():
            files = ()
        case _:
            assert_never(report)
    if files != known.get(report.other, ()):
        counts = moment.book.progress()
        yield moment.tell(
            EventType.BATCH_PROGRESS, task, **counts, conflictsWith=report.other or None, files=files
        )
