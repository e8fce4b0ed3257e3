"""Gemini's generateContent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.support.model_server.faults import Refusal
from tests.support.model_server.messages import (
    Json,
    ModelRequest,
    OfferedTool,
    ReceivedRequest,
    Reply,
    Role,
    Turn,
    Usage,
)
from tests.support.model_server.protocols.base import (
    JsonObject,
    Protocol,
    format_event,
    read_object,
    read_objects,
    read_text,
)

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

    def parse_request(self, path: str, body: Json) -> ModelRequest:
        named = re.search(r"models/([^/:]+):", path)
        settings = read_object(body.get("generationConfig"))
        return ModelRequest(
            model=named.group(1) if named else "",
            stream="streamGenerateContent" in path,
            system=read_text(body.get("systemInstruction")),
            turns=tuple(_turn(content) for content in read_objects(body.get("contents"))),
            offers=tuple(_offers(body)),
            schema=read_object(settings.get("responseJsonSchema"))
            or read_object(settings.get("responseSchema"))
            or None,
        )

    def format_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> JsonObject:
        text: list[JsonObject] = [{"text": reply.text}] if reply.text else []
        return _content(request, [*_thoughts(reply), *text, *_calls(reply)], usage, last=True)

    def stream_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> Iterator[str]:
        for thought in _thoughts(reply):
            yield format_event(_content(request, [thought], usage))
        for part in reply.slices():
            yield format_event(_content(request, [{"text": part}], usage))
        yield format_event(_content(request, _calls(reply) or [{"text": ""}], usage, last=True))

    def format_refusal(self, refusal: Refusal) -> JsonObject:
        error: JsonObject = {
            "code": refusal.status,
            "message": refusal.message,
            "status": _STATUSES.get(refusal.status, "INVALID_ARGUMENT"),
        }
        if refusal.after is not None:
            error["details"] = [
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{refusal.after:g}s"}
            ]
        return {"error": error}

    def failed_chunk(self) -> str:
        return format_event({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}})


def _turn(content: Json) -> Turn:
    parts = read_objects(content.get("parts"))
    if content.get("role") == "model":
        return Turn(Role.MODEL, read_text(parts))
    answered = any("functionResponse" in part for part in parts)
    return Turn(Role.TOOL if answered else Role.USER, read_text(parts))


def _offers(body: Json) -> Iterator[OfferedTool]:
    for tool in read_objects(body.get("tools")):
        for told in read_objects(tool.get("functionDeclarations")):
            schema = read_object(told.get("parametersJsonSchema")) or read_object(told.get("parameters"))
            yield OfferedTool(str(told.get("name", "")), schema)


def _thoughts(reply: Reply) -> list[JsonObject]:
    return [{"text": reply.thinking, "thought": True}] if reply.thinking else []


def _calls(reply: Reply) -> list[JsonObject]:
    return [
        {"functionCall": {"name": call.offer.name, "args": call.arguments}, "thoughtSignature": "c2NyaXB0"}
        for call in reply.calls
    ]


def _content(request: ReceivedRequest, parts: list[JsonObject], usage: Usage, *, last: bool = False) -> JsonObject:
    candidate: JsonObject = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    counts = {
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input + usage.output,
    }
    return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": request.model}
