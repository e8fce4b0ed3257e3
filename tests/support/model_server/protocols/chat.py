"""OpenAI's chat completions, which many others speak too."""

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

CREATED = 1_767_225_600  # an instant like any other
_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


class Chat(Protocol):
    name = "chat"

    def parse_request(self, path: str, body: Json) -> ModelRequest:  # noqa: ARG002 - the path says nothing more
        messages = read_objects(body.get("messages"))
        form = read_object(body.get("response_format"))
        return ModelRequest(
            model=str(body.get("model", "")),
            stream=bool(body.get("stream")),
            system=read_system(messages),
            turns=read_turns(messages),
            offers=read_tools(body),
            schema=read_object(read_object(form.get("json_schema")).get("schema")) or None,
        )

    def format_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [{key: call[key] for key in call if key != "index"} for call in _calls(reply)]
        choice = {"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}
        return {**_frame(request, "chat.completion"), "choices": [choice], "usage": _usage(usage)}

    def stream_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> Iterator[str]:
        frame = _frame(request, "chat.completion.chunk")
        yield _chunk(frame, {"role": "assistant", "content": ""})
        for part in reply.slices():
            yield _chunk(frame, {"content": part})
        for call in _calls(reply):
            yield _chunk(frame, {"tool_calls": [call]})
        yield _chunk(frame, {}, _finish(reply))
        if read_object(request.body.get("stream_options")).get("include_usage"):
            yield format_event({**frame, "choices": [], "usage": _usage(usage)})
        yield "data: [DONE]\n\n"

    def format_refusal(self, refusal: Refusal) -> JsonObject:
        return openai_error(refusal)

    def failed_chunk(self) -> str:
        return format_event({"error": {"message": "the server had an error", "type": "server_error", "code": 500}})


def openai_error(refusal: Refusal) -> JsonObject:
    match refusal.kind:
        case FaultKind.LONG:
            kind, code = "invalid_request_error", "context_length_exceeded"
        case FaultKind.QUOTA:
            kind, code = "insufficient_quota", "insufficient_quota"
        case _:
            kind = "server_error" if refusal.status >= 500 else "invalid_request_error"
            code = _CODES.get(refusal.status, "")
    return {"error": {"message": refusal.message, "type": kind, "param": None, "code": code or None}}


def read_system(messages: list[Json]) -> str:
    told = (read_text(message.get("content")) for message in messages if message.get("role") in {"system", "developer"})
    return "\n".join(told)


def read_turns(messages: list[Json]) -> tuple[Turn, ...]:
    roles = {"assistant": Role.MODEL, "user": Role.USER, "tool": Role.TOOL, "function": Role.TOOL}
    return tuple(
        Turn(role, read_text(message.get("content")))
        for message in messages
        if (role := roles.get(str(message.get("role"))))
    )


def read_tools(body: Json) -> tuple[OfferedTool, ...]:
    told = (read_object(tool.get("function")) for tool in read_objects(body.get("tools")))
    return tuple(OfferedTool(str(tool.get("name", "")), read_object(tool.get("parameters"))) for tool in told if tool)


def _calls(reply: Reply) -> list[JsonObject]:
    return [
        {
            "index": index,
            "id": new_id("call_"),
            "type": "function",
            "function": {"name": call.offer.name, "arguments": dumps(call.arguments)},
        }
        for index, call in enumerate(reply.calls)
    ]


def _chunk(frame: JsonObject, delta: JsonObject, finish: str | None = None) -> str:
    return format_event({**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]})


def _frame(request: ReceivedRequest, kind: str) -> JsonObject:
    return {"id": new_id("chatcmpl-"), "object": kind, "created": CREATED, "model": request.model}


def _finish(reply: Reply) -> str:
    if reply.truncated:
        return "length"
    return "tool_calls" if reply.calls else "stop"


def _usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }
