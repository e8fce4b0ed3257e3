"""Parse a transcript: from bytes to lines to an agent's events, one chunk at a time in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.agents.error_patterns import classify_exit
from plait.agents.interface import AgentEvent, OutputParser
from plait.core.reports import Outcome
from plait.runtime.executor import Transcript
from plait.system import log

CHUNK_BYTES = 1 << 20  # read at a time
FINAL_BYTES = 1 << 20  # read from the end when the attempt has exited
MAX_LINE_BYTES = 64 << 10  # of a longer line, the rest is ignored
EXIT_TAIL_BYTES = 8 << 10  # that an exit is classified by


class TranscriptReader:
    def __init__(self, transcript: Transcript, parser: OutputParser) -> None:
        self._transcript = transcript
        self._parser = parser
        self._offset = 0
        self._size = 0
        self._partial_line = b""
        self._skipping_line = False  # the next bytes belong to a line whose beginning was skipped
        self._has_warned = False
        self._initial_size = transcript.size()

    @property
    def is_catching_up(self) -> bool:
        """Whether what is read next was printed before this engine watched the attempt."""
        return self._offset < self._initial_size

    def check_growth(self) -> bool:
        size = self._transcript.size()
        grown, self._size = size > self._offset, size
        return grown

    def read_events(self) -> list[AgentEvent]:
        """Return the events in the next chunk."""
        chunk = self._transcript.read(self._offset, CHUNK_BYTES)
        if chunk.start > self._offset:
            self._skip_to(chunk.start)
        self._offset = chunk.end
        return [event for line in self._split_lines(chunk.data) for event in self._parse_line(line)]

    def read_remaining(self) -> Iterator[AgentEvent]:
        """Yield the events in the rest; if it is long, only in its beginning (sessions) and its end (results)."""
        size = self._transcript.size()
        if size - self._offset > CHUNK_BYTES + FINAL_BYTES:
            yield from self.read_events()
            self._skip_to(max(self._offset, size - FINAL_BYTES))
        while self._offset < size:
            before = self._offset
            yield from self.read_events()
            if self._offset <= before:
                break
        if self._partial_line:
            yield from self._parse_line(self._partial_line)
            self._partial_line = b""

    def build_outcome(self, code: int, peak: int) -> Outcome:
        tail = self._transcript.tail(EXIT_TAIL_BYTES).decode("utf-8", "replace")
        try:
            ended = self._parser.finish(code, tail, self._transcript.last_written())
        except Exception as error:  # noqa: BLE001 - as in `_parse_line`
            self._warn_once(error)
            ended = classify_exit(code, "")
        return replace(ended, exit_code=code, peak=peak)

    def _parse_line(self, line: bytes) -> Sequence[AgentEvent]:
        """Parse a line. A parser's failure is only logged, because it would stop the engine again after every restart."""
        try:
            return self._parser.feed(line[:MAX_LINE_BYTES].decode("utf-8", "replace"))
        except Exception as error:  # noqa: BLE001 - parsers may be plugins
            self._warn_once(error)
            return ()

    def _warn_once(self, error: Exception) -> None:
        if not self._has_warned:
            self._has_warned = True
            log.write_line(f"warning: {self._transcript} is not understood by its agent ({error!r})")

    def _skip_to(self, to: int) -> None:
        if to > self._offset:
            self._offset, self._partial_line, self._skipping_line = to, b"", True
            try:
                self._parser.mark_gap()
            except Exception as error:  # noqa: BLE001 - as in `_parse_line`
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
