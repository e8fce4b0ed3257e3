"""How a batch is shown while it is followed: as lines, or as JSON. `run_screen` is for terminals."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from types import TracebackType
from typing import Protocol, Self

from plait import wiring
from plait.cli.lines import Lines
from plait.cli.say import Page, console
from plait.core.events import Record
from plait.front.activity import Logs
from plait.front.event import line
from plait.front.feed import Feed
from plait.ports import JournalMissingError
from plait.wiring import Place


class Show(Protocol):
    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def take(self, records: Sequence[Record]) -> None: ...

    def refresh(self, notice: str) -> None: ...

    def pressed(self) -> list[str]: ...

    def leave(self, page: Page | None) -> None:
        """The last that is seen."""


def feed_until(place: Place, seq: int) -> Feed:
    """What happened before is history that nobody wants told."""
    feed = Feed()
    try:
        reader = wiring.journal_reader(place)
    except JournalMissingError:
        return feed
    with closing(reader):
        for record in reader.read():
            if record.seq > seq:
                break
            feed.fold(record)
    return feed


class _Plain:
    """What needs no terminal. A notice is told once, on the standard error: it is no part of what is followed."""

    def __init__(self) -> None:
        self._told = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def pressed(self) -> list[str]:
        return []

    def refresh(self, notice: str) -> None:
        if notice != self._told:
            self._told = notice
            if notice:
                tell(notice)


class AsLines(_Plain):
    def __init__(self, feed: Feed, batch: str, ids: Sequence[str]) -> None:
        super().__init__()
        self._feed, self._batch = feed, batch
        self._lines = Lines(ids, name=batch)

    def take(self, records: Sequence[Record]) -> None:
        events = [event for record in records for event in self._feed.take(record)]
        told = [self._lines.tell(event) for event in events if event.concerns(self._batch)]
        _write([text for text in told if text is not None])

    def leave(self, page: Page | None) -> None:
        if page is not None:
            page.show(console())
            sys.stdout.flush()


class AsJson(_Plain):
    def __init__(self, feed: Feed, batch: str, logs: Logs) -> None:
        super().__init__()
        self._feed, self._batch, self._logs = feed, batch, logs

    def take(self, records: Sequence[Record]) -> None:
        for record in records:
            known = self._feed.state.batches.get(self._batch)
            before = {} if known is None else dict(known.alive)
            events = self._feed.take(record)
            after = self._feed.state.batches.get(self._batch)
            over = [attempt for name, attempt in before.items() if after is None or name not in after.alive]
            said = [event for attempt in over for event in self._logs.finish(attempt, record.at)]
            _write([line(event) for event in (*said, *events) if event.concerns(self._batch)])

    def refresh(self, notice: str) -> None:
        super().refresh(notice)
        known = self._feed.state.batches.get(self._batch)
        if known is not None:
            _write([line(event) for event in self._logs.read(known.alive.values(), time.time())])

    def leave(self, page: Page | None) -> None:
        pass


def tell(text: str) -> None:
    """On the standard error: beside JSON too; and a terminal that is gone does not mind."""
    with suppress(OSError):
        page = Page()
        page.line(text)
        page.show(console(stderr=True))


def _write(lines: Sequence[str]) -> None:
    """Each at once: whoever reads them may be waiting for one."""
    if lines:
        sys.stdout.write("".join(f"{text}\n" for text in lines))
        sys.stdout.flush()
