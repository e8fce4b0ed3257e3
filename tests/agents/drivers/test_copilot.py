"""GitHub Copilot CLI: how it is called, and what its events come to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from plait.agents.drivers.copilot import Copilot
from plait.agents.interface import ActivityKind, Agent, AgentSpec, CostReporting
from plait.agents.retry_after import NO_RETRY_AFTER
from plait.config.agent_keys import Permission
from plait.core.settings import NO_SPEND
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

COPILOT = Copilot(AgentSpec("copilot"))
SESSION = "0a1b2c3d-0000-4000-8000-0123456789ab"


def event(kind: str, **data: object) -> dict[str, object]:
    return {"type": kind, "data": data, "id": "e1", "parentId": None}


def complete(**more: object) -> dict[str, object]:
    return event("tool.execution_complete", toolCallId="c1", **more)


def end(code: int = 0) -> dict[str, object]:
    return {"type": "result", "sessionId": SESSION, "exitCode": code, "usage": {"premiumRequests": 1}}


def failure(said: str, **more: object) -> dict[str, object]:
    return event("session.error", errorType="query", message=said, **more)


BEGUN = event("tool.execution_start", toolCallId="c1", toolName="create", arguments={"path": "src/app.py"})
SAID = event("assistant.message", content="Written.", toolRequests=[])
DONE = [BEGUN, complete(success=True), SAID, end()]


def test_it_works_where_it_is_told_also_with_a_session_from_elsewhere() -> None:
    command = COPILOT.build_command(make_context(session=SESSION, model="m1"))
    assert command.argv[:3] == ("copilot", "-C", "/work/tree")
    assert f"--resume={SESSION}" in command.argv
    assert "--model=m1" in command.argv
    assert "--allow-all" in command.argv
    assert command.stdin == "/state/write-1/prompt.md"
    assert dict(command.env)["COPILOT_AUTO_UPDATE"] == "false"


def test_what_it_may_do() -> None:
    edits = Copilot(AgentSpec("copilot", permission=Permission.EDITS)).build_command(make_context()).argv
    own = Copilot(AgentSpec("copilot", permission=Permission.OWN)).build_command(make_context()).argv
    assert "--allow-tool=write" in edits
    assert "--allow-all" not in (*edits, *own)


def test_a_good_run() -> None:
    run = parse_output(COPILOT, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.session == SESSION
    assert run.activities == [(ActivityKind.EDITS, "editing src/app.py"), (ActivityKind.SAYS, "Written.")]


def test_it_tells_nothing_of_what_it_costs() -> None:
    assert COPILOT.reports is CostReporting.NOTHING
    assert parse_output(COPILOT, DONE).outcome.spend == NO_SPEND


@pytest.mark.parametrize(
    ("failed", "category"),
    [
        (failure("Authentication failed (HTTP 401)", statusCode=401), Category.AUTH),
        (failure("Last error: 429 Slow down", statusCode=429), Category.RATE_LIMIT),
        (failure("Last error: 429 You exceeded your current quota", statusCode=429), Category.QUOTA),
        (failure("Last error: 500 Oh no", statusCode=500), Category.OVERLOADED),
        (failure("400 This model's maximum context length is 10 tokens", statusCode=400), Category.CONTEXT),
        (failure("Could not connect to local model provider"), Category.NETWORK),
        (failure("Last error: error reading a body from connection: unexpected EOF"), Category.NETWORK),
        (failure("No response was returned. Send your message again."), Category.EMPTY),
        (event("session.error", errorType="rate_limit", message="Wait a bit"), Category.RATE_LIMIT),
        (failure("Something odd"), Category.TASK),
    ],
)
def test_why_it_failed(failed: dict[str, object], category: Category) -> None:
    assert parse_output(COPILOT, [failed, end(1)], code=1).outcome.category is category


def test_of_many_tries_the_last_error_is_told() -> None:
    run = parse_output(
        COPILOT, [failure("Failed; retried 5 times Last error: 500 Oh no", statusCode=500), end(1)], code=1
    )
    assert run.outcome.detail == "500 Oh no"


def test_while_it_waits_by_itself_its_provider_refuses() -> None:
    said = json.dumps({"message": "Rate limit reached", "code": "rate_limit_exceeded"})
    run = parse_output(COPILOT, [event("model.call_failure", statusCode=429, errorMessage=said), *DONE])
    assert run.refused == [NO_RETRY_AFTER]
    assert run.outcome.category is Category.OK


def test_what_it_was_not_allowed_is_named() -> None:
    denied = complete(success=False, error={"message": "Permission denied", "code": "denied"})
    outcome = parse_output(COPILOT, [BEGUN, denied, SAID, end()]).outcome
    assert outcome.category is Category.USAGE
    assert "create" in outcome.detail
    assert "[agents.permission" in outcome.detail


def test_what_it_did_all_the_same_is_judged_by_its_diff() -> None:
    denied = complete(success=False, error={"code": "denied"})
    assert parse_output(COPILOT, [BEGUN, denied, *DONE]).outcome.category is Category.OK


def test_who_is_not_logged_in_is_told_so() -> None:
    lines = ["Error: No authentication information found.", "", "To authenticate:", "  Run 'gh auth login'"]
    outcome = parse_output(COPILOT, lines, code=1).outcome
    assert outcome.category is Category.AUTH
    assert outcome.detail == "Error: No authentication information found."


def test_of_a_line_that_lost_its_end_nobody_knows_what_it_told() -> None:
    line = json.dumps(complete(success=True, result={"content": "x" * 70_000}), separators=(",", ":"))
    assert parse_output(COPILOT, [line[:65536], end()]).outcome.category is Category.OK


def test_a_session_that_is_gone_is_not_tried_again() -> None:
    outcome = parse_output(COPILOT, ["Error: No session, task, or name matched '0a1b'."], code=1).outcome
    assert outcome.session == ""
    assert "session" in outcome.detail.lower()


def test_a_run_that_broke_off_did_not_end_well() -> None:
    assert parse_output(COPILOT, DONE[:-1]).outcome.category is Category.TASK


class TestCopilotContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return COPILOT

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return DONE

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return [failure("x", statusCode=429), complete(success=False, error={"code": "x"})]
