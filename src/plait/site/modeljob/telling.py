"""Telling: an object per line for the listener, and what came of the job as a file."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path

from plait.agents.discretion import secrets
from plait.agents.model import Doing
from plait.agents.plain import cut, plain
from plait.agents.prices import Tokens
from plait.agents.tools.model_spec import RESULT
from plait.core.frozen import dataclass
from plait.site.folder import put
from plait.site.modeljob.failure import JobError

_PACE = 1.0  # seconds between two lines about the same thing
_LONGEST = 2000  # characters of a message: a listener takes no line of more than some kilobytes
_NAMED = 20  # entries of a list that are told in a line, and
_SHORT = 200  # characters of each; the file has all of them


@dataclass(frozen=True, slots=True)
class Output:
    path: str
    lines: int


@dataclass(slots=True)
class Result:
    """What came of one job so far. `verdict` is "" where nobody judged."""

    job: str
    status: str = "failed"
    outputs: list[Output] = field(default_factory=list)
    retry_used: bool = False
    fixes: int = 0
    implicit_context: list[str] = field(default_factory=list)
    verdict: str = ""
    warnings: list[str] = field(default_factory=list)
    error: str = ""


class Telling:
    """Nobody to hear it is no reason to stop. `key` is told to nobody, nor is what else of the environment is secret."""

    def __init__(self, folder: Path, key: str = "") -> None:
        self._folder = folder
        self._discreetly = secrets(os.environ.items(), [("API_KEY", key)])
        self._paced = 0.0
        self._used: dict[str, Tokens] = {}
        self._kept = 0

    def phase(self, name: str) -> None:
        self._say("phase", name=name)

    def activity(self, text: str, doing: Doing = Doing.SAYS) -> None:
        self._say("activity", text=plain(text, _LONGEST), doing=doing.value)

    def progress(self, text: str, doing: Doing = Doing.SAYS) -> None:
        """The same thing, a little further: told now and then."""
        now = time.monotonic()
        if now - self._paced >= _PACE:
            self._paced = now
            self.activity(text, doing)

    def used(self, model: str, tokens: Tokens) -> None:
        if not tokens.all:
            return
        before = self._used.get(model, Tokens())
        now = Tokens(
            before.input + tokens.input, before.output + tokens.output, before.cached + tokens.cached
        )
        self._used[model] = now
        self._say("usage", model=model, input=now.input, output=now.output, cached=now.cached)

    def keep(self, name: str, text: str) -> None:
        """For whoever wants to know what was asked and answered; not to have it is no failure."""
        self._kept += 1
        with suppress(OSError, UnicodeError):
            put(self._folder / f"{self._kept:02}-{name}.md", self._discreetly(text))

    def result(self, result: Result) -> None:
        self._write(result)
        self._say("result", **{name: _bounded(value) for name, value in asdict(result).items()})

    def failed(self, error: JobError, result: Result | None) -> None:
        message = cut(plain(" ".join(error.message.split()), _LONGEST), _LONGEST)
        if result is not None:
            result.status, result.error = "failed", message
            self._write(result)
        self._say(
            "error",
            category=error.category.value,
            status=error.status,
            message=message,
            retry_after=error.after,
        )

    def _write(self, result: Result) -> None:
        with suppress(OSError):
            put(self._folder / RESULT, self._discreetly(json.dumps(asdict(result))))

    def _say(self, kind: str, **values: object) -> None:
        line = self._discreetly(json.dumps({"type": kind, **values}))
        data = memoryview(f"{line}\n".encode())
        with suppress(OSError):
            while data:
                data = data[os.write(1, data) :]


def _bounded(value: object) -> object:
    """As much of it as a line has room for."""
    match value:
        case str():
            return cut(value, _SHORT)
        case list():
            return [_bounded(each) for each in value[:_NAMED]]
        case dict():
            return {name: _bounded(each) for name, each in value.items()}
        case _:
            return value
