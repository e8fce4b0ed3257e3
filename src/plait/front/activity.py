"""What agents are doing: read from their transcripts, in bounded pieces, and only where something was added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from plait.agents.discretion import Discretion, Lines
from plait.agents.model import Activity, Agent, Listener
from plait.agents.plain import plain
from plait.agents.table import load
from plait.core.errors import ConfigError
from plait.core.frozen import dataclass
from plait.core.state import AttemptState
from plait.core.task import Attempt, Step
from plait.front.event import Event, EventType
from plait.kit import Kit
from plait.site import transcript
from plait.site.folder import StateFolder
from plait.wiring.secrets import discretion

# Who hears a running attempt; None: nobody knows how, so that its lines are taken as they are.
Listen = Callable[[AttemptState], Listener | None]

LAST = 8 << 10  # bytes that tell what an agent does now
PIECE = 64 << 10  # bytes of one attempt that are told at a time
BEHIND = 1 << 20  # with more than that to tell, what lies between is left out, and said to be
LINE = 16 << 10  # of a longer line, the rest is passed over
_SHOWN = 160  # characters


def listening(kit: Kit) -> Listen:
    """Through the batch's own agents. What a check prints is for people as it is."""
    listener = listeners(kit)
    return lambda attempt: None if attempt.name.step is Step.VERIFY else listener(attempt.agent)


def listeners(kit: Kit) -> Callable[[str], Listener | None]:
    """A fresh one for the agent of this name; None: nobody knows how to hear it."""
    agents: dict[str, Agent | None] = {}

    def listener(name: str) -> Listener | None:
        if name not in agents:
            agents[name] = None
            with suppress(ConfigError):  # of another version of plait, perhaps
                agents[name] = load(kit.spec(name))
        known = agents[name]
        return known.listen() if known is not None else None

    return listener


class _Secrets:
    """What is not told, by batch: looked up once."""

    def __init__(self, folder: StateFolder) -> None:
        self._folder = folder
        self._known: dict[str, Discretion] = {}

    def of(self, batch: str) -> Discretion:
        if batch not in self._known:
            self._known[batch] = discretion(self._folder, batch)
        return self._known[batch]


class Activities:
    """The last activity of each attempt that is looked at."""

    def __init__(self, folder: StateFolder, listen: Listen | None = None) -> None:
        self._folder = folder
        self._listen = listen
        self._secrets = _Secrets(folder)
        self._known: dict[Attempt, tuple[int, str]] = {}

    def look(self, attempts: Iterable[AttemptState]) -> Mapping[str, str]:
        """A line per task. A transcript that did not grow is not read again; the others only at their end."""
        self._known = {attempt.name: self._now(attempt) for attempt in attempts}
        return {name.task: said for name, (_, said) in self._known.items() if said}

    def _now(self, attempt: AttemptState) -> tuple[int, str]:
        path = self._folder.attempt(attempt.name).transcript
        size, said = self._known.get(attempt.name, (0, ""))
        grown = transcript.size(path)
        if grown == size:
            return size, said
        listener = self._listen(attempt) if self._listen is not None else None
        hide = Lines(self._secrets.of(attempt.name.batch))
        for line in last_lines(path, LAST):
            for text in heard(listener, hide(line)):
                said = text
        return grown, said


class Logs:
    """What attempts say, as events. They do not stand in the journal: whoever missed some asks by offset."""

    def __init__(self, folder: StateFolder, listen: Listen | None = None) -> None:
        self._folder = folder
        self._listen = listen
        self._secrets = _Secrets(folder)
        self._open: dict[Attempt, _Log] = {}

    def read(self, attempts: Iterable[AttemptState], at: float) -> list[Event]:
        """What was added since the last time, of each a piece at most."""
        return [event for attempt in attempts for event in self._log(attempt).read(at)]

    def finish(self, attempt: AttemptState, at: float) -> list[Event]:
        """All that is left of an attempt that has ended."""
        log = self._log(attempt)
        del self._open[attempt.name]
        return [*log.rest(at)]

    def _log(self, attempt: AttemptState) -> _Log:
        if attempt.name not in self._open:
            path = self._folder.attempt(attempt.name).transcript
            listener = self._listen(attempt) if self._listen is not None else None
            hide = Lines(self._secrets.of(attempt.name.batch))
            self._open[attempt.name] = _Log(attempt.name, path, listener, hide)
        return self._open[attempt.name]


@dataclass(slots=True)
class _Log:
    """`begun` is the beginning of a line that starts at `line_at` and whose end has not come yet."""

    name: Attempt
    path: Path
    listener: Listener | None
    hide: Lines
    at: int = 0
    begun: bytes = b""
    line_at: int = 0

    def read(self, now: float) -> Iterator[Event]:
        behind = transcript.size(self.path) - self.at
        if behind > BEHIND:
            yield from self._skip(self.at + behind - PIECE, now)
        piece = self._piece()
        if piece.start > self.at:
            yield from self._skip(piece.start, now)
        yield from self._lines(piece, now)

    def rest(self, now: float) -> Iterator[Event]:
        while True:
            before = self.at
            yield from self.read(now)
            if self.at <= before:
                break
        if self.begun:
            yield from self._tell(self.begun, now)
            self.begun = b""

    def _piece(self) -> transcript.Piece:
        try:
            return transcript.read(self.path, self.at, PIECE)
        except OSError:  # it costs these lines, not the batch's other news
            return transcript.Piece(self.at, b"")

    def _skip(self, to: int, now: float) -> Iterator[Event]:
        yield self._event({"kind": "skipped", "bytes": to - self.line_at}, now)
        self.at = self.line_at = to
        self.begun = b""

    def _lines(self, piece: transcript.Piece, now: float) -> Iterator[Event]:
        *whole, rest = piece.data.split(b"\n")
        self.at = piece.start
        for line in whole:
            yield from self._tell(self.begun + line[:LINE], now)
            self.begun = b""
            self.at = self.line_at = self.at + len(line) + 1
        self.begun = (self.begun + rest)[:LINE]
        self.at = piece.next

    def _tell(self, line: bytes, now: float) -> Iterator[Event]:
        for said in heard(self.listener, self.hide(line[:LINE].decode("utf-8", "replace"))):
            yield self._event({"kind": "activity", "text": said}, now)

    def _event(self, entry: dict[str, object], now: float) -> Event:
        more = {"step": self.name.step.value, "offset": self.line_at, "entry": entry}
        return Event(None, now, EventType.EXECUTION_LOG, self.name.batch, self.name.task, self.name.n, more)


def last_lines(path: Path, most: int) -> list[str]:
    """The lines at the end of a file; one that began before is left out if there are others."""
    try:
        data = transcript.tail(path, most)
        whole = len(data) < most
    except OSError:
        return []
    lines = data.decode("utf-8", "replace").rstrip("\n").split("\n")
    return lines if whole or len(lines) == 1 else lines[1:]


def heard(listener: Listener | None, line: str) -> Iterator[str]:
    """The activities in a line, in words for people."""
    if listener is None:
        said = plain(line, _SHOWN)
        if said:
            yield said
        return
    for signal in listener.hear(line):
        if isinstance(signal, Activity):
            yield signal.text
