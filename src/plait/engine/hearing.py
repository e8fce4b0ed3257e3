"""Hearing one transcript: from bytes on disk to lines for a listener, never more than a piece at a time in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from plait.agents.model import Listener, Signal
from plait.core.reports import Outcome
from plait.site import transcript

PIECE = 1 << 20  # bytes heard at a time
LAST = 1 << 20  # bytes that are still heard when the attempt has ended
LINE = 64 << 10  # of a longer line, the rest is passed over
TAIL = 8 << 10  # bytes that an exit is judged by


class Hearing:
    def __init__(self, path: Path, listener: Listener, *, cap: int) -> None:
        self._path = path
        self._listener = listener
        self._cap = cap
        self._at = 0
        self._size = 0
        self._open = b""  # the beginning of a line whose end has not come yet

    def grew(self) -> bool:
        size = transcript.size(self._path)
        grown, self._size = size > self._at, size
        if size > self._cap:
            transcript.trim(self._path, self._cap)
        return grown

    def hear(self) -> list[Signal]:
        """One piece, however much there is."""
        piece = transcript.read(self._path, self._at, PIECE)
        if piece.start > self._at:
            self._open = b""  # what lay between was left out
        self._at = piece.next
        return [signal for line in self._lines(piece.data) for signal in self._listener.hear(line)]

    def hear_the_rest(self) -> Iterator[Signal]:
        size = transcript.size(self._path)
        if size - self._at > LAST:
            self._at, self._open = size - LAST, b""
        while self._at < size:
            before = self._at
            yield from self.hear()
            if self._at <= before:
                break
        if self._open:
            yield from self._listener.hear(self._open.decode("utf-8", "replace"))
            self._open = b""

    def end(self, code: int, peak: int) -> Outcome:
        tail = transcript.tail(self._path, TAIL).decode("utf-8", "replace")
        return replace(self._listener.end(code, tail), exit_code=code, peak=peak)

    def _lines(self, data: bytes) -> Iterator[str]:
        *whole, rest = data.split(b"\n")
        for number, line in enumerate(whole):
            full = self._open + line if number == 0 else line
            yield full[:LINE].decode("utf-8", "replace")
        if whole:
            self._open = rest[:LINE]
        else:
            self._open = (self._open + rest)[:LINE]
