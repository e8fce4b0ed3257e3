"""Gemini's generateContent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.support.model_server.faults import Refusal
from tests.support.model_server.messages import Heard, Json, Offer, Reply, Request, Role, Turn, Usage
from tests.support.model_server.protocols.base import Answer, Protocol, event, inner, objects, text_of

_STATUSES = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


class Gemini(Protocol):
    name = "gemini"

    def read(self, path: str, body: Json) -> Heard:
        named = re.search(r"models/([^/:]+):", path)
        settings = inner(body.get("generationConfig"))
        return Heard(
            model=named.group(1) if named else "",
            stream="streamGenerateContent" in path,
            system=text_of(body.get("systemInstruction")),
            turns=tuple(_turn(content) for content in objects(body.get("contents"))),
            offers=tuple(_offers(body)),
            schema=inner(settings.get("responseJsonSchema")) or inner(settings.get("responseSchema")) or None,
        )

    def whole(self, request: Request, reply: Reply, usage: Usage) -> Answer:
        text: list[Answer] = [{"text": reply.text}] if reply.text else []
        return _content(request, [*_thoughts(reply), *text, *_calls(reply)], usage, last=True)

    def pieces(self, request: Request, reply: Reply, usage: Usage) -> Iterator[str]:
        for thought in _thoughts(reply):
            yield event(_content(request, [thought], usage))
        for part in reply.slices():
            yield event(_content(request, [{"text": part}], usage))
        yield event(_content(request, _calls(reply) or [{"text": ""}], usage, last=True))

    def refused(self, refusal: Refusal) -> Answer:
        error: Answer = {
            "code": refusal.status,
            "message": refusal.message,
            "status": _STATUSES.get(refusal.status, "INVALID_ARGUMENT"),
        }
        if refusal.after is not None:
            error["details"] = [
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{refusal.after:g}s"}
            ]
        return {"error": error}

    def broken(self) -> str:
        return event({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}})


def _turn(content: Json) -> Turn:
    parts = objects(content.get("parts"))
    if content.get("role") == "model":
        return Turn(Role.MODEL, text_of(parts))
    answered = any("functionResponse" in part for part in parts)
    return Turn(Role.TOOL if answered else Role.USER, text_of(parts))


def _offers(body: Json) -> Iterator[Offer]:
    for tool in objects(body.get("tools")):
        for told in objects(tool.get("functionDeclarations")):
            schema = inner(told.get("parametersJsonSchema")) or inner(told.get("parameters"))
            yield Offer(str(told.get("name", "")), schema)


def _thoughts(reply: Reply) -> list[Answer]:
    return [{"text": reply.thinking, "thought": True}] if reply.thinking else []


def _calls(reply: Reply) -> list[Answer]:
    return [
        {"functionCall": {"name": call.offer.name, "args": call.arguments}, "thoughtSignature": "c2NyaXB0"}
        for call in reply.calls
    ]


def _content(request: Request, parts: list[Answer], usage: Usage, *, last: bool = False) -> Answer:
    candidate: Answer = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    counts = {
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input + usage.output,
    }
    return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": request.model}
