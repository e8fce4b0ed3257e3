"""OpenAI's chat completions, which many others speak too."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps

from tests.support.model_server.faults import Kind, Refusal
from tests.support.model_server.messages import Heard, Json, Offer, Reply, Request, Role, Turn, Usage
from tests.support.model_server.protocols.base import Answer, Protocol, event, inner, number, objects, text_of

CREATED = 1_767_225_600  # an instant like any other
_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


class Chat(Protocol):
    name = "chat"

    def read(self, path: str, body: Json) -> Heard:  # noqa: ARG002 - the path says nothing more
        messages = objects(body.get("messages"))
        form = inner(body.get("response_format"))
        return Heard(
            model=str(body.get("model", "")),
            stream=bool(body.get("stream")),
            system=system(messages),
            turns=turns(messages),
            offers=offers(body),
            schema=inner(inner(form.get("json_schema")).get("schema")) or None,
        )

    def whole(self, request: Request, reply: Reply, usage: Usage) -> Answer:
        message: Answer = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [
                {key: call[key] for key in call if key != "index"} for call in _calls(reply)
            ]
        choice = {"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}
        return {**_frame(request, "chat.completion"), "choices": [choice], "usage": _usage(usage)}

    def pieces(self, request: Request, reply: Reply, usage: Usage) -> Iterator[str]:
        frame = _frame(request, "chat.completion.chunk")
        yield _chunk(frame, {"role": "assistant", "content": ""})
        for part in reply.slices():
            yield _chunk(frame, {"content": part})
        for call in _calls(reply):
            yield _chunk(frame, {"tool_calls": [call]})
        yield _chunk(frame, {}, _finish(reply))
        if inner(request.body.get("stream_options")).get("include_usage"):
            yield event({**frame, "choices": [], "usage": _usage(usage)})
        yield "data: [DONE]\n\n"

    def refused(self, refusal: Refusal) -> Answer:
        return openai_error(refusal)

    def broken(self) -> str:
        return event({"error": {"message": "the server had an error", "type": "server_error", "code": 500}})


def openai_error(refusal: Refusal) -> Answer:
    match refusal.kind:
        case Kind.LONG:
            kind, code = "invalid_request_error", "context_length_exceeded"
        case Kind.QUOTA:
            kind, code = "insufficient_quota", "insufficient_quota"
        case _:
            kind = "server_error" if refusal.status >= 500 else "invalid_request_error"
            code = _CODES.get(refusal.status, "")
    return {"error": {"message": refusal.message, "type": kind, "param": None, "code": code or None}}


def system(messages: list[Json]) -> str:
    told = (
        text_of(message.get("content"))
        for message in messages
        if message.get("role") in {"system", "developer"}
    )
    return "\n".join(told)


def turns(messages: list[Json]) -> tuple[Turn, ...]:
    roles = {"assistant": Role.MODEL, "user": Role.USER, "tool": Role.TOOL, "function": Role.TOOL}
    return tuple(
        Turn(role, text_of(message.get("content")))
        for message in messages
        if (role := roles.get(str(message.get("role"))))
    )


def offers(body: Json) -> tuple[Offer, ...]:
    told = (inner(tool.get("function")) for tool in objects(body.get("tools")))
    return tuple(Offer(str(tool.get("name", "")), inner(tool.get("parameters"))) for tool in told if tool)


def _calls(reply: Reply) -> list[Answer]:
    return [
        {
            "index": index,
            "id": number("call_"),
            "type": "function",
            "function": {"name": call.offer.name, "arguments": dumps(call.arguments)},
        }
        for index, call in enumerate(reply.calls)
    ]


def _chunk(frame: Answer, delta: Answer, finish: str | None = None) -> str:
    return event(
        {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]}
    )


def _frame(request: Request, kind: str) -> Answer:
    return {"id": number("chatcmpl-"), "object": kind, "created": CREATED, "model": request.model}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _usage(usage: Usage) -> Answer:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }
