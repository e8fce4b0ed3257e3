"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps

from tests.support.model_server.faults import FaultKind, Refusal
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
    new_id,
    read_object,
    read_objects,
    read_text,
)

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    529: "overloaded_error",
}


class Anthropic(Protocol):
    name = "anthropic"

    def parse_request(self, path: str, body: Json) -> ModelRequest:  # noqa: ARG002 - the path says nothing more
        tools = (
            OfferedTool(str(tool.get("name", "")), read_object(tool.get("input_schema")))
            for tool in read_objects(body.get("tools"))
        )
        form = read_object(body.get("output_format")) or read_object(
            read_object(body.get("output_config")).get("format")
        )
        return ModelRequest(
            model=str(body.get("model", "")),
            stream=bool(body.get("stream")),
            system=read_text(body.get("system")),
            turns=tuple(_turn(message) for message in read_objects(body.get("messages"))),
            offers=tuple(tools),
            schema=read_object(form.get("schema")) or None,
        )

    def format_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> JsonObject:
        return {
            "id": new_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": _blocks(reply),
            "stop_reason": _stop(reply),
            "stop_sequence": None,
            "usage": _usage(usage),
        }

    def stream_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> Iterator[str]:
        begun = {**_usage(usage), "output_tokens": 1}
        message = {
            **self.format_reply(request, reply, usage),
            "content": [],
            "stop_reason": None,
            "usage": begun,
        }
        yield _event("message_start", message=message)
        for index, block in enumerate(_blocks(reply)):
            yield from _streamed(index, block, reply)
        yield _event(
            "message_delta",
            delta={"stop_reason": _stop(reply), "stop_sequence": None},
            usage={"output_tokens": usage.output},
        )
        yield _event("message_stop")

    def format_refusal(self, refusal: Refusal) -> JsonObject:
        kind = (
            "invalid_request_error"
            if refusal.kind is FaultKind.LONG
            else _TYPES.get(refusal.status, "invalid_request_error")
        )
        return {"type": "error", "error": {"type": kind, "message": refusal.message}}

    def failed_chunk(self) -> str:
        return _event("error", error={"type": "overloaded_error", "message": "Overloaded"})


def _turn(message: Json) -> Turn:
    content = message.get("content")
    answered = any(part.get("type") == "tool_result" for part in read_objects(content))
    if message.get("role") == "assistant":
        return Turn(Role.MODEL, read_text(content))
    return Turn(Role.TOOL if answered else Role.USER, read_text(content))


def _blocks(reply: Reply) -> list[JsonObject]:
    blocks: list[JsonObject] = []
    if reply.thinking:
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": "c2NyaXB0"})
    if reply.text or reply.endless:
        blocks.append({"type": "text", "text": reply.text})
    for call in reply.calls:
        blocks.append(  # noqa: PERF401 - the same as above
            {"type": "tool_use", "id": new_id("toolu_"), "name": call.offer.name, "input": call.arguments}
        )
    return blocks


def _streamed(index: int, block: JsonObject, reply: Reply) -> Iterator[str]:
    yield _event("content_block_start", index=index, content_block={**block, **_emptied(block)})
    for delta in _deltas(block, reply):
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _emptied(block: JsonObject) -> JsonObject:
    """What the deltas fill."""
    empty: JsonObject = {"text": "", "thinking": "", "signature": "", "input": {}}
    return {name: empty[name] for name in empty if name in block}


def _deltas(block: JsonObject, reply: Reply) -> Iterator[JsonObject]:
    match block["type"]:
        case "text":
            for part in reply.slices():
                yield {"type": "text_delta", "text": part}
        case "thinking":
            yield {"type": "thinking_delta", "thinking": reply.thinking}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case _:
            yield {"type": "input_json_delta", "partial_json": dumps(block["input"])}


def _stop(reply: Reply) -> str:
    return "tool_use" if reply.calls else "end_turn"


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }


def _event(kind: str, **more: object) -> str:
    return format_event({"type": kind, **more}, kind)
