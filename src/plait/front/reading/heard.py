"""What an attempt printed, as people read it: of a tool that prints an object per line, what it says and does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

from plait.agents.discretion import Discretion, Lines, Stream
from plait.agents.model import Activity, Asked, Listener, PhaseBegun
from plait.agents.tools.events import Events
from plait.core.task import Attempt
from plait.front.reading.neutral import Neutral, neutral

# Who hears an attempt; None: what it printed is read as it is.
Listen = Callable[[Attempt], Listener | None]

_LINE = 1 << 20  # bytes; of a longer one, the end is lost
_KNOWN = 100  # lines that are remembered


class Reading(Protocol):
    """Bytes in, text out, without secrets and without what could steer a terminal."""

    def feed(self, data: bytes) -> str: ...

    def end(self) -> str: ...


def reading(listener: Listener | None, hide: Discretion) -> Reading:
    return Heard(listener, hide) if isinstance(listener, Events) else AsPrinted(hide)


class AsPrinted:
    def __init__(self, hide: Discretion) -> None:
        self._neutral = Neutral()
        self._hidden = Stream(hide)

    def feed(self, data: bytes) -> str:
        return self._hidden.feed(self._neutral.feed(data))

    def end(self) -> str:
        return self._hidden.feed(self._neutral.end()) + self._hidden.end()


class Heard:
    """A line for each thing that it does; at the end its last message as a whole, and what it says went wrong."""

    def __init__(self, listener: Events, hide: Discretion) -> None:
        self._listener = listener
        self._hide = Lines(hide)
        self._begun = b""
        self._shown: deque[str] = deque(maxlen=_KNOWN)

    def feed(self, data: bytes) -> str:
        *whole, rest = data.split(b"\n")
        told = []
        for line in whole:
            told += [*self._lines((self._begun + line)[:_LINE])]
            self._begun = b""
        self._begun = (self._begun + rest)[:_LINE]
        return "".join(told)

    def end(self) -> str:
        told = [*self._lines(self._begun)] if self._begun else []
        self._begun = b""
        error = self._listener.error
        for words in (self._listener.said, error.said if error is not None else ""):
            whole = neutral(words).strip()
            if whole and self._is_new(whole):
                told.append(f"\n{whole}\n")
        return "".join(told)

    def _lines(self, line: bytes) -> Iterator[str]:
        for signal in self._listener.hear(self._hide(line.decode("utf-8", "replace"))):
            match signal:
                case Activity():
                    said = neutral(signal.text).strip()
                    if not self._shown or said != self._shown[-1]:
                        self._shown.append(said)
                        yield f"{said}\n"
                case PhaseBegun():
                    yield f"── {neutral(signal.name).strip()}\n"
                case Asked():
                    yield f"asks: {neutral(signal.question).strip()}\n"
                case _:
                    pass

    def _is_new(self, whole: str) -> bool:
        """It was not shown already, in a line of its own."""
        known = whole in self._shown
        self._shown.append(whole)
        return not known
