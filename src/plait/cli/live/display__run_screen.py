"""How a batch is shown on a terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from plait.cli.live.display import Display
from plait.cli.output import Page, make_console
from plait.client.event_stream import EventStream
from plait.client.logs.activity import ActivityTracker
from plait.client.session import RecordEvents


class ScreenRenderer:
    def __init__(self, feed: EventStream, batch: str, activities: ActivityTracker) -> None:
        self._display = Display(make_console(), feed, batch, name=batch, activities=activities)

    def __enter__(self) -> Self:
        self._display.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.__exit__(kind, error, trace)

    def add_news(self, news: Sequence[RecordEvents]) -> None:
        """It shows the state, which has folded them."""

    def refresh(self, notice: str) -> None:
        self._display.refresh(time.time(), notice=notice)

    def read_keys(self) -> list[str]:
        return self._display.read_keys()

    def finish(self, page: Page | None) -> None:
        self._display.set_final_page(page)
