"""Choose an attempt, read what it printed piece by piece, and render it safely for a terminal."""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Protocol

from plait.agents.interface import Activity, OutputParser, PhaseStarted, QuestionAsked
from plait.agents.output_parser import JsonLinesParser
from plait.agents.redaction import LineRedactor, Redactor, StreamRedactor
from plait.client.history import PastAttempt, read_history
from plait.client.logs.activity import load_agent_parsers
from plait.core.fast_dataclass import dataclass
from plait.core.state import State
from plait.core.task import Attempt, Step
from plait.git.location import RepoLocation
from plait.runtime.executor import Transcript, TranscriptChunk
from plait.store import project_files
from plait.store.batch_files import BatchInputsError
from plait.store.interfaces import JournalMissingError


def is_attempt_running(state: State, attempt: Attempt) -> bool:
    if not attempt.is_gate:
        return state.find_attempt(attempt) is not None
    batch = state.batches.get(attempt.batch)
    return batch is not None and batch.gate is not None and batch.gate.n == attempt.n


def find_parser(location: RepoLocation, attempt: Attempt) -> OutputParser | None:
    """Find in the journal the agent that made the attempt, and return its output parser."""
    try:
        with closing(project_files.open_project_journal(location)) as reader:
            attempts = read_history(reader.read(), attempt.batch).list_attempts(attempt.task)
    except JournalMissingError:
        return None
    return load_parser(location, attempt, attempts)


def load_parser(location: RepoLocation, attempt: Attempt, attempts: Sequence[PastAttempt]) -> OutputParser | None:
    """Return the output parser of the agent that made the attempt; None for checks and gates."""
    agent = next((past.agent for past in attempts if past.attempt == attempt), None)
    if agent is None or attempt.is_gate or attempt.step is Step.VERIFY:
        return None
    try:
        return load_agent_parsers(project_files.load_batch_inputs(location, attempt.batch))(agent)
    except BatchInputsError:
        return None


OUTPUT_CHUNK_BYTES = 64 << 10

_MAX_LINE_BYTES = 1 << 20  # the rest of a longer line is dropped
_REMEMBERED_LINES = 100


@dataclass(frozen=True, slots=True)
class OutputGap:
    """A gap in the output: `size` bytes at `offset` are gone, because the transcript exceeded its cap."""

    offset: int
    size: int


class OutputReader:
    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._offset = 0

    def read_new(self) -> Iterator[TranscriptChunk | OutputGap]:
        """Yield what was printed since the last call."""
        while True:
            chunk = self._transcript.read(self._offset, OUTPUT_CHUNK_BYTES)
            if not chunk.data:
                return
            if chunk.start > self._offset:
                yield OutputGap(self._offset, chunk.start - self._offset)
            yield chunk
            self._offset = chunk.end


# The parser of an attempt's output; None: it is shown as it is.
AttemptParserFactory = Callable[[Attempt], OutputParser | None]


class OutputRenderer(Protocol):
    """Renders bytes as text, without secrets and terminal control sequences."""

    def feed(self, data: bytes) -> str: ...

    def end(self) -> str: ...


def make_renderer(parser: OutputParser | None, redactor: Redactor) -> OutputRenderer:
    return ActivityRenderer(parser, redactor) if isinstance(parser, JsonLinesParser) else RawRenderer(redactor)


class RawRenderer:
    def __init__(self, redactor: Redactor) -> None:
        self._stripper = AnsiStripper()
        self._redactor = StreamRedactor(redactor)

    def feed(self, data: bytes) -> str:
        return self._redactor.feed(self._stripper.feed(data))

    def end(self) -> str:
        return self._redactor.feed(self._stripper.end()) + self._redactor.finish()


class ActivityRenderer:
    """Renders a line for each activity; at the end the whole last message and the error, if any."""

    def __init__(self, parser: JsonLinesParser, redactor: Redactor) -> None:
        self._parser = parser
        self._redact = LineRedactor(redactor)
        self._partial_line = b""
        self._shown: deque[str] = deque(maxlen=_REMEMBERED_LINES)

    def feed(self, data: bytes) -> str:
        *whole, rest = data.split(b"\n")
        rendered = []
        for line in whole:
            rendered += [*self._render_line((self._partial_line + line)[:_MAX_LINE_BYTES])]
            self._partial_line = b""
        self._partial_line = (self._partial_line + rest)[:_MAX_LINE_BYTES]
        return "".join(rendered)

    def end(self) -> str:
        rendered = [*self._render_line(self._partial_line)] if self._partial_line else []
        self._partial_line = b""
        error = self._parser.error
        for text in (self._parser.last_message, error.message if error is not None else ""):
            message = strip_ansi(text).strip()
            if message and self._is_new(message):
                rendered.append(f"\n{message}\n")
        return "".join(rendered)

    def _render_line(self, line: bytes) -> Iterator[str]:
        for event in self._parser.feed(self._redact(line.decode("utf-8", "replace"))):
            match event:
                case Activity():
                    text = strip_ansi(event.text).strip()
                    if not self._shown or text != self._shown[-1]:
                        self._shown.append(text)
                        yield f"{text}\n"
                case PhaseStarted():
                    yield f"── {strip_ansi(event.name).strip()}\n"
                case QuestionAsked():
                    yield f"asks: {strip_ansi(event.question).strip()}\n"
                case _:
                    pass

    def _is_new(self, text: str) -> bool:
        """Whether the text wasn't shown as a line already."""
        is_known = text in self._shown
        self._shown.append(text)
        return not is_known


# A longer sequence is text.
_ANSI_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}[@-~]"  # colours, cursors
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[ -/]{0,16}[0-Z\\`-~]"
)


_PARTIAL_SEQUENCE = re.compile(
    r"(?:\x1b(?:\[[0-?]{0,256}[ -/]{0,16}|[\]PX^_][^\x07\x1b]{0,4096}\x1b?|[ -/]{0,16})"
    r"|\x9b[0-?]{0,256}[ -/]{0,16})\Z"
)


_LINE_END = re.compile(r"\r+\n?")  # through a terminal, CRLF becomes CR CR LF


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x80-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class AnsiStripper:
    """Renders bytes as text. The start of a sequence or of a line end is held back until the rest arrives."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, data: bytes) -> str:
        # DEL, with which masks are padded, is nothing to see.
        text = self._held + self._decoder.decode(data).replace("\x7f", "")
        if text.isascii() and text.isprintable():
            self._held = ""
            return text
        partial = _PARTIAL_SEQUENCE.search(text)
        end = len(text) if partial is None else partial.start()
        complete = _ANSI_SEQUENCE.sub("", text[:end])
        whole = complete.rstrip("\r")
        self._held = complete[len(whole) :][:1] + text[end:]
        return _replace_controls(whole)

    def end(self) -> str:
        text, self._held = self._held + self._decoder.decode(b"", final=True), ""
        self._decoder.reset()
        return _replace_controls(_ANSI_SEQUENCE.sub("", text))


def strip_ansi(text: str) -> str:
    """Remove colours and other terminal control sequences."""
    stripper = AnsiStripper()
    return stripper.feed(text.encode("utf-8", "replace")) + stripper.end()


def _replace_controls(text: str) -> str:
    """Replace control characters; each redraw of a line (a progress bar) becomes a line."""
    return _CONTROL.sub("\ufffd", _LINE_END.sub("\n", text))
