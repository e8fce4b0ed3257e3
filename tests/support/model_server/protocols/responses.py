"""OpenAI's responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from json import dumps

from tests.support.model_server.faults import Refusal
from tests.support.model_server.messages import (
    Json,
    ModelRequest,
    OfferedTool,
    ReceivedRequest,
    Reply,
    Role,
    ScriptedToolCall,
    ToolForm,
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
from tests.support.model_server.protocols.chat import CREATED, openai_error, read_system

Emit = Callable[..., str]


class Responses(Protocol):
    name = "responses"

    def parse_request(self, path: str, body: Json) -> ModelRequest:  # noqa: ARG002 - the path says nothing more
        said = body.get("input")
        items: list[Json] = [{"role": "user", "content": said}] if isinstance(said, str) else read_objects(said)
        form = read_object(read_object(body.get("text")).get("format"))
        return ModelRequest(
            model=str(body.get("model", "")),
            stream=bool(body.get("stream")),
            system="\n".join((str(body.get("instructions") or ""), read_system(items))),
            turns=tuple(_turns(items)),
            offers=tuple(_offers(read_objects(body.get("tools")))),
            schema=read_object(form.get("schema")) or None,
        )

    def format_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> JsonObject:
        return _response(request, _items(reply), usage)

    def stream_reply(self, request: ReceivedRequest, reply: Reply, usage: Usage) -> Iterator[str]:
        numbers = count()

        def emit(kind: str, **more: object) -> str:
            return format_event({"type": kind, "sequence_number": next(numbers), **more}, kind)

        whole = _response(request, _items(reply), usage)
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        yield emit("response.created", response=begun)
        yield emit("response.in_progress", response=begun)
        for index, item in enumerate(read_objects(whole["output"])):
            yield from _streamed(emit, index, dict(item), reply)
        yield emit("response.completed", response=whole)

    def format_refusal(self, refusal: Refusal) -> JsonObject:
        return openai_error(refusal)

    def failed_chunk(self) -> str:
        error = {"code": "server_error", "message": "the server had an error"}
        response = {"id": new_id("resp_"), "object": "response", "status": "failed", "error": error}
        return format_event({"type": "response.failed", "sequence_number": 0, "response": response}, "response.failed")


def _turns(items: list[Json]) -> Iterator[Turn]:
    for item in items:
        kind = str(item.get("type", "message"))
        if kind.endswith("_output"):
            yield Turn(Role.TOOL, "")
        elif kind != "message" or item.get("role") == "assistant":
            yield Turn(Role.MODEL, read_text(item.get("content")))
        elif item.get("role") == "user":
            yield Turn(Role.USER, read_text(item.get("content")))


def _offers(tools: list[Json], space: str = "") -> Iterator[OfferedTool]:
    for tool in tools:
        name = str(tool.get("name", ""))
        match tool.get("type"):
            case "function":
                yield OfferedTool(name, read_object(tool.get("parameters")), space=space)
            case "custom":
                yield OfferedTool(name, read_object(tool.get("format")), ToolForm.FREE, space)
            case "namespace":
                yield from _offers(read_objects(tool.get("tools")), name)
            case _:  # tools of the provider's own
                continue


def _items(reply: Reply) -> list[JsonObject]:
    items: list[JsonObject] = []
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        items.append({"type": "reasoning", "id": new_id("rs_"), "summary": summary})
    if reply.text or reply.endless:
        items.append(_message(reply.text))
    return [*items, *(_call(call) for call in reply.calls)]


def _message(text: str) -> JsonObject:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": new_id("msg_"),
        "status": "completed",
        "role": "assistant",
        "content": content,
    }


def _call(call: ScriptedToolCall) -> JsonObject:
    common: JsonObject = {
        "id": new_id("fc_"),
        "call_id": new_id("call_"),
        "name": call.offer.name,
        "status": "completed",
    }
    if call.offer.space:
        common["namespace"] = call.offer.space
    if isinstance(call.arguments, str):
        return {**common, "type": "custom_tool_call", "input": call.arguments}
    return {**common, "type": "function_call", "arguments": dumps(call.arguments)}


def _streamed(emit: Emit, index: int, item: JsonObject, reply: Reply) -> Iterator[str]:
    at = {"item_id": item["id"], "output_index": index}
    match item["type"]:
        case "message":
            part = read_objects(item["content"])[0]
            yield emit("response.output_item.added", output_index=index, item={**item, "content": []})
            yield emit("response.content_part.added", **at, content_index=0, part={**part, "text": ""})
            for delta in reply.slices():
                yield emit("response.output_text.delta", **at, content_index=0, delta=delta)
            yield emit("response.output_text.done", **at, content_index=0, text=reply.text)
            yield emit("response.content_part.done", **at, content_index=0, part=part)
        case "function_call":
            yield emit("response.output_item.added", output_index=index, item={**item, "arguments": ""})
            yield emit("response.function_call_arguments.delta", **at, delta=item["arguments"])
            yield emit("response.function_call_arguments.done", **at, arguments=item["arguments"])
        case _:
            yield emit("response.output_item.added", output_index=index, item=item)
    yield emit("response.output_item.done", output_index=index, item=item)


def _response(request: ReceivedRequest, items: list[JsonObject], usage: Usage) -> JsonObject:
    counts = {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    }
    return {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "model": request.model,
        "output": items,
        "usage": counts,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
    }
