"""Requests to a model and its replies, independent of the protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from plait.core.fast_dataclass import dataclass

# Any: what a client sent; every reader checks its shape.
Json = Mapping[str, Any]

_SLICE_CHARS = 24  # in one piece of a stream
_WORKING_DIRECTORY = re.compile(
    r"(?:working directory|<cwd>|workspace director(?:y|ies))[^/\n]*\n?[^/\n]{0,8}(/[^\s`'\"<,)]+)",
    re.IGNORECASE,
)


class Role(StrEnum):
    USER = "user"
    MODEL = "model"
    TOOL = "tool"  # the result of a tool


@dataclass(frozen=True, slots=True)
class Turn:
    role: Role
    text: str


class ToolForm(StrEnum):
    """How a tool is called: with named arguments, or with a text of its own grammar."""

    FUNCTION = "function"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the client has. `schema` is that of its arguments; `space` the namespace it is in."""

    name: str
    schema: Json
    form: ToolForm = ToolForm.FUNCTION
    space: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a protocol reads from a request's body. `schema`: the answer has to be JSON of this shape."""

    model: str
    stream: bool
    system: str
    turns: tuple[Turn, ...]
    offers: tuple[OfferedTool, ...] = ()
    schema: Json | None = None


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as it came. `tag` is that of the address, `key` the API key, `fault` the fault it met."""

    protocol: str
    path: str
    tag: str
    key: str
    parsed: ModelRequest
    body: Json
    headers: Mapping[str, str]
    fault: str = ""

    @property
    def model(self) -> str:
        return self.parsed.model

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.parsed.turns

    @property
    def text(self) -> str:
        """The system prompt and all turns."""
        return "\n".join((self.parsed.system, *(turn.text for turn in self.turns)))

    @property
    def last_user_text(self) -> str:
        """The newest message of the user."""
        return next((turn.text for turn in reversed(self.turns) if turn.role is Role.USER), "")

    def find_working_directory(self) -> str | None:
        """The working directory that the client names, if it exists."""
        named = (found.group(1).rstrip(".") for found in _WORKING_DIRECTORY.finditer(self.text))
        return next((path for path in named if Path(path).is_dir()), None)


@dataclass(frozen=True, slots=True)
class ScriptedToolCall:
    """A call of a tool. `arguments` is a text for tools of free form."""

    offer: OfferedTool
    arguments: Mapping[str, object] | str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens. `cached` are those of the input that were read from a cache."""

    input: int = 1200
    output: int = 80
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of the model. `usage` None: the server's default. `endless`: the text never ends.

    `truncated`: the server ended it at its length limit; only chat completions say so.
    """

    text: str = ""
    calls: tuple[ScriptedToolCall, ...] = ()
    thinking: str = ""
    usage: Usage | None = None
    endless: bool = False
    truncated: bool = False

    def slices(self) -> Iterator[str]:
        """The text in pieces, as a stream sends it; an endless text begins with one piece."""
        size = max(len(self.text), 1) if self.endless else _SLICE_CHARS
        yield from (self.text[at : at + size] for at in range(0, len(self.text), size))
        while self.endless:
            yield "and on and on "
