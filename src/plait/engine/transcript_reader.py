"""Hearing one transcript: from bytes on disk to lines for a listener, never more than a piece at a time in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.agents.error_patterns import classify_exit
from plait.agents.interface import AgentEvent, OutputParser
from plait.core.reports import Outcome
from plait.runtime.executor import Transcript
from plait.system import log

CHUNK_BYTES = 1 << 20  # bytes heard at a time
FINAL_BYTES = 1 << 20  # bytes that are still heard when the attempt has ended
MAX_LINE_BYTES = 64 << 10  # of a longer line, the rest is passed over
EXIT_TAIL_BYTES = 8 << 10  # bytes that an exit is judged by


class TranscriptReader:
    def __init__(self, transcript: Transcript, listener: OutputParser) -> None:
        self._transcript = transcript
        self._listener = listener
        self._offset = 0
        self._size = 0
        self._partial_line = b""  # the beginning of a line whose end has not come yet
        self._skipping_line = False  # what comes next is the rest of a line whose beginning was left out
        self._listener_works = True  # the listener, which may be anybody's
        self._initial_size = transcript.size()

    @property
    def is_catching_up(self) -> bool:
        """What is heard next was printed before anybody listened: to an earlier engine, or to none."""
        return self._offset < self._initial_size

    def check_growth(self) -> bool:
        size = self._transcript.size()
        grown, self._size = size > self._offset, size
        return grown

    def read_signals(self) -> list[AgentEvent]:
        """One piece, however much there is."""
        piece = self._transcript.read(self._offset, CHUNK_BYTES)
        if piece.start > self._offset:
            self._skip_to(piece.start)
        self._offset = piece.end
        return [signal for line in self._split_lines(piece.data) for signal in self._parse_line(line)]

    def read_remaining(self) -> Iterator[AgentEvent]:
        """Of much, only the beginning, in which tools say who they are, and the end, in which they say how it went."""
        size = self._transcript.size()
        if size - self._offset > CHUNK_BYTES + FINAL_BYTES:
            yield from self.read_signals()
            self._skip_to(max(self._offset, size - FINAL_BYTES))
        while self._offset < size:
            before = self._offset
            yield from self.read_signals()
            if self._offset <= before:
                break
        if self._partial_line:
            yield from self._parse_line(self._partial_line)
            self._partial_line = b""

    def build_outcome(self, code: int, peak: int) -> Outcome:
        tail = self._transcript.tail(EXIT_TAIL_BYTES).decode("utf-8", "replace")
        try:
            ended = self._listener.finish(code, tail, self._transcript.last_written())
        except Exception as error:  # noqa: BLE001 - as in `_heard`
            self._warn_once(error)
            ended = classify_exit(code, "")
        return replace(ended, exit_code=code, peak=peak)

    def _parse_line(self, line: bytes) -> Sequence[AgentEvent]:
        """What a tool prints is never a reason to stop: it would be heard again after every restart."""
        try:
            return self._listener.feed(line[:MAX_LINE_BYTES].decode("utf-8", "replace"))
        except Exception as error:  # noqa: BLE001 - third parties bring listeners
            self._warn_once(error)
            return ()

    def _warn_once(self, error: Exception) -> None:
        if self._listener_works:
            self._listener_works = False
            log.write_line(f"warning: {self._transcript} is not understood by its agent ({error!r})")

    def _skip_to(self, to: int) -> None:
        if to > self._offset:
            self._offset, self._partial_line, self._skipping_line = to, b"", True
            try:
                self._listener.mark_gap()
            except Exception as error:  # noqa: BLE001 - as in `_heard`
                self._warn_once(error)

    def _split_lines(self, data: bytes) -> Iterator[bytes]:
        *whole, rest = data.split(b"\n")
        for number, line in enumerate(whole):
            if number == 0 and self._skipping_line:
                self._skipping_line = False
            else:
                yield self._partial_line + line if number == 0 else line
        if whole:
            self._partial_line = rest[:MAX_LINE_BYTES]
        elif not self._skipping_line:
            self._partial_line = (self._partial_line + rest)[:MAX_LINE_BYTES]
