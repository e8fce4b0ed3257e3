"""Cline: how it is called, and what its events come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from plait.agents.drivers.cline import Cline
from plait.agents.interface import ActivityKind, Agent, AgentSpec
from plait.config.agent_keys import Permission
from plait.core.errors import ConfigError
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

CLINE = Cline(AgentSpec("cline"))


def event(kind: str, **more: object) -> dict[str, object]:
    return {"ts": "2026-11-15T10:00:00Z", "type": "agent_event", "event": {"type": kind, **more}}


def tool(kind: str, name: str, **more: object) -> dict[str, object]:
    return event(kind, contentType="tool", toolName=name, toolCallId="c1", **more)


def end(reason: str = "completed", said: str = "Written.", cost: float = 0.25) -> dict[str, object]:
    usage = {"inputTokens": 900, "outputTokens": 100, "cacheReadTokens": 0, "totalCost": cost}
    return {
        "type": "run_result",
        "finishReason": reason,
        "usage": usage,
        "aggregateUsage": usage,
        "text": said,
    }


def failure(said: str) -> list[dict[str, object]]:
    told = event("error", error={"name": "Error", "message": said, "stack": "Error"}, recoverable=False)
    return [told, end("error", said, 0), {"type": "error", "message": said}]


SAID = event("content_end", contentType="text", text="Written.")
BEGUN = tool("content_start", "editor", input={"path": "src/app.py", "new_text": "x"})
USAGE = event("usage", totalInputTokens=500, totalOutputTokens=50, totalCost=0.1)
DONE = [BEGUN, tool("content_end", "editor", output={"success": True}), USAGE, SAID, end()]


def test_it_gets_the_path_of_the_prompt() -> None:
    command = CLINE.build_command(make_context(model="m1"))
    assert command.argv[-1] == "Read the file /state/write-1/prompt.md and do what it says."
    assert command.stdin is None
    assert "--model=m1" in command.argv


def test_it_runs_without_a_shared_daemon() -> None:
    assert dict(CLINE.build_command(make_context()).env)["CLINE_SESSION_BACKEND_MODE"] == "local"


def test_it_can_not_be_restricted_to_changing_files() -> None:
    with pytest.raises(ConfigError, match="cline can't be restricted to changing files"):
        Cline(AgentSpec("cline", permission=Permission.EDITS))


def test_a_successful_run_is_ok() -> None:
    run = parse_output(CLINE, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.spend == Spend(250_000, 1000)
    assert run.spends[0] == Spend(100_000, 550)
    assert run.activities == [(ActivityKind.EDITS, "editing src/app.py"), (ActivityKind.SAYS, "Written.")]


def test_its_commands_are_shown() -> None:
    run = parse_output(CLINE, [tool("content_start", "run_commands", input={"commands": ["pytest -q\ntrue"]})])
    assert run.activities == [(ActivityKind.RUNS, "running pytest -q")]


def test_the_files_it_reads_are_shown() -> None:
    run = parse_output(CLINE, [tool("content_start", "read_files", input={"files": [{"path": "src/app.py"}]})])
    assert run.activities == [(ActivityKind.READS, "reading src/app.py")]


ASKED = tool("content_start", "ask_question", input={"question": "Which colour?", "options": ["red", "blue"]})


def test_a_run_that_only_asks_waits_for_a_person() -> None:
    outcome = parse_output(CLINE, [ASKED, tool("content_end", "ask_question", output="red"), SAID, end()]).outcome
    assert outcome.category is Category.QUESTION
    assert outcome.question == "Which colour? (red, blue)"


def test_a_question_followed_by_changes_does_not_wait() -> None:
    assert parse_output(CLINE, [ASKED, *DONE]).outcome.category is Category.OK


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("Incorrect API key provided", Category.AUTH),
        ("Rate limit reached for m1", Category.RATE_LIMIT),
        ("You exceeded your current quota", Category.QUOTA),
        ("Internal server error", Category.OVERLOADED),
        ("Cannot connect to API: Unable to connect.", Category.NETWORK),
        ("The socket connection was closed unexpectedly.", Category.NETWORK),
        ("The request exceeds the model's context window", Category.CONTEXT),
        ("Model returned empty response", Category.EMPTY),
        ("Something odd", Category.TASK),
    ],
)
def test_each_failure_has_its_category(said: str, category: Category) -> None:
    outcome = parse_output(CLINE, failure(said), code=1).outcome
    assert outcome.category is category
    assert said in outcome.detail


def test_denied_tools_are_named() -> None:
    denied = tool("content_end", "editor", error='Tool "editor" requires approval in a TTY session')
    outcome = parse_output(CLINE, [BEGUN, denied, SAID, end()]).outcome
    assert outcome.category is Category.USAGE
    assert "editor" in outcome.detail


def test_warnings_of_its_libraries_are_not_shown() -> None:
    assert (
        parse_output(CLINE, ["DeprecationWarning: SDK Warning", *DONE]).activities
        == parse_output(CLINE, DONE).activities
    )


def test_a_run_without_a_result_fails() -> None:
    assert parse_output(CLINE, DONE[:-1]).outcome.category is Category.TASK


class TestClineContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return CLINE

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return DONE

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return [ASKED, *failure("x")]
