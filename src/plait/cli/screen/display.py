"""The display of one batch on a terminal: state in, frames out, as seldom as the eye allows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from plait.cli.say import Page
from plait.cli.screen.frame import Look, frame
from plait.cli.screen.live import Screen
from plait.cli.screen.scene import Scene, scene
from plait.core.shape import waves
from plait.front.activity import Activities
from plait.front.eta import Eta
from plait.front.feed import Feed

if TYPE_CHECKING:
    from rich.console import Console

_GLANCE = 0.4  # seconds between two looks at what agents say
_SHARE = 0.1  # of the time, at most, goes into drawing: thousands of tasks are drawn more seldom


class Display:
    """`name` is the shortest one a person can call the batch by. `refresh` may be called as often as one likes."""

    def __init__(
        self,
        console: Console,
        feed: Feed,
        batch: str,
        *,
        name: str | None = None,
        activities: Activities | None = None,
    ) -> None:
        self._console, self._state, self._batch = console, feed.state, batch
        self._name = name or batch
        self._activities = activities
        self._screen = Screen(console)
        self._eta = Eta()
        self._waves: list[list[str]] | None = None
        self._scene: tuple[int, Scene] | None = None
        self._doing: Mapping[str, str] = {}
        self._glanced = float("-inf")
        self._shown: object = None
        self._again = float("-inf")
        self._help = False
        self._last: Page | None = None

    @staticmethod
    def possible(console: Console) -> bool:
        """Whether this is a terminal that can move its cursor."""
        return console.is_terminal and not console.is_dumb_terminal

    def __enter__(self) -> Self:
        self._screen.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._last is not None and kind is None:
            self._screen.clear()
        self._screen.__exit__(kind, error, trace)
        if self._last is not None and kind is None:
            self._last.show(self._console)

    def leave(self, page: Page | None) -> None:
        """When the display closes, this page takes the frame's place; None: the last frame stays."""
        self._last = page

    def keys(self) -> list[str]:
        """What was typed for others to act upon: a, p, d, q, Enter."""
        typed = self._screen.keys()
        if "?" in typed:
            self._help = not self._help
        return [key.lower() for key in typed if key.lower() in "apdq\r\n"]

    def refresh(self, now: float, *, notice: str = "") -> None:
        """Draw if something has changed or a second has passed."""
        if self._batch not in self._state.batches:
            return
        self._glance(now)
        look = self._look(now, notice)
        begun = time.monotonic()
        if (look, self._state.seq) != self._shown and begun >= self._again:
            self._shown = (look, self._state.seq)
            self._screen.show(frame(self._stage(), look))
            self._again = begun + (time.monotonic() - begun) / _SHARE

    def _look(self, now: float, notice: str) -> Look:
        width, height = self._screen.size()
        return Look(
            now=float(int(now)),
            width=width,
            height=height,
            activity=self._doing,
            eta=self._eta.end(self._state, self._batch, now),
            keys=self._screen.has_keys,
            help=self._help,
            notice=notice,
            encoding=self._console.encoding,
        )

    def _glance(self, now: float) -> None:
        if self._activities is not None and abs(now - self._glanced) >= _GLANCE:
            self._glanced = now
            batch = self._state.batches[self._batch]
            alive = sorted(batch.alive.values(), key=lambda attempt: batch.index[attempt.name.task])
            shown = alive[: self._screen.size()[1]]  # there is no room for more
            self._doing = dict(self._activities.look(shown))

    def _stage(self) -> Scene:
        seq = self._state.seq
        if self._waves is None:
            self._waves = waves(self._state.batches[self._batch].plan)
        if self._scene is None or self._scene[0] != seq:
            self._scene = seq, scene(self._state, self._batch, self._waves, self._name)
        return self._scene[1]
