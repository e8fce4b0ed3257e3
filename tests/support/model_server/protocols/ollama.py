"""Ollama's own protocol: a JSON object per line, streamed unless told otherwise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from json import dumps

from tests.support.model_server.faults import Refusal
from tests.support.model_server.messages import Heard, Json, Reply, Request, Role, Turn, Usage
from tests.support.model_server.protocols.base import Answer, Protocol, objects
from tests.support.model_server.protocols.chat import offers, system, turns

CREATED = "2026-01-01T00:00:00Z"


class Ollama(Protocol):
    streams = "application/x-ndjson"

    @abstractmethod
    def said(self, text: str, reply: Reply | None = None) -> Answer:
        """The part of an answer that holds its words, and what else a whole reply has."""

    def whole(self, request: Request, reply: Reply, usage: Usage) -> Answer:
        return {**_frame(request), **self.said(reply.text, reply), **_end(usage)}

    def pieces(self, request: Request, reply: Reply, usage: Usage) -> Iterator[str]:
        for part in reply.slices():
            yield _line({**_frame(request), **self.said(part), "done": False})
        if reply.calls:
            yield _line({**_frame(request), **self.said("", reply), "done": False})
        yield _line({**_frame(request), **self.said(""), **_end(usage)})

    def refused(self, refusal: Refusal) -> Answer:
        return {"error": refusal.message}

    def broken(self) -> str:
        return _line({"error": "the model runner has stopped"})


class OllamaChat(Ollama):
    name = "ollama-chat"

    def read(self, path: str, body: Json) -> Heard:  # noqa: ARG002 - the path says nothing more
        messages = objects(body.get("messages"))
        return Heard(
            model=str(body.get("model", "")),
            stream=bool(body.get("stream", True)),
            system=system(messages),
            turns=turns(messages),
            offers=offers(body),
            schema=_schema(body),
        )

    def said(self, text: str, reply: Reply | None = None) -> Answer:
        message: Answer = {"role": "assistant", "content": text}
        if reply is not None and reply.calls:
            message["tool_calls"] = [
                {"function": {"name": call.offer.name, "arguments": call.arguments}} for call in reply.calls
            ]
        return {"message": message}


class OllamaGenerate(Ollama):
    name = "ollama-generate"

    def read(self, path: str, body: Json) -> Heard:  # noqa: ARG002 - the path says nothing more
        return Heard(
            model=str(body.get("model", "")),
            stream=bool(body.get("stream", True)),
            system=str(body.get("system") or ""),
            turns=(Turn(Role.USER, str(body.get("prompt") or "")),),
            schema=_schema(body),
        )

    def said(self, text: str, reply: Reply | None = None) -> Answer:  # noqa: ARG002 - it has no tools
        return {"response": text}


def _schema(body: Json) -> Json | None:
    form = body.get("format")
    return form if isinstance(form, dict) and form else None


def _frame(request: Request) -> Answer:
    return {"model": request.model, "created_at": CREATED}


def _end(usage: Usage) -> Answer:
    return {
        "done": True,
        "done_reason": "stop",
        "total_duration": 1_000_000,
        "prompt_eval_count": usage.input,
        "eval_count": usage.output,
    }


def _line(data: Answer) -> str:
    return f"{dumps(data)}\n"
