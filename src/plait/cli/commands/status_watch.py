"""`plait status --watch`: the same page again at each change."""

from __future__ import annotations

import sys
from contextlib import suppress
from shutil import get_terminal_size

from plait.cli.commands.status import print_status
from plait.cli.live.bell import Bell
from plait.cli.output import OK
from plait.client.batch_lookup import find_batch
from plait.client.project_state import load_settings
from plait.client.session import Session
from plait.core.errors import PlaitError
from plait.store.interfaces import InboxError

NON_TASK_LINES = 7  # of a batch's page, beside its tasks
REFRESH_SECONDS = 1.0  # seconds: how long something takes is shown while nothing else happens


def watch_status(desk: Session, name: str | None, *, as_json: bool) -> int:
    """A page for each change; with a BATCH until it has ended, else until somebody has seen enough."""
    batch = find_batch(desk.preview_state(), name).id if name is not None else None
    screen = sys.stdout.isatty() and not as_json
    bell = _make_bell(desk, batch) if screen else None
    while True:
        if screen:
            sys.stdout.write("\x1b[H\x1b[2J")
        print_status(desk, batch, as_json=as_json, rows=_count_task_rows() if screen else None)
        sys.stdout.flush()
        if batch is not None and batch in desk.state.batches and batch not in desk.state.open:
            return OK
        _wait_for_changes(desk, bell)


def _make_bell(desk: Session, batch: str | None) -> Bell:
    """Settings that can't be read keep nobody from watching."""
    wanted = True
    with suppress(PlaitError):
        wanted = load_settings(desk.place.top).notify.bell
    return Bell(batch, enabled=wanted)


def _wait_for_changes(desk: Session, bell: Bell | None) -> None:
    """On a screen, also how long something takes is shown anew."""
    while True:
        with suppress(InboxError):  # who may only read can watch all the same
            desk.ensure_engine()
        news = desk.wait(REFRESH_SECONDS)
        records = desk.refresh()
        if bell is not None:
            bell.ring_for(desk.state, records)
        if news or bell is not None:
            return


def _count_task_rows() -> int:
    """How many tasks fit beside the other lines; what is on the screen already must not scroll away."""
    return max(1, get_terminal_size().lines - NON_TASK_LINES)
