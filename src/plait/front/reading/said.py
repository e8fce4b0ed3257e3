"""What an attempt said and did, as the events that tell of it while it works: for those who missed them."""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.discretion import Discretion, Lines
from plait.agents.model import Listener
from plait.core.task import Attempt
from plait.front.activity import LINE, heard
from plait.front.event import Event, EventType
from plait.front.reading.page import Page


def said(
    attempt: Attempt, found: Page, listener: Listener | None, hide: Discretion, at: float
) -> Iterator[Event]:
    """`execution:log` for each line that begins there and says something; the offset is the line's."""
    hidden = Lines(hide)
    for line in found.earlier().split(b"\n"):
        hidden(line.decode("utf-8", "replace"))
    for offset, line in found.lines():
        for text in heard(listener, hidden(line[:LINE].decode("utf-8", "replace"))):
            more = {
                "step": attempt.step.value,
                "offset": offset,
                "entry": {"kind": "activity", "text": text},
            }
            yield Event(
                None, at, EventType.EXECUTION_LOG, attempt.batch, attempt.task or None, attempt.n, more
            )
