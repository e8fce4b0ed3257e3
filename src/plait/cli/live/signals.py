"""Ctrl+C and closed terminals: counted, not raised. Whoever follows a batch says what they mean."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Self

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
