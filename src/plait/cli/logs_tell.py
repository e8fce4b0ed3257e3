"""How a transcript is told: as people read it, as it is, or as JSON lines; without secrets, in any way."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Protocol

from plait.agents.discretion import Discretion, Lines, Stream
from plait.core.task import Attempt
from plait.front.output import LeftOut, Printed
from plait.front.past import label
from plait.front.reading.heard import Heard, Listen, reading


class Teller(Protocol):
    def begin(self, attempt: Attempt) -> None: ...

    def take(self, pieces: Iterable[Printed | LeftOut]) -> None:
        """Shown at once."""

    def end(self) -> bool:
        """The attempt is over; whether anything was printed."""

    @property
    def shortened(self) -> bool:
        """Whether it is told in other words than the tool's own."""


def teller(hide: Discretion, listen: Listen, *, raw: bool, as_json: bool) -> Teller:
    if as_json:
        return _Json(hide)
    return _Raw(hide) if raw else _Plain(hide, listen)


class _Plain:
    """From the second attempt on, each has its name above it."""

    def __init__(self, hide: Discretion, listen: Listen) -> None:
        self._hide = hide
        self._listen = listen
        self._reading = reading(None, hide)
        self._attempts = 0
        self._printed = False
        self._open_line = False

    def begin(self, attempt: Attempt) -> None:
        self._attempts += 1
        self._printed = False
        self._reading = reading(self._listen(attempt), self._hide)
        if self._attempts > 1:
            self._write(f"\n── {called(attempt)} ──\n")

    def take(self, pieces: Iterable[Printed | LeftOut]) -> None:
        for piece in pieces:
            self._printed = True
            if isinstance(piece, Printed):
                self._write(self._reading.feed(piece.data))
            else:
                self._write(self._reading.end())
                self._end_line()
                self._write(f"[… {amount(piece.size)} left out here …]\n")
        sys.stdout.flush()

    def end(self) -> bool:
        self._write(self._reading.end())
        self._end_line()
        sys.stdout.flush()
        return self._printed

    @property
    def shortened(self) -> bool:
        return isinstance(self._reading, Heard)

    def _end_line(self) -> None:
        if self._open_line:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._open_line = not text.endswith("\n")
            sys.stdout.write(text)


class _Raw:
    """Byte for byte, but for secrets; what is left out is told elsewhere."""

    shortened = False

    def __init__(self, hide: Discretion) -> None:
        self._hidden = Stream(hide)
        self._printed = False

    def begin(self, attempt: Attempt) -> None:  # noqa: ARG002 - nothing is added
        sys.stdout.flush()
        self._printed = False

    def take(self, pieces: Iterable[Printed | LeftOut]) -> None:
        for piece in pieces:
            self._printed = True
            if isinstance(piece, Printed):
                # Bytes that are no text come out as they went in.
                self._write(self._hidden.feed(piece.data.decode("utf-8", "surrogateescape")))
            else:
                self._write(self._hidden.end())
                sys.stdout.buffer.flush()
                print(f"plait: {amount(piece.size)} left out here", file=sys.stderr)  # noqa: T201 - beside the output
        sys.stdout.buffer.flush()

    def end(self) -> bool:
        self._write(self._hidden.end())
        sys.stdout.buffer.flush()
        return self._printed

    def _write(self, text: str) -> None:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


class _Json:
    """An `execution:log` event per line; a line that is longer than a piece comes in several."""

    shortened = False

    def __init__(self, hide: Discretion) -> None:
        self._hide = Lines(hide)
        self._attempt: Attempt | None = None
        self._begun, self._offset = b"", 0
        self._printed = False

    def begin(self, attempt: Attempt) -> None:
        self._attempt, self._begun, self._offset, self._printed = attempt, b"", 0, False

    def take(self, pieces: Iterable[Printed | LeftOut]) -> None:
        for piece in pieces:
            self._printed = True
            if isinstance(piece, Printed):
                self._lines(piece)
            else:
                self._flush()
                self._tell(piece.offset, {"kind": "skipped", "bytes": piece.size})
        sys.stdout.flush()

    def end(self) -> bool:
        self._flush()
        sys.stdout.flush()
        return self._printed

    def _lines(self, piece: Printed) -> None:
        if not self._begun:
            self._offset = piece.offset
        *whole, rest = piece.data.split(b"\n")
        for line in whole:
            said = self._begun + line
            self._text(said)
            self._offset += len(said) + 1
            self._begun = b""
        self._begun += rest
        if len(self._begun) > len(piece.data):  # it began before this piece, and does not end in it
            self._flush()

    def _flush(self) -> None:
        if self._begun:
            self._text(self._begun)
            self._offset += len(self._begun)
            self._begun = b""

    def _text(self, said: bytes) -> None:
        self._tell(self._offset, {"kind": "output", "text": self._hide(said.decode("utf-8", "replace"))})

    def _tell(self, offset: int, entry: dict[str, object]) -> None:
        from plait.front.event import Event, EventType, line  # noqa: PLC0415 - people are told in words

        assert self._attempt is not None
        name = self._attempt
        more = {"step": name.step.value if name.task else "gate", "offset": offset, "entry": entry}
        event = Event(None, time.time(), EventType.EXECUTION_LOG, name.batch, name.task or None, name.n, more)
        sys.stdout.write(f"{line(event)}\n")


def called(attempt: Attempt) -> str:
    """`03-split write-2`; a gate is no task's."""
    return f"{attempt.task} {label(attempt)}" if attempt.task else f"gate {attempt.n}"


def amount(size: int) -> str:
    """Bytes in words for people."""
    if size < 1000:
        return f"{size} bytes"
    power = min(3, (len(str(size)) - 1) // 3)
    return f"{size / 1000**power:.1f} {' kMG'[power]}B"
