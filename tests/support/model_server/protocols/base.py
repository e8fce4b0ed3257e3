"""What every protocol can do: read a request, and say a reply, whole or in pieces, or a refusal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import count
from json import dumps

from tests.support.model_server.faults import Refusal
from tests.support.model_server.messages import Json, ModelRequest, ReceivedRequest, Reply, Usage

JsonObject = dict[str, object]

_numbers = count(1)


class Protocol(ABC):
    """`name` is what a Request calls it; `streams` the content type of its streams."""

    name: str
    streams = "text/event-stream; charset=utf-8"

    @abstractmethod
    def parse_request(self, path: str, body: Json) -> ModelRequest: ...

    @abstractmethod
    def format_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> JsonObject: ...

    @abstractmethod
    def stream_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> Iterator[str]: ...

    @abstractmethod
    def format_refusal(self, refusal: Refusal) -> JsonObject: ...

    @abstractmethod
    def failed_chunk(self) -> str:
        """The piece of a stream by which it says that it failed."""


def new_id(prefix: str) -> str:
    """An id that nothing else here has."""
    return f"{prefix}{next(_numbers):016x}"


def format_event(data: Mapping[str, object], name: str = "") -> str:
    """A server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {dumps(data)}\n\n"


def read_text(content: object) -> str:
    """The words of a message, however they are wrapped; what tools said is not among them."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(found for part in content if (found := read_text(part)))
        case {"type": "tool_result" | "tool_use" | "thinking"}:
            return ""
        case {"text": str(text)}:
            return text
        case {"parts": list(parts)}:
            return read_text(parts)
        case _:
            return ""


def read_objects(found: object) -> list[Json]:
    """The objects of a list; anything else is none."""
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def read_object(found: object) -> Json:
    return found if isinstance(found, dict) else {}
