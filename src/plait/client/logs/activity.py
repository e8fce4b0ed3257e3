"""What agents are doing, read from their transcripts in bounded pieces, and only if something was added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from plait.agents.interface import Activity, Agent, OutputParser
from plait.agents.plain_text import to_plain_text, truncate
from plait.agents.redaction import LineRedactor, Redactor
from plait.agents.table import load_agent
from plait.client.event_types import StreamEvent, make_log_event
from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.state import AttemptState
from plait.core.task import Attempt, Step
from plait.runtime.attempt_files import open_transcript
from plait.runtime.executor import Transcript, TranscriptChunk
from plait.store.batch_files import BatchInputs
from plait.store.batch_secrets import identify_environment, load_redactor
from plait.system.state_paths import StateFolder

# The parser for an attempt's output; None: there is none, and lines are shown as they are.
ParserFactory = Callable[[AttemptState], OutputParser | None]

TAIL_BYTES = 8 << 10  # bytes at the end that show what an agent is doing now
CHUNK_BYTES = 64 << 10  # bytes of one attempt to read at a time
MAX_LAG_BYTES = 1 << 20  # if more is unread, the part in between is skipped with a note
MAX_LINE_BYTES = 16 << 10  # the rest of a longer line is ignored
SHORT_ACTIVITY_CHARS = 160  # characters of what an agent is doing now


def make_parser_factory(inputs: BatchInputs) -> ParserFactory:
    """Return a factory of parsers for the batch's own agents; the output of a check is shown as it is."""
    create_parser = load_agent_parsers(inputs)
    return lambda attempt: None if attempt.name.step is Step.VERIFY else create_parser(attempt.agent)


def load_agent_parsers(inputs: BatchInputs) -> Callable[[str], OutputParser | None]:
    """Return a function that creates a parser for the agent of this name, or returns None if there is none."""
    agents: dict[str, Agent | None] = {}

    def create_parser(name: str) -> OutputParser | None:
        if name not in agents:
            agents[name] = None
            with suppress(ConfigError):  # perhaps from another version of plait
                agents[name] = load_agent(inputs.find_agent(name))
        agent = agents[name]
        return agent.create_parser() if agent is not None else None

    return create_parser


class _TranscriptReader:
    """Base of readers of transcripts: it finds the transcript, the parser of its agent, and the redactor of its batch."""

    def __init__(self, folder: StateFolder, parser_factory: ParserFactory | None = None) -> None:
        self._folder = folder
        self._parser_factory = parser_factory
        # By batch, each with the environment that it was made for: a batch that is resumed gets another.
        self._redactors: dict[str, tuple[tuple[int, int] | None, Redactor]] = {}

    def _open(self, attempt: AttemptState) -> tuple[OutputParser | None, LineRedactor]:
        batch = attempt.name.batch
        environment = identify_environment(self._folder.batch(batch))
        known, redactor = self._redactors.get(batch, (None, None))
        if redactor is None or known != environment:
            redactor = load_redactor(self._folder, batch)
            self._redactors[batch] = environment, redactor
        parser = self._parser_factory(attempt) if self._parser_factory is not None else None
        return parser, LineRedactor(redactor)


@dataclass(frozen=True, slots=True)
class _SeenOutput:
    """What was read of a transcript: its size, its last activity, and those in lines that were new and complete."""

    size: int = 0
    last: str = ""
    new: tuple[str, ...] = ()
    lines_end: int = 0  # where the last complete line ends


class ActivityTracker(_TranscriptReader):
    """Finds the last activity of each attempt that was asked for, and the new ones."""

    def __init__(self, folder: StateFolder, parser_factory: ParserFactory | None = None) -> None:
        super().__init__(folder, parser_factory)
        self._seen: dict[Attempt, _SeenOutput] = {}

    def read_latest(self, attempts: Iterable[AttemptState]) -> Mapping[str, str]:
        """Return one line per task. A transcript that did not grow is not read again; the others only at their end."""
        self._seen = {attempt.name: self._read_attempt(attempt) for attempt in attempts}
        return {name.task: seen.last for name, seen in self._seen.items() if seen.last}

    def list_new(self) -> list[tuple[str, str]]:
        """List the tasks and activities that the last `read_latest` found; of each task, in order."""
        return [(name.task, text) for name, seen in self._seen.items() for text in seen.new]

    def _read_attempt(self, attempt: AttemptState) -> _SeenOutput:
        transcript = open_transcript(self._folder, attempt.name)
        seen = self._seen.get(attempt.name, _SeenOutput())
        size = transcript.size()
        if size == seen.size:
            return replace(seen, new=())
        parser, redact = self._open(attempt)
        last, new, lines_end = seen.last, [], seen.lines_end
        for end, is_complete, line in read_last_lines(transcript, size):
            for text in parse_activities(parser, redact(line)):
                last = text
                if is_complete and end > seen.lines_end:
                    new.append(text)
            if is_complete:
                lines_end = end
        return _SeenOutput(size, last, tuple(new), lines_end)


