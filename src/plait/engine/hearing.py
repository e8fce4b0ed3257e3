"""Hearing one transcript: from bytes on disk to lines for a listener, never more than a piece at a time in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from plait.agents.failures import outcome
from plait.agents.model import Listener, Signal
from plait.core.reports import Outcome
from plait.engine import log
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
        self._gap = False  # what comes next is the rest of a line whose beginning was left out
        self._sound = True  # the listener, which may be anybody's
        self._before = transcript.size(path)

    @property
    def past(self) -> bool:
        """What is heard next was printed before anybody listened: to an earlier engine, or to none."""
        return self._at < self._before

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
            self._skip(piece.start)
        self._at = piece.next
        return [signal for line in self._lines(piece.data) for signal in self._heard(line)]

    def hear_the_rest(self) -> Iterator[Signal]:
        """Of much, only the beginning, in which tools say who they are, and the end, in which they say how it went."""
        size = transcript.size(self._path)
        if size - self._at > PIECE + LAST:
            yield from self.hear()
            self._skip(max(self._at, size - LAST))
        while self._at < size:
            before = self._at
            yield from self.hear()
            if self._at <= before:
                break
        if self._open:
            yield from self._heard(self._open)
            self._open = b""

    def end(self, code: int, peak: int) -> Outcome:
        tail = transcript.tail(self._path, TAIL).decode("utf-8", "replace")
        try:
            ended = self._listener.end(code, tail, transcript.written_at(self._path))
        except Exception as error:  # noqa: BLE001 - as in `_heard`
            self._complain(error)
            ended = outcome(code, "")
        return replace(ended, exit_code=code, peak=peak)

    def _heard(self, line: bytes) -> Sequence[Signal]:
        """What a tool prints is never a reason to stop: it would be heard again after every restart."""
        try:
            return self._listener.hear(line[:LINE].decode("utf-8", "replace"))
        except Exception as error:  # noqa: BLE001 - third parties bring listeners
            self._complain(error)
            return ()

    def _complain(self, error: Exception) -> None:
        if self._sound:
            self._sound = False
            log.say(f"warning: what {self._path} holds is not understood by its agent ({error!r})")

    def _skip(self, to: int) -> None:
        if to > self._at:
            self._at, self._open, self._gap = to, b"", True
            try:
                self._listener.missed()
            except Exception as error:  # noqa: BLE001 - as in `_heard`
                self._complain(error)

    def _lines(self, data: bytes) -> Iterator[bytes]:
        *whole, rest = data.split(b"\n")
        for number, line in enumerate(whole):
            if number == 0 and self._gap:
                self._gap = False
            else:
                yield self._open + line if number == 0 else line
        if whole:
            self._open = rest[:LINE]
        elif not self._gap:
            self._open = (self._open + rest)[:LINE]
