"""Signals from and to the terminal while a batch is followed: Ctrl+C stops it, a third one quits; the bell rings at its end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Self

from plait.cli.output import INTERRUPTED, print_notice
from plait.client.session import Session, new_request_id
from plait.core.errors import PlaitError
from plait.core.events import Record
from plait.core.notifications import NotificationBuilder
from plait.core.requests import Stop
from plait.core.settings import NotificationKind
from plait.core.state import BatchState, State

_MAX_INTERRUPTS = 2  # after these, Ctrl+C raises KeyboardInterrupt
_EXIT_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class SignalCounter:
    """Counts Ctrl+C instead of raising, and notes SIGTERM and SIGHUP, which end this process but not the batch."""

    def __init__(self) -> None:
        self.interrupts = 0
        self.exit_signal: signal.Signals | None = None
        self._previous_handlers: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, *_EXIT_SIGNALS):
            # A signal ignored by the parent (nohup, a background job) stays ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous_handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: FrameType | None) -> None:
        if number in _EXIT_SIGNALS:
            self.exit_signal = signal.Signals(number)
            return
        self.interrupts += 1
        if self.interrupts > _MAX_INTERRUPTS:
            raise KeyboardInterrupt


def force_quit(session: Session, batch: BatchState | None) -> int:
    """Ask the batch to stop, without waiting for it, and return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # already handled
    if batch is None:
        print_notice("Nothing was started.")
    elif batch.ended is None:
        session.send_all([Stop(new_request_id(), batch.id, now=True)], timeout=0)
        print_notice(f"Asked batch {batch.id} to stop immediately. To check: plait status {batch.id}")
    return INTERRUPTED


BELL_CHAR = "\a"
_RINGING_KINDS = frozenset(
    {
        NotificationKind.FINISHED,
        NotificationKind.FAILED,
        NotificationKind.CANCELLED,
        NotificationKind.NEEDS_PERSON,
    }
)


def load_bell_setting(top: Path) -> bool:
    """Load the setting of the bell; unreadable settings don't prevent watching."""
    from plait.client.project_state import load_project_config  # slow to import; a run has its settings already

    with suppress(PlaitError):
        return load_project_config(top).notify.bell
    return True


class Bell:
    """Rings when `batch` (None: any) ends or starts to wait for a person. Only on a terminal."""

    def __init__(self, batch: str | None, *, enabled: bool) -> None:
        self._batch = batch
        self._notifications = NotificationBuilder()
        self._enabled = enabled and sys.stdout.isatty()

    def ring_for(self, state: State, records: Iterable[Record]) -> None:
        """Ring at most once for these records, which `state` includes already."""
        if not self._enabled:
            return
        notifications = self._notifications.add(state, records)
        if any(
            notification.kind in _RINGING_KINDS and self._concerns(notification.batch) for notification in notifications
        ):
            with suppress(OSError, ValueError):  # the terminal was closed
                sys.stdout.write(BELL_CHAR)
                sys.stdout.flush()

    def _concerns(self, batch: str | None) -> bool:
        return batch is None or self._batch in {None, batch}
