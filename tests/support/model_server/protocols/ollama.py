"""Ollama's own protocol: a JSON object per line, streamed unless told otherwise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from json import dumps

from tests.support.model_server.faults import Refusal
from tests.support.model_server.messages import Json, ModelRequest, ReceivedRequest, Reply, Role, Turn, Usage
from tests.support.model_server.protocols.base import JsonObject, Protocol, read_objects
from tests.support.model_server.protocols.chat import read_system, read_tools, read_turns

CREATED = "2026-01-01T00:00:00Z"


class Ollama(Protocol):
    streams = "application/x-ndjson"

    @abstractmethod
    def format_text(self, text: str, reply: Reply | None = None) -> JsonObject:
        """The part of an answer that holds its words, and what else a whole reply has."""

    def format_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> JsonObject:
        return {**_frame(request), **self.format_text(reply.text, reply), **_end(usage)}

    def stream_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> Iterator[str]:
        for part in reply.slices():
            yield _line({**_frame(request), **self.format_text(part), "done": False})
        if reply.calls:
            yield _line({**_frame(request), **self.format_text("", reply), "done": False})
        yield _line({**_frame(request), **self.format_text(""), **_end(usage)})

    def format_refusal(self, refusal: Refusal) -> JsonObject:
        return {"error": refusal.message}

    def failed_chunk(self) -> str:
        return _line({"error": "the model runner has stopped"})


class OllamaChat(Ollama):
    name = "ollama-chat"

    def parse_request(self, path: str, body: Json) -> ModelRequest:  # noqa: ARG002 - the path says nothing more
        messages = read_objects(body.get("messages"))
        return ModelRequest(
            model=str(body.get("model", "")),
            stream=bool(body.get("stream", True)),
            system=read_system(messages),
            turns=read_turns(messages),
            offers=read_tools(body),
            schema=_schema(body),
        )

    def format_text(self, text: str, reply: Reply | None = None) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": text}
        if reply is not None and reply.calls:
            message["tool_calls"] = [
                {"function": {"name": call.offer.name, "arguments": call.arguments}} for call in reply.calls
            ]
        return {"message": message}


class OllamaGenerate(Ollama):
    name = "ollama-generate"

    def parse_request(self, path: str, body: Json) -> ModelRequest:  # noqa: ARG002 - the path says nothing more
        return ModelRequest(
            model=str(body.get("model", "")),
            stream=bool(body.get("stream", True)),
            system=str(body.get("system") or ""),
            turns=(Turn(Role.USER, str(body.get("prompt") or "")),),
            schema=_schema(body),
        )

    def format_text(self, text: str, reply: Reply | None = None) -> JsonObject:  # noqa: ARG002 - it has no tools
        return {"response": text}


def _schema(body: Json) -> Json | None:
    form = body.get("format")
    return form if isinstance(form, dict) and form else None


def _frame(request: ReceivedRequest) -> JsonObject:
    return {"model": request.model, "created_at": CREATED}


def _end(usage: Usage) -> JsonObject:
    return {
        "done": True,
        "done_reason": "stop",
        "total_duration": 1_000_000,
        "prompt_eval_count": usage.input,
        "eval_count": usage.output,
    }


def _line(data: JsonObject) -> str:
    return f"{dumps(data)}\n"
