"""Ctrl+C and closed terminals: counted, not raised. Whoever follows a batch says what they mean."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Self

_PATIENCE = 2  # so often Ctrl+C asks; after that it leaves, whatever hangs
_LEAVING = (signal.SIGTERM, signal.SIGHUP)


class Calls:
    """`stops`: how often Ctrl+C was pressed; `leave`: the signal after which this front goes, and the batch goes on."""

    def __init__(self) -> None:
        self.stops = 0
        self.leave: signal.Signals | None = None
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, *_LEAVING):
            # Whoever started this with a signal ignored (nohup, a background job) wants it so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hear(self, number: int, _: FrameType | None) -> None:
        if number in _LEAVING:
            self.leave = signal.Signals(number)
            return
        self.stops += 1
        if self.stops > _PATIENCE:
            raise KeyboardInterrupt
