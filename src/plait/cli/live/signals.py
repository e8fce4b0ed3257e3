"""Ctrl+C and closed terminals: counted, not raised. Whoever follows a batch says what they mean.

Leaving at once: Ctrl+C, and again, and once more, whatever hangs.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Self

from plait.cli.output import INTERRUPTED, print_notice
from plait.client.session import Session, new_request_id
from plait.core.requests import Stop
from plait.core.state import BatchState

_MAX_INTERRUPTS = 2  # so often Ctrl+C asks; after that it leaves, whatever hangs


_EXIT_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class SignalCounter:
    """`stops`: how often Ctrl+C was pressed; `leave`: the signal after which this front goes, and the batch goes on."""

    def __init__(self) -> None:
        self.interrupts = 0
        self.exit_signal: signal.Signals | None = None
        self._previous_handlers: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, *_EXIT_SIGNALS):
            # Whoever started this with a signal ignored (nohup, a background job) wants it so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous_handlers[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: FrameType | None) -> None:
        if number in _EXIT_SIGNALS:
            self.exit_signal = signal.Signals(number)
            return
        self.interrupts += 1
        if self.interrupts > _MAX_INTERRUPTS:
            raise KeyboardInterrupt


def force_quit(desk: Session, batch: BatchState | None) -> int:
    """The exit code. That the batch is to stop may not have been asked for yet: now it is, and nobody waits for it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it has been heard
    if batch is None:
        print_notice("Nothing was started.")
    elif batch.ended is None:
        desk.send_all([Stop(new_request_id(), batch.id, now=True)], timeout=0)
        print_notice(f"Batch {batch.id} is asked to stop at once; plait status {batch.id} shows whether it has.")
    return INTERRUPTED