class LogStream(_TranscriptReader):
    """Turns attempts' output into events outside of the journal: a client that missed some reads them by offset."""

    def __init__(self, folder: StateFolder, parser_factory: ParserFactory | None = None) -> None:
        super().__init__(folder, parser_factory)
        self._logs: dict[Attempt, _AttemptLog] = {}

    def read(self, attempts: Iterable[AttemptState], at: float) -> list[StreamEvent]:
        """Return new output of these attempts, a piece of each, and the rest of those that have ended since."""
        running = list(attempts)
        names = {attempt.name for attempt in running}
        ended = [self._logs.pop(name) for name in list(self._logs) if name not in names]
        rest = [event for log in ended for event in log.read_rest(at)]
        return [*rest, *(event for attempt in running for event in self._open_log(attempt).read(at))]

    def finish(self, attempt: AttemptState, at: float) -> list[StreamEvent]:
        """Return the remaining output of an attempt that has ended."""
        log = self._open_log(attempt)
        del self._logs[attempt.name]
        return [*log.read_rest(at)]

    def list_last(self) -> list[StreamEvent]:
        """Return the last activity of each running attempt, for a reader that joins later."""
        return [log.last for log in self._logs.values() if log.last is not None]

    def _open_log(self, attempt: AttemptState) -> _AttemptLog:
        name = attempt.name
        if name not in self._logs:
            self._logs[name] = _AttemptLog(name, open_transcript(self._folder, name), *self._open(attempt))
        return self._logs[name]


@dataclass(slots=True)
class _AttemptLog:
    """How far an attempt's output was read. `partial_line` is the beginning of an incomplete line, which starts at
    `line_offset`. `last`: the last activity.
    """

    name: Attempt
    transcript: Transcript
    parser: OutputParser | None
    redact: LineRedactor
    offset: int = 0
    partial_line: bytes = b""
    line_offset: int = 0
    last: StreamEvent | None = None

    def read(self, now: float) -> Iterator[StreamEvent]:
        behind = self.transcript.size() - self.offset
        if behind > MAX_LAG_BYTES:
            yield from self._skip(self.offset + behind - CHUNK_BYTES, now)
        piece = self.transcript.read(self.offset, CHUNK_BYTES)
        if piece.start > self.offset:
            yield from self._skip(piece.start, now)
        yield from self._split_lines(piece, now)

    def read_rest(self, now: float) -> Iterator[StreamEvent]:
        while True:
            before = self.offset
            yield from self.read(now)
            if self.offset <= before:
                break
        if self.partial_line:
            yield from self._make_line_events(self.partial_line, now)
            self.partial_line = b""

    def _skip(self, to: int, now: float) -> Iterator[StreamEvent]:
        skipped = to - self.line_offset
        yield make_log_event(self.name, now, self.line_offset, {"kind": "skipped", "bytes": skipped})
        self.offset = self.line_offset = to
        self.partial_line = b""

    def _split_lines(self, piece: TranscriptChunk, now: float) -> Iterator[StreamEvent]:
        *whole, rest = piece.data.split(b"\n")
        self.offset = piece.start
        for line in whole:
            yield from self._make_line_events(self.partial_line + line[:MAX_LINE_BYTES], now)
            self.partial_line = b""
            self.offset = self.line_offset = self.offset + len(line) + 1
        self.partial_line = (self.partial_line + rest)[:MAX_LINE_BYTES]
        self.offset = piece.end

    def _make_line_events(self, line: bytes, now: float) -> Iterator[StreamEvent]:
        for text in parse_activities(self.parser, self.redact(line[:MAX_LINE_BYTES].decode("utf-8", "replace"))):
            self.last = make_log_event(self.name, now, self.line_offset, {"kind": "activity", "text": text})
            yield self.last


def read_last_lines(transcript: Transcript, size: int) -> Iterator[tuple[int, bool, str]]:
    """Yield the last lines before `size`, each with its end and whether it is complete.

    One that began earlier is left out if there are others; else its first word, which may be the end of a secret.
    """
    chunk = transcript.read(max(0, size - TAIL_BYTES), min(size, TAIL_BYTES))
    *complete, rest = chunk.data.split(b"\n")
    lines = [*((line, True) for line in complete), *([(rest, False)] if rest else [])]
    end = chunk.start
    for number, (line, is_complete) in enumerate(lines):
        end += len(line) + is_complete
        if number or not chunk.start:
            yield end, is_complete, line.decode("utf-8", "replace")
        elif len(lines) == 1:
            yield end, is_complete, line.decode("utf-8", "replace").partition(" ")[2]


def parse_activities(parser: OutputParser | None, line: str, max_chars: int = SHORT_ACTIVITY_CHARS) -> Iterator[str]:
    """Yield the activities in a line, as text for people."""
    if parser is None:
        text = to_plain_text(line, max_chars)
        if text:
            yield text
        return
    for event in parser.feed(line):
        if isinstance(event, Activity):
            yield truncate(event.text, max_chars)
