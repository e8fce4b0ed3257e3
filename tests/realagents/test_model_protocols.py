"""Each protocol as its clients need it: whole and streamed answers, calls of tools, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.support.model_server.messages import Reply, Usage
from tests.support.model_server.server import ModelServer
from tests.support.waiting import TIMEOUT_SECONDS

# What comes back is looked at by keys that the test names: a missing one fails it.
Json = Any

SAID = "the answer is forty-two, whatever the question"
USED = Usage(input=1000, output=50, cached=400)
SHELL = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "why": {"type": "string"}},
    "required": ["command", "why"],
}


def post(url: str, body: Json) -> httpx.Response:
    return httpx.post(url, json=body, timeout=TIMEOUT_SECONDS)


def events(response: httpx.Response) -> list[Json]:
    """The data of server-sent events, up to the word that ends them."""
    lines = (line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: "))
    return [json.loads(line) for line in lines if line != "[DONE]"]


# Each reads a whole answer: its text, the names of the tools called with their arguments, tokens in, out and cached.
Read = Callable[[Json], tuple[str, list[tuple[str, Json]], tuple[int, int, int]]]


def read_anthropic(answer: Json) -> Any:
    assert answer["role"] == "assistant"
    assert answer["stop_reason"] == ("tool_use" if answer["content"][-1]["type"] == "tool_use" else "end_turn")
    text = "".join(block["text"] for block in answer["content"] if block["type"] == "text")
    calls = [(block["name"], block["input"]) for block in answer["content"] if block["type"] == "tool_use"]
    used = answer["usage"]
    cached = used["cache_read_input_tokens"]
    return text, calls, (used["input_tokens"] + cached, used["output_tokens"], cached)


def read_chat(answer: Json) -> Any:
    (choice,) = answer["choices"]
    message, used = choice["message"], answer["usage"]
    calls = [
        (call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message.get("tool_calls", [])
    ]
    assert choice["finish_reason"] == ("tool_calls" if calls else "stop")
    cached = used["prompt_tokens_details"]["cached_tokens"]
    return message["content"], calls, (used["prompt_tokens"], used["completion_tokens"], cached)


def read_responses(answer: Json) -> Any:
    assert answer["status"] == "completed"
    messages = [item for item in answer["output"] if item["type"] == "message"]
    text = "".join(part["text"] for item in messages for part in item["content"])
    calls = [
        (item["name"], json.loads(item["arguments"])) for item in answer["output"] if item["type"] == "function_call"
    ]
    used = answer["usage"]
    return (
        text,
        calls,
        (used["input_tokens"], used["output_tokens"], used["input_tokens_details"]["cached_tokens"]),
    )


def read_gemini(answer: Json) -> Any:
    (candidate,) = answer["candidates"]
    assert candidate["finishReason"] == "STOP"
    parts, used = candidate["content"]["parts"], answer["usageMetadata"]
    text = "".join(part.get("text", "") for part in parts)
    calls = [(part["functionCall"]["name"], part["functionCall"]["args"]) for part in parts if "functionCall" in part]
    return (
        text,
        calls,
        (used["promptTokenCount"], used["candidatesTokenCount"], used["cachedContentTokenCount"]),
    )


def read_ollama(answer: Json) -> Any:
    assert answer["done"] is True
    message = answer["message"]
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in message.get("tool_calls", [])]
    return message["content"], calls, (answer["prompt_eval_count"], answer["eval_count"], 400)


# Each puts the events of a stream together to what a whole answer would have been.
def joined_anthropic(response: httpx.Response) -> Json:
    found = events(response)
    assert [found[0]["type"], found[-1]["type"]] == ["message_start", "message_stop"]
    blocks: list[Json] = []
    for event in found:
        match event:
            case {"type": "content_block_start", "content_block": block}:
                blocks.append({**block, "json": ""})
            case {"type": "content_block_delta", "delta": {"text": text}}:
                blocks[-1]["text"] += text
            case {"type": "content_block_delta", "delta": {"partial_json": part}}:
                blocks[-1]["json"] += part
            case _:
                pass
    for block in blocks:
        if block["type"] == "tool_use":
            block["input"] = json.loads(block["json"])
    (end,) = (event for event in found if event["type"] == "message_delta")
    message = found[0]["message"]
    return {**message, **end["delta"], "content": blocks, "usage": {**message["usage"], **end["usage"]}}


def joined_chat(response: httpx.Response) -> Json:
    assert response.text.endswith("data: [DONE]\n\n")
    *chunks, last = events(response)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    message = {
        "content": "".join(delta.get("content", "") for delta in deltas),
        "tool_calls": [call for delta in deltas for call in delta.get("tool_calls", [])],
    }
    finish = chunks[-1]["choices"][0]["finish_reason"]
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": last["usage"]}


def joined_responses(response: httpx.Response) -> Json:
    found = events(response)
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    done = [event["item"] for event in found if event["type"] == "response.output_item.done"]
    deltas = "".join(event["delta"] for event in found if event["type"] == "response.output_text.delta")
    whole: Json = found[-1]["response"]
    assert done == whole["output"]
    assert deltas == "".join(part["text"] for item in done if item["type"] == "message" for part in item["content"])
    return whole


def joined_gemini(response: httpx.Response) -> Json:
    found = events(response)
    parts = [part for event in found for part in event["candidates"][0]["content"]["parts"]]
    last = found[-1]
    return {**last, "candidates": [{**last["candidates"][0], "content": {"parts": parts}}]}


def joined_ollama(response: httpx.Response) -> Json:
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
    messages = [line["message"] for line in lines]
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    message = {"content": "".join(message["content"] for message in messages), "tool_calls": calls}
    return {**lines[-1], "message": message}


def chat_body(said: str) -> Json:
    tool = {"type": "function", "function": {"name": "bash", "parameters": SHELL}}
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": said}]
    return {"model": "m", "messages": messages, "tools": [tool], "stream_options": {"include_usage": True}}


def anthropic_body(said: str) -> Json:
    tool = {"name": "bash", "input_schema": SHELL}
    messages = [{"role": "user", "content": [{"type": "text", "text": said}]}]
    return {"model": "m", "system": "Be short.", "messages": messages, "tools": [tool], "max_tokens": 9}


def responses_body(said: str) -> Json:
    tool = {"type": "function", "name": "bash", "parameters": SHELL}
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]}
    return {"model": "m", "instructions": "Be short.", "input": [item], "tools": [tool]}


def gemini_body(said: str) -> Json:
    tool = {"functionDeclarations": [{"name": "bash", "parametersJsonSchema": SHELL}]}
    system = {"parts": [{"text": "Be short."}]}
    return {
        "systemInstruction": system,
        "contents": [{"role": "user", "parts": [{"text": said}]}],
        "tools": [tool],
    }


Speech = tuple[str, str, Callable[[str], Json], Read, Callable[[httpx.Response], Json]]
_GEMINI = "/v1beta/models/m:generateContent"
_GEMINI_STREAM = "/v1beta/models/m:streamGenerateContent?alt=sse"
SPEECHES: dict[str, Speech] = {
    "anthropic": ("/v1/messages", "/v1/messages", anthropic_body, read_anthropic, joined_anthropic),
    "chat": ("/v1/chat/completions", "/v1/chat/completions", chat_body, read_chat, joined_chat),
    "responses": ("/v1/responses", "/v1/responses", responses_body, read_responses, joined_responses),
    "gemini": (_GEMINI, _GEMINI_STREAM, gemini_body, read_gemini, joined_gemini),
    "ollama-chat": ("/api/chat", "/api/chat", chat_body, read_ollama, joined_ollama),
}


def ask(server: ModelServer, protocol: str, said: str, *, stream: bool) -> Json:
    """A whole answer, or a stream put together."""
    whole, streamed, body, _, join = SPEECHES[protocol]
    if stream:
        return join(post(server.url + streamed, {**body(said), "stream": True}))
    return post(server.url + whole, {**body(said), "stream": False}).json()


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", SPEECHES)
def test_an_answer_has_its_text_and_its_tokens(server: ModelServer, protocol: str, *, stream: bool) -> None:
    server.queue_replies(Reply(SAID, usage=USED))
    read = SPEECHES[protocol][3]
    assert read(ask(server, protocol, "What is the answer?", stream=stream)) == (SAID, [], (1000, 50, 400))
    (request,) = server.requests
    assert (request.protocol, request.model, request.last_user_text) == (protocol, "m", "What is the answer?")
    assert request.parsed.system.strip() == "Be short."
    assert request.parsed.stream == stream


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", SPEECHES)
def test_a_directive_becomes_a_call_of_an_offered_tool(server: ModelServer, protocol: str, *, stream: bool) -> None:
    answer = ask(server, protocol, "Please:\n\nSCRIPTED-SH make it so", stream=stream)
    _, calls, _ = SPEECHES[protocol][3](answer)
    assert calls == [("bash", {"command": "make it so", "why": "scripted"})]


@pytest.mark.parametrize("protocol", SPEECHES)
def test_a_refusal_has_the_providers_format(server: ModelServer, protocol: str) -> None:
    path, _, body, _, _ = SPEECHES[protocol]
    said = {}
    for fault in ("401", "429", "long", "quota"):
        answer = post(server.client_url(fault, fault) + path, body("Hello"))
        said[fault] = (answer.status_code, str(answer.json()["error"]))
    assert [status for status, _ in said.values()] == [401, 429, 400, 429]
    words = {"401": "API key", "429": "Rate limit", "long": "too long", "quota": "quota"}
    assert {fault for fault, word in words.items() if word not in said[fault][1]} == set()
