"""How a batch is shown on a terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from plait.cli.say import Page, console
from plait.cli.screen.display import Display
from plait.front.activity import Activities
from plait.front.desk import Told
from plait.front.feed import Feed


class OnScreen:
    def __init__(self, feed: Feed, batch: str, activities: Activities) -> None:
        self._display = Display(console(), feed, batch, name=batch, activities=activities)

    def __enter__(self) -> Self:
        self._display.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.__exit__(kind, error, trace)

    def take(self, told: Sequence[Told]) -> None:
        """It shows the state, which has folded them."""

    def refresh(self, notice: str) -> None:
        self._display.refresh(time.time(), notice=notice)

    def pressed(self) -> list[str]:
        return self._display.keys()

    def leave(self, page: Page | None) -> None:
        self._display.leave(page)
