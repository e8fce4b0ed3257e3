"""Pi: how it is called, and what its events come to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from plait.agents.drivers.pi import Pi
from plait.agents.interface import ActivityKind, Agent, AgentSpec
from plait.agents.retry_after import RetryAfter
from plait.config.agent_keys import Permission
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

PI = Pi(AgentSpec("pi"))
SESSION = "01a1b2c3-0000-7000-8000-0123456789ab"
BEGIN = {"type": "session", "version": 3, "id": SESSION, "cwd": "/work/tree"}


def message(*content: object, stop: str = "stop", cost: float = 0.001, **more: object) -> dict[str, object]:
    usage = {"input": 900, "output": 50, "cacheRead": 50, "cacheWrite": 0, "cost": {"total": cost}}
    told = {
        "role": "assistant",
        "content": list(content),
        "model": "m1",
        "usage": usage,
        "stopReason": stop,
        **more,
    }
    return {"type": "message_end", "message": told}


def failure(said: str) -> dict[str, object]:
    return message(stop="error", cost=0, errorMessage=said)


def text(said: str) -> dict[str, object]:
    return {"type": "text", "text": said}


BEGUN = {
    "type": "tool_execution_start",
    "toolCallId": "c1",
    "toolName": "write",
    "args": {"path": "/work/tree/src/app.py", "content": "x"},
}
ENDED = {"type": "tool_execution_end", "toolCallId": "c1", "toolName": "write", "isError": False}
END = {"type": "agent_end", "messages": []}
DONE = [BEGIN, message(text("I write it."), stop="toolUse"), BEGUN, ENDED, message(text("Written.")), END]


def test_the_prompt_is_on_standard_input() -> None:
    command = PI.build_command(make_context(session=SESSION, model="acme/m1"))
    assert command.argv == ("pi", "-p", "--mode", "json", "--model", "acme/m1", "--session", SESSION)
    assert command.stdin == "/state/write-1/prompt.md"
    assert dict(command.env)["PI_OFFLINE"] == "1"


def test_with_edit_permission_there_is_no_shell() -> None:
    argv = Pi(AgentSpec("pi", permission=Permission.EDITS)).build_command(make_context()).argv
    assert "bash" not in argv[argv.index("--tools") + 1].split(",")


def test_a_successful_run_is_ok() -> None:
    run = parse_output(PI, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.session == SESSION
    assert run.outcome.spend == Spend(2000, 2000)
    assert run.activities == [
        (ActivityKind.SAYS, "I write it."),
        (ActivityKind.EDITS, "editing src/app.py"),
        (ActivityKind.SAYS, "Written."),
    ]


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("401 Incorrect API key provided", Category.AUTH),
        ("429 Rate limit reached", Category.RATE_LIMIT),
        ("429 You exceeded your current quota", Category.QUOTA),
        ("500 Oh no", Category.OVERLOADED),
        ("400 This model's maximum context length is 10 tokens", Category.CONTEXT),
        ("Connection error.", Category.NETWORK),
        ("terminated", Category.NETWORK),
        ("400 Something odd", Category.TASK),
    ],
)
def test_its_last_message_tells_why_it_failed_though_it_exits_0(said: str, category: Category) -> None:
    assert parse_output(PI, [BEGIN, failure(said), END]).outcome.category is category


def test_a_wait_of_its_own_for_a_rate_limit_is_reported() -> None:
    retry = {
        "type": "auto_retry_start",
        "attempt": 1,
        "delayMs": 4000,
        "errorMessage": "429 Rate limit reached",
    }
    run = parse_output(PI, [BEGIN, failure("429 Rate limit reached"), END, retry, *DONE[1:]])
    assert run.refused == [RetryAfter(4.0)]
    assert run.outcome.category is Category.OK


def test_a_server_error_is_no_rate_limit() -> None:
    retry = {"type": "auto_retry_start", "attempt": 1, "delayMs": 4000, "errorMessage": "500 Oh no"}
    assert parse_output(PI, [retry]).refused == []


def test_an_empty_answer_is_reported() -> None:
    assert parse_output(PI, [BEGIN, message(), END]).outcome.category is Category.EMPTY


def test_a_run_with_changes_needs_no_message() -> None:
    assert parse_output(PI, [BEGIN, BEGUN, ENDED, message(), END]).outcome.category is Category.OK


def test_a_missing_login_is_an_auth_failure() -> None:
    lines = [
        BEGIN,
        "No API key found for the selected model.",
        "",
        "Use /login to log in. See:",
        "  docs/models.md",
    ]
    outcome = parse_output(PI, lines, code=1).outcome
    assert outcome.category is Category.AUTH
    assert outcome.detail == "No API key found for the selected model."


def test_a_missing_session_is_not_continued_again() -> None:
    outcome = parse_output(PI, ["No session found matching '01a1'"], code=1).outcome
    assert outcome.session == ""
    assert "session" in outcome.detail.lower()


def test_a_run_without_a_result_fails() -> None:
    assert parse_output(PI, DONE[:-1]).outcome.category is Category.TASK


def test_its_last_event_counts_though_it_was_cut_off() -> None:
    long = json.dumps({"type": "agent_end", "messages": ["x" * 70_000]}, separators=(",", ":"))
    assert parse_output(PI, [*DONE[:-1], long[:65536]]).outcome.category is Category.OK


class TestPiContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return PI

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return DONE

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return [failure("x")]
