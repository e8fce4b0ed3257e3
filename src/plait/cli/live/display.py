"""The live display of a batch on a terminal: state in, frames out, drawn only when something changed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from plait.agents.output_parser import find_phase
from plait.cli.live.frame import Viewport, render_frame
from plait.cli.live.renderers import Renderer
from plait.cli.live.screen import Screen
from plait.cli.live.view_model import BatchViewModel, build_view_model
from plait.cli.output import Page
from plait.client.eta import EtaEstimator
from plait.client.event_stream import EventStream
from plait.client.logs.activity import ActivityTracker
from plait.core.graph import group_waves

if TYPE_CHECKING:
    from rich.console import Console


_HANDLED_KEYS = frozenset("apdq\r\n")  # by the follower
_FEED_SIZE = 16  # activities kept; some may not be shown
_ACTIVITY_SECONDS = 0.4  # between two reads of the agents' activity
_MAX_DRAW_SHARE = 0.1  # share of the time spent drawing, at most: thousands of tasks are drawn less often


class Display(Renderer):
    """The renderer for terminals. `refresh` may be called at any rate."""

    def __init__(
        self,
        console: Console,
        stream: EventStream,
        batch: str,
        activities: ActivityTracker,
        *,
        stops_on_interrupt: bool = True,
    ) -> None:
        self._console, self._state, self._batch = console, stream.state, batch
        self._stops_on_interrupt = stops_on_interrupt
        self._activities = activities
        self._screen = Screen(console)
        self._eta = EtaEstimator()
        self._waves: list[list[str]] | None = None
        self._model: tuple[int, BatchViewModel] | None = None
        self._activity_by_task: Mapping[str, str] = {}
        self._feed: deque[tuple[str, str]] = deque(maxlen=_FEED_SIZE)
        self._activities_read_at = float("-inf")
        self._last_drawn: object = None
        self._next_draw_at = float("-inf")
        self._shows_help = False
        self._final_page: Page | None = None

    def __enter__(self) -> Self:
        self._screen.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        page = self._final_page if error[0] is None else None
        if page is not None:
            self._screen.clear()
        self._screen.__exit__(*error)
        if page is not None:
            page.show(self._console)

    def finish(self, page: Page | None) -> None:
        """Replace the frame with this page when the display closes; None: the last frame stays."""
        self._final_page = page

    def read_keys(self) -> list[str]:
        """Return the keys that the caller handles: a, p, d, q, Enter."""
        typed = self._screen.keys.read()
        if "?" in typed:
            self._shows_help = not self._shows_help
        return [key.lower() for key in typed if key.lower() in _HANDLED_KEYS]

    def refresh(self, notice: str = "") -> None:
        """Draw if something has changed or a second has passed."""
        if self._batch not in self._state.batches:
            return
        now = time.time()
        self._read_activities(now)
        viewport = self._make_viewport(now, notice)
        started = time.monotonic()
        if (viewport, self._state.seq) != self._last_drawn and started >= self._next_draw_at:
            self._last_drawn = (viewport, self._state.seq)
            self._screen.draw(render_frame(self._get_model(), viewport))
            self._next_draw_at = started + (time.monotonic() - started) / _MAX_DRAW_SHARE

    def _make_viewport(self, now: float, notice: str) -> Viewport:
        width, height = self._screen.get_size()
        return Viewport(
            now=float(int(now)),
            width=width,
            height=height,
            activity=self._activity_by_task,
            feed=tuple(self._feed),
            eta=self._eta.estimate_end(self._state, self._batch, now),
            eta_basis=self._eta.basis,
            keys=self._screen.keys.is_available,
            help=self._shows_help,
            stops_on_interrupt=self._stops_on_interrupt,
            notice=notice,
            encoding=self._console.encoding,
        )

    def _read_activities(self, now: float) -> None:
        if abs(now - self._activities_read_at) >= _ACTIVITY_SECONDS:
            self._activities_read_at = now
            batch = self._state.batches[self._batch]
            alive = sorted(batch.alive.values(), key=lambda attempt: batch.index[attempt.name.task])
            shown = alive[: self._screen.get_size()[1]]  # there is no room for more
            self._activity_by_task = dict(self._activities.read_latest(shown))
            # Rows show the phase.
            self._feed += [(task, text) for task, text in self._activities.list_new() if not find_phase(text)]

    def _get_model(self) -> BatchViewModel:
        seq = self._state.seq
        if self._waves is None:
            self._waves = group_waves(self._state.batches[self._batch].plan)
        if self._model is None or self._model[0] != seq:
            self._model = seq, build_view_model(self._state, self._batch, self._waves)
        return self._model[1]
