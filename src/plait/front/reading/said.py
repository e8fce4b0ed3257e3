"""What an attempt said and did, as the events that tell of it while it works: for those who missed them."""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.discretion import Redactor, LineRedactor
from plait.agents.model import OutputParser
from plait.core.task import Attempt
from plait.front.activity import MAX_LINE_BYTES, parse_activities
from plait.front.event import StreamEvent, EventType
from plait.front.reading.page import TranscriptPage


def make_log_events(
    attempt: Attempt, found: TranscriptPage, parser: OutputParser | None, hide: Redactor, at: float
) -> Iterator[StreamEvent]:
    """`execution:log` for each line that begins there and says something; the offset is the line's."""
    hidden = LineRedactor(hide)
    for line in found.read_before_first_line().split(b"\n"):
        hidden(line.decode("utf-8", "replace"))
    for offset, line in found.iter_lines():
        for text in parse_activities(parser, hidden(line[:MAX_LINE_BYTES].decode("utf-8", "replace"))):
            more = {
                "step": attempt.step.value,
                "offset": offset,
                "entry": {"kind": "activity", "text": text},
            }
            yield StreamEvent(
                None, at, EventType.EXECUTION_LOG, attempt.batch, attempt.task or None, attempt.n, more
            )
