"""How a transcript is told: as people read it, as it is, or as JSON lines; without secrets, in any way."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Protocol

from plait.agents.redaction import LineRedactor, Redactor, StreamRedactor
from plait.client.history__past import format_attempt_label
from plait.client.logs.attempt_output import ActivityRenderer, AttemptParserFactory, make_renderer
from plait.client.logs.attempt_output__output import OutputChunk, OutputGap
from plait.core.task import Attempt


class TranscriptWriter(Protocol):
    def begin(self, attempt: Attempt) -> None: ...

    def write(self, pieces: Iterable[OutputChunk | OutputGap]) -> None:
        """Shown at once."""

    def end(self) -> bool:
        """The attempt is over; whether anything was printed."""

    @property
    def is_condensed(self) -> bool:
        """Whether it is told in other words than the tool's own."""


def make_transcript_writer(
    redaction: Redactor, listen: AttemptParserFactory, *, raw: bool, as_json: bool
) -> TranscriptWriter:
    if as_json:
        return _JsonWriter(redaction)
    return _RawWriter(redaction) if raw else _ReadableWriter(redaction, listen)


class _ReadableWriter:
    """From the second attempt on, each has its name above it."""

    def __init__(self, redaction: Redactor, listen: AttemptParserFactory) -> None:
        self._redaction = redaction
        self._listen = listen
        self._parser = make_renderer(None, redaction)
        self._attempts = 0
        self._has_output = False
        self._open_line = False

    def begin(self, attempt: Attempt) -> None:
        self._attempts += 1
        self._has_output = False
        self._parser = make_renderer(self._listen(attempt), self._redaction)
        if self._attempts > 1:
            self._write(f"\n── {format_attempt_name(attempt)} ──\n")

    def write(self, pieces: Iterable[OutputChunk | OutputGap]) -> None:
        for piece in pieces:
            self._has_output = True
            if isinstance(piece, OutputChunk):
                self._write(self._parser.feed(piece.data))
            else:
                self._write(self._parser.end())
                self._end_line()
                self._write(f"[… {format_size(piece.size)} left out here …]\n")
        sys.stdout.flush()

    def end(self) -> bool:
        self._write(self._parser.end())
        self._end_line()
        sys.stdout.flush()
        return self._has_output

    @property
    def is_condensed(self) -> bool:
        return isinstance(self._parser, ActivityRenderer)

    def _end_line(self) -> None:
        if self._open_line:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._open_line = not text.endswith("\n")
            sys.stdout.write(text)


class _RawWriter:
    """Byte for byte, but for secrets; what is left out is told elsewhere."""

    is_condensed = False

    def __init__(self, redaction: Redactor) -> None:
        self._redactor = StreamRedactor(redaction)
        self._has_output = False

    def begin(self, attempt: Attempt) -> None:  # noqa: ARG002 - nothing is added
        sys.stdout.flush()
        self._has_output = False

    def write(self, pieces: Iterable[OutputChunk | OutputGap]) -> None:
        for piece in pieces:
            self._has_output = True
            if isinstance(piece, OutputChunk):
                # Bytes that are no text come out as they went in.
                self._write(self._redactor.feed(piece.data.decode("utf-8", "surrogateescape")))
            else:
                self._write(self._redactor.finish())
                sys.stdout.buffer.flush()
                print(f"plait: {format_size(piece.size)} left out here", file=sys.stderr)  # noqa: T201 - beside the output
        sys.stdout.buffer.flush()

    def end(self) -> bool:
        self._write(self._redactor.finish())
        sys.stdout.buffer.flush()
        return self._has_output

    def _write(self, text: str) -> None:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


class _JsonWriter:
    """An `execution:log` event per line; a line that is longer than a piece comes in several."""

    is_condensed = False

    def __init__(self, redaction: Redactor) -> None:
        self._redact_line = LineRedactor(redaction)
        self._attempt: Attempt | None = None
        self._partial, self._offset = b"", 0
        self._has_output = False

    def begin(self, attempt: Attempt) -> None:
        self._attempt, self._partial, self._offset, self._has_output = attempt, b"", 0, False

    def write(self, pieces: Iterable[OutputChunk | OutputGap]) -> None:
        for piece in pieces:
            self._has_output = True
            if isinstance(piece, OutputChunk):
                self._write_lines(piece)
            else:
                self._flush()
                self._write_event(piece.offset, {"kind": "skipped", "bytes": piece.size})
        sys.stdout.flush()

    def end(self) -> bool:
        self._flush()
        sys.stdout.flush()
        return self._has_output

    def _write_lines(self, piece: OutputChunk) -> None:
        if not self._partial:
            self._offset = piece.offset
        *whole, rest = piece.data.split(b"\n")
        for line in whole:
            said = self._partial + line
            self._write_text(said)
            self._offset += len(said) + 1
            self._partial = b""
        self._partial += rest
        if len(self._partial) > len(piece.data):  # it began before this piece, and does not end in it
            self._flush()

    def _flush(self) -> None:
        if self._partial:
            self._write_text(self._partial)
            self._offset += len(self._partial)
            self._partial = b""

    def _write_text(self, data: bytes) -> None:
        self._write_event(
            self._offset, {"kind": "output", "text": self._redact_line(data.decode("utf-8", "replace"))}
        )

    def _write_event(self, offset: int, entry: dict[str, object]) -> None:
        from plait.client.stream_event import EventType, StreamEvent, format_json_line  # noqa: PLC0415 - people are told in words

        assert self._attempt is not None
        name = self._attempt
        more = {"step": name.step.value if name.task else "gate", "offset": offset, "entry": entry}
        event = StreamEvent(
            None, time.time(), EventType.EXECUTION_LOG, name.batch, name.task or None, name.n, more
        )
        sys.stdout.write(f"{format_json_line(event)}\n")


def format_attempt_name(attempt: Attempt) -> str:
    """`03-split write-2`; a gate is no task's."""
    return f"{attempt.task} {format_attempt_label(attempt)}" if attempt.task else f"gate {attempt.n}"


def format_size(size: int) -> str:
    """Bytes in words for people."""
    if size < 1000:
        return f"{size} bytes"
    power = min(3, (len(str(size)) - 1) // 3)
    return f"{size / 1000**power:.1f} {' kMG'[power]}B"
