"""The scripted model server does what a test says, to whom it says it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.model_server.messages import ReceivedRequest, Role
from tests.support.model_server.server import ModelServer
from tests.support.waiting import TIMEOUT_SECONDS

# What comes back is looked at by keys that the test names: a missing one fails it.
Json = Any

SAID = "the answer is forty-two, whatever the question"
ASKED = {"messages": [{"role": "user", "content": f"SCRIPTED-SAY {SAID}"}]}


def post(url: str, body: Json, **headers: str) -> httpx.Response:
    return httpx.post(url, json=body, headers=headers, timeout=TIMEOUT_SECONDS)


def text_of(answer: Json) -> str:
    return str(answer["choices"][0]["message"]["content"])


def calls_of(answer: Json) -> list[str]:
    """The commands that the model runs."""
    calls = answer["choices"][0]["message"].get("tool_calls", [])
    return [json.loads(call["function"]["arguments"])["command"] for call in calls]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_ollama_generates_from_a_prompt(server: ModelServer, *, stream: bool) -> None:
    answer = post(server.url + "/api/generate", {"model": "m", "prompt": f"SCRIPTED-SAY {SAID}", "stream": stream})
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert "".join(line["response"] for line in lines) == SAID
    assert lines[-1]["done"]


def test_the_list_of_models_is_no_counted_request(server: ModelServer) -> None:
    with ModelServer(models=("small", "large")) as other:
        tags = httpx.get(other.url + "/api/tags").json()
        assert [model["name"] for model in tags["models"]] == ["small", "large"]
        assert [model["id"] for model in httpx.get(other.url + "/v1/models").json()["data"]] == [
            "small",
            "large",
        ]
        assert httpx.get(other.url).text == "Ollama is running"
        assert post(other.url + "/v1/messages/count_tokens", ASKED).json()["input_tokens"] > 0
        assert other.requests == []
    assert httpx.get(server.url + "/nowhere").status_code == 404


def conversation(*turns: tuple[str, str]) -> Json:
    tool = {"type": "function", "function": {"name": "bash", "parameters": {"properties": {"command": {}}}}}
    messages = [{"role": role, "content": text} for role, text in turns]
    return {"model": "m", "messages": messages, "tools": [tool]}


def test_each_directive_is_a_step_of_the_conversation(server: ModelServer) -> None:
    told = ("user", "SCRIPTED-SH first\nSCRIPTED-SH second")
    taken = (("assistant", "one"), ("tool", "fine"))
    talks = [(told,), (told, *taken), (told, *taken, *taken)]
    answers = [calls_of(post(server.url + "/v1/chat/completions", conversation(*talk)).json()) for talk in talks]
    assert answers == [["first"], ["second"], []]


def test_the_newest_directives_count_in_a_continued_session(server: ModelServer) -> None:
    talk = (("user", "SCRIPTED-SH first"), ("assistant", "Done."), ("user", "SCRIPTED-SH second"))
    assert calls_of(post(server.url + "/v1/chat/completions", conversation(*talk)).json()) == ["second"]
    (request,) = server.requests
    assert [turn.role for turn in request.turns] == [Role.USER, Role.MODEL, Role.USER]


@pytest.mark.parametrize(
    ("wants", "gets"),
    [
        ("SEARCH/REPLACE blocks", "a.txt\n```\n<<<<<<< SEARCH\n=======\nhello you\n>>>>>>> REPLACE\n```"),
        ("a *file listing*", "a.txt\n```\nhello you\n```"),
    ],
)
def test_a_client_without_tools_gets_the_edit_as_text(server: ModelServer, wants: str, gets: str) -> None:
    system = {"role": "system", "content": f"Answer with {wants}."}
    asked = {
        "model": "m",
        "messages": [system, {"role": "user", "content": "SCRIPTED-WRITE a.txt hello you"}],
    }
    assert text_of(post(server.url + "/v1/chat/completions", asked).json()) == gets


def test_a_prompt_that_names_a_file_is_read_from_it(server: ModelServer) -> None:
    told = ("user", "Read the file /tmp/prompt.md and do what it says.")
    read = (("assistant", ""), ("tool", json.dumps({"output": "# Task\n\nSCRIPTED-SH do it\n"})))
    done = (("assistant", ""), ("tool", "it is done"))
    talks = [(told,), (told, *read), (told, *read, *done)]
    answers = [calls_of(post(server.url + "/v1/chat/completions", conversation(*talk)).json()) for talk in talks]
    assert answers == [["cat /tmp/prompt.md"], ["do it"], []]


def test_a_refused_step_is_repeated(server: ModelServer) -> None:
    talk = (("user", "SCRIPTED-SH do it"), ("assistant", "API Error: 429"), ("user", "Go on."))
    assert calls_of(post(server.url + "/v1/chat/completions", conversation(*talk)).json()) == ["do it"]


def test_an_answer_has_the_requested_schema(server: ModelServer) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "free": {}}, "required": ["n"]}
    form = {"type": "json_schema", "json_schema": {"schema": schema}}
    answer = post(server.url + "/v1/chat/completions", {**ASKED, "response_format": form}).json()
    assert json.loads(text_of(answer)) == {"n": 1}


def test_queued_replies_are_sent_to_their_client_in_order(server: ModelServer) -> None:
    server.queue_replies("for anybody")
    server.queue_replies("first of a", "second of a", of="a")
    server.queue_replies("for the key", of="sk-1")
    path = "/v1/chat/completions"
    calls = [
        post(server.client_url("a") + path, ASKED),
        post(server.url + path, ASKED, Authorization="Bearer sk-1"),
        post(server.client_url("a") + path, ASKED),
        post(server.client_url("a") + path, ASKED),
        post(server.client_url("a") + path, ASKED),
    ]
    said = [text_of(call.json()) for call in calls]
    assert said == ["first of a", "for the key", "second of a", "for anybody", SAID]
    assert [request.key for request in server.requests_from("sk-1")] == ["sk-1"]
    assert len(server.requests_from("a")) == 4


def test_a_function_can_be_the_script() -> None:
    def shout(request: ReceivedRequest) -> str:
        return request.last_user_text.upper()

    with ModelServer(shout) as server:
        answer = post(server.url + "/api/generate", {"model": "m", "prompt": "hush", "stream": False})
        assert answer.json()["response"] == "HUSH"


def test_faults_are_counted_by_client(server: ModelServer) -> None:
    path = "/v1/chat/completions"
    base = server.client_url("a", "429:2;after=7,500:1")
    first = [post(base + path, ASKED) for _ in range(4)]
    assert [answer.status_code for answer in first] == [429, 429, 500, 200]
    assert [answer.headers.get("Retry-After") for answer in first] == ["7", "7", None, None]
    assert post(server.client_url("b", "429:1") + path, ASKED).status_code == 429
    server.set_faults("401", of="sk-bad")
    assert post(server.url + path, ASKED, Authorization="Bearer sk-bad").status_code == 401
    assert post(server.url + path, ASKED, Authorization="Bearer sk-good").status_code == 200
    assert [request.fault for request in server.requests_from("a")] == ["429", "429", "500", ""]


def test_an_unknown_fault_is_an_error(server: ModelServer) -> None:
    with pytest.raises(ValueError, match="is no fault"):
        server.client_url("a", "four hundred")
    with pytest.raises(ValueError, match="nonsense"):
        server.set_faults("nonsense")


def streamed(server: ModelServer, fault: str) -> Iterator[str]:
    """The pieces of a stream that meets a fault, as they come."""
    body = {**ASKED, "stream": True}
    with httpx.stream(
        "POST", server.client_url(fault, fault) + "/v1/chat/completions", json=body, timeout=TIMEOUT_SECONDS
    ) as response:
        yield from response.iter_lines()


def test_a_stream_can_be_cut_or_fail_or_be_invalid(server: ModelServer) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        list(streamed(server, "cut"))
    with pytest.raises(httpx.RemoteProtocolError):
        list(streamed(server, "reset"))
    assert "server_error" in "".join(streamed(server, "broken"))
    assert "<html>" in "".join(streamed(server, "garbage"))
    assert '"content": "the' not in "".join(streamed(server, "empty"))


def test_an_endless_stream_lasts_until_the_client_disconnects(server: ModelServer) -> None:
    pieces = (line for line in streamed(server, "endless") if line)
    assert len([next(pieces) for _ in range(50)]) == 50


@pytest.mark.parametrize("fault", ["hang", "stall"])
def test_a_hanging_request_ends_with_the_server(fault: str) -> None:
    ended = threading.Event()

    def wait() -> None:
        with pytest.raises(httpx.RemoteProtocolError):
            list(streamed(server, fault))
        ended.set()

    with ModelServer() as server:
        client = threading.Thread(target=wait)
        client.start()
        server.wait_until(lambda: len(server.requests) == 1)
        assert not ended.is_set()
    client.join(timeout=TIMEOUT_SECONDS)
    assert ended.is_set()


def test_it_listens_on_this_machine_only(server: ModelServer) -> None:
    assert httpx.URL(server.url).host == "127.0.0.1"


def test_it_can_be_started_by_hand() -> None:
    words = [sys.executable, "-m", "tests.support.model_server", "--fault", "429:1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            path = process.stdout.readline().strip() + "/v1/chat/completions"
            assert [post(path, ASKED).status_code for _ in range(2)] == [429, 200]
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 0
