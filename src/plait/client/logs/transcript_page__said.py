"""What an attempt said and did, as the events that tell of it while it works: for those who missed them."""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.interface import OutputParser
from plait.agents.redaction import LineRedactor, Redactor
from plait.client.logs.activity import MAX_LINE_BYTES, parse_activities
from plait.client.logs.transcript_page import TranscriptPage
from plait.client.stream_event import EventType, StreamEvent
from plait.core.task import Attempt


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
