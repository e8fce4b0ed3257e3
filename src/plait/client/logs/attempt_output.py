"""What an attempt printed, as people read it: of a tool that prints an object per line, what it says and does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

from plait.agents.interface import Activity, OutputParser, PhaseStarted, QuestionAsked
from plait.agents.output_parser import JsonLinesParser
from plait.agents.redaction import LineRedactor, Redactor, StreamRedactor
from plait.client.logs.attempt_output__neutral import AnsiStripper, strip_ansi
from plait.core.task import Attempt

# Who hears an attempt; None: what it printed is read as it is.
AttemptParserFactory = Callable[[Attempt], OutputParser | None]

_MAX_LINE_BYTES = 1 << 20  # bytes; of a longer one, the end is lost
_REMEMBERED_LINES = 100  # lines that are remembered


class OutputRenderer(Protocol):
    """Bytes in, text out, without secrets and without what could steer a terminal."""

    def feed(self, data: bytes) -> str: ...

    def end(self) -> str: ...


def make_renderer(parser: OutputParser | None, hide: Redactor) -> OutputRenderer:
    return ActivityRenderer(parser, hide) if isinstance(parser, JsonLinesParser) else RawRenderer(hide)


class RawRenderer:
    def __init__(self, hide: Redactor) -> None:
        self._stripper = AnsiStripper()
        self._redacted = StreamRedactor(hide)

    def feed(self, data: bytes) -> str:
        return self._redacted.feed(self._stripper.feed(data))

    def end(self) -> str:
        return self._redacted.feed(self._stripper.end()) + self._redacted.finish()


class ActivityRenderer:
    """A line for each thing that it does; at the end its last message as a whole, and what it says went wrong."""

    def __init__(self, parser: JsonLinesParser, hide: Redactor) -> None:
        self._parser = parser
        self._hide = LineRedactor(hide)
        self._partial_line = b""
        self._shown: deque[str] = deque(maxlen=_REMEMBERED_LINES)

    def feed(self, data: bytes) -> str:
        *whole, rest = data.split(b"\n")
        told = []
        for line in whole:
            told += [*self._render_line((self._partial_line + line)[:_MAX_LINE_BYTES])]
            self._partial_line = b""
        self._partial_line = (self._partial_line + rest)[:_MAX_LINE_BYTES]
        return "".join(told)

    def end(self) -> str:
        told = [*self._render_line(self._partial_line)] if self._partial_line else []
        self._partial_line = b""
        error = self._parser.error
        for words in (self._parser.last_message, error.message if error is not None else ""):
            whole = strip_ansi(words).strip()
            if whole and self._is_new(whole):
                told.append(f"\n{whole}\n")
        return "".join(told)

    def _render_line(self, line: bytes) -> Iterator[str]:
        for signal in self._parser.feed(self._hide(line.decode("utf-8", "replace"))):
            match signal:
                case Activity():
                    said = strip_ansi(signal.text).strip()
                    if not self._shown or said != self._shown[-1]:
                        self._shown.append(said)
                        yield f"{said}\n"
                case PhaseStarted():
                    yield f"── {strip_ansi(signal.name).strip()}\n"
                case QuestionAsked():
                    yield f"asks: {strip_ansi(signal.question).strip()}\n"
                case _:
                    pass

    def _is_new(self, whole: str) -> bool:
        """It was not shown already, in a line of its own."""
        known = whole in self._shown
        self._shown.append(whole)
        return not known
