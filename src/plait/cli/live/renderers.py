"""Renderers of a batch that is followed, as lines or JSON; `display.py` has the one for terminals."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from plait.cli.live.event_lines import EventLines
from plait.cli.output import Page, print_notice
from plait.client.event_stream import EventStream
from plait.client.session import RecordEvents
from plait.client.stream_event import format_json_line
from plait.core.reports import AttemptExited, AttemptLost
from plait.core.state import AttemptState

if TYPE_CHECKING:
    from plait.client.logs.activity import LogStream


class Renderer:
    """Shows a batch. Without a terminal, each notice is printed once, on standard error, and there are no keys."""

    def __init__(self) -> None:
        self._last_notice = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_news(self, news: Sequence[RecordEvents]) -> None:
        """Show new records, which the state includes already."""

    def refresh(self, notice: str) -> None:
        if notice != self._last_notice:
            self._last_notice = notice
            if notice:
                print_notice(notice)

    def read_keys(self) -> list[str]:
        return []

    def finish(self, page: Page | None) -> None:
        """Show the last page."""


class LineRenderer(Renderer):
    def __init__(self, batch: str, ids: Sequence[str]) -> None:
        super().__init__()
        self._batch = batch
        self._lines = EventLines(ids, name=batch)

    def add_news(self, news: Sequence[RecordEvents]) -> None:
        events = [event for each in news for event in each.events if event.concerns(self._batch)]
        lines = map(self._lines.format_event, events)
        _write_lines([text for text in lines if text is not None])

    def finish(self, page: Page | None) -> None:
        if page is not None:
            page.show()
            sys.stdout.flush()


class JsonRenderer(Renderer):
    def __init__(self, feed: EventStream, batch: str, logs: LogStream) -> None:
        super().__init__()
        self._feed, self._batch, self._logs = feed, batch, logs

    def add_news(self, news: Sequence[RecordEvents]) -> None:
        for each in news:
            over = self._find_ended_attempt(each.record.event)
            output = self._logs.finish(over, each.record.at) if over is not None else []
            _write_lines([format_json_line(event) for event in (*output, *each.events) if event.concerns(self._batch)])

    def _find_ended_attempt(self, event: object) -> AttemptState | None:
        """The attempt that ended with this event; tasks keep their last one."""
        if not isinstance(event, AttemptExited | AttemptLost):
            return None
        batch = self._feed.state.batches.get(event.attempt.batch)
        task = batch.find_task(event.attempt.task) if batch is not None else None
        known = (task.last, task.last_write) if task is not None else ()
        return next((each for each in known if each is not None and each.name == event.attempt), None)

    def refresh(self, notice: str) -> None:
        super().refresh(notice)
        known = self._feed.state.batches.get(self._batch)
        if known is not None:
            _write_lines([format_json_line(event) for event in self._logs.read(known.alive.values(), time.time())])


def _write_lines(lines: Sequence[str]) -> None:
    """Flush, because a program may be waiting for the line."""
    if lines:
        sys.stdout.write("".join(f"{text}\n" for text in lines))
        sys.stdout.flush()
