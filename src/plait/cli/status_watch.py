"""`plait status --watch`: the same page again at each change."""

from __future__ import annotations

import sys
from contextlib import suppress
from shutil import get_terminal_size

from plait.cli.bell import Bell
from plait.cli.say import OK
from plait.cli.status import tell
from plait.core.errors import PlaitError
from plait.front.desk import Desk
from plait.front.names import find_batch
from plait.ports import InboxError
from plait.wiring.sources import settings

OTHER_LINES = 7  # of a batch's page, beside its tasks
GLANCE = 1.0  # seconds: how long something takes is shown while nothing else happens


def watched(desk: Desk, word: str | None, *, as_json: bool) -> int:
    """A page for each change; with a BATCH until it has ended, else until somebody has seen enough."""
    batch = find_batch(desk.ahead(), word).id if word is not None else None
    screen = sys.stdout.isatty() and not as_json
    bell = _bell(desk, batch) if screen else None
    while True:
        if screen:
            sys.stdout.write("\x1b[H\x1b[2J")
        tell(desk, batch, as_json=as_json, rows=_rows() if screen else None)
        sys.stdout.flush()
        if batch is not None and batch in desk.state.batches and batch not in desk.state.open:
            return OK
        _await_news(desk, bell)


def _bell(desk: Desk, batch: str | None) -> Bell:
    """Settings that can't be read keep nobody from watching."""
    wanted = True
    with suppress(PlaitError):
        wanted = settings(desk.place.top).notify.bell
    return Bell(batch, wanted=wanted)


def _await_news(desk: Desk, bell: Bell | None) -> None:
    """On a screen, also how long something takes is shown anew."""
    while True:
        with suppress(InboxError):  # who may only read can watch all the same
            desk.tend()
        news = desk.wait(GLANCE)
        records = desk.refresh()
        if bell is not None:
            bell.hear(desk.state, records)
        if news or bell is not None:
            return


def _rows() -> int:
    """How many tasks fit beside the other lines; what is on the screen already must not scroll away."""
    return max(1, get_terminal_size().lines - OTHER_LINES)
