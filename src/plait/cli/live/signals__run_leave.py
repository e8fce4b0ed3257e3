"""Leaving at once: Ctrl+C, and again, and once more, whatever hangs."""

from __future__ import annotations

import signal

from plait.cli.live.renderers import print_notice
from plait.cli.output import INTERRUPTED
from plait.client.session import Session
from plait.client.session__asking import new_request_id
from plait.core.requests import Stop
from plait.core.state import BatchState


def force_quit(desk: Session, batch: BatchState | None) -> int:
    """The exit code. That the batch is to stop may not have been asked for yet: now it is, and nobody waits for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it has been heard
    if batch is None:
        print_notice("Nothing was started.")
    elif batch.ended is None:
        desk.send_all([Stop(new_request_id(), batch.id, now=True)], timeout=0)
        print_notice(
            f"Batch {batch.id} is asked to stop at once; plait status {batch.id} shows whether it has."
        )
    return INTERRUPTED
