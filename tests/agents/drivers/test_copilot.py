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


def test_it_works_in_the_workspace_even_with_a_session_from_another_folder() -> None:
    command = COPILOT.build_command(make_context(session=SESSION, model="m1"))
    assert command.argv[:3] == ("copilot", "-C", "/work/tree")
    assert f"--resume={SESSION}" in command.argv
    assert "--model=m1" in command.argv
    assert "--allow-all" in command.argv
    assert command.stdin == "/state/write-1/prompt.md"
    assert dict(command.env)["COPILOT_AUTO_UPDATE"] == "false"


def test_its_permissions_become_arguments() -> None:
    edits = Copilot(AgentSpec("copilot", permission=Permission.EDITS)).build_command(make_context()).argv
    own = Copilot(AgentSpec("copilot", permission=Permission.OWN)).build_command(make_context()).argv
    assert "--allow-tool=write" in edits
    assert "--allow-all" not in (*edits, *own)


def test_a_successful_run_is_ok() -> None:
    run = parse_output(COPILOT, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.session == SESSION
    assert run.activities == [(ActivityKind.EDITS, "editing src/app.py"), (ActivityKind.SAYS, "Written.")]


def test_it_reports_no_cost() -> None:
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
def test_each_failure_has_its_category(failed: dict[str, object], category: Category) -> None:
    assert parse_output(COPILOT, [failed, end(1)], code=1).outcome.category is category


def test_the_last_error_of_several_tries_is_reported() -> None:
    run = parse_output(
        COPILOT, [failure("Failed; retried 5 times Last error: 500 Oh no", statusCode=500), end(1)], code=1
    )
    assert run.outcome.detail == "500 Oh no"


def test_a_wait_of_its_own_for_a_rate_limit_is_reported() -> None:
    said = json.dumps({"message": "Rate limit reached", "code": "rate_limit_exceeded"})
    run = parse_output(COPILOT, [event("model.call_failure", statusCode=429, errorMessage=said), *DONE])
    assert run.refused == [NO_RETRY_AFTER]
    assert run.outcome.category is Category.OK


def test_denied_tools_are_named() -> None:
    denied = complete(success=False, error={"message": "Permission denied", "code": "denied"})
    outcome = parse_output(COPILOT, [BEGUN, denied, SAID, end()]).outcome
    assert outcome.category is Category.USAGE
    assert "create" in outcome.detail
    assert "[agents.permission" in outcome.detail


def test_a_run_with_changes_is_ok_whatever_it_was_denied() -> None:
    denied = complete(success=False, error={"code": "denied"})
    assert parse_output(COPILOT, [BEGUN, denied, *DONE]).outcome.category is Category.OK


def test_a_missing_login_is_an_auth_failure() -> None:
    lines = ["Error: No authentication information found.", "", "To authenticate:", "  Run 'gh auth login'"]
    outcome = parse_output(COPILOT, lines, code=1).outcome
    assert outcome.category is Category.AUTH
    assert outcome.detail == "Error: No authentication information found."


def test_after_a_line_that_was_cut_off_the_changes_are_unknown() -> None:
    line = json.dumps(complete(success=True, result={"content": "x" * 70_000}), separators=(",", ":"))
    assert parse_output(COPILOT, [line[:65536], end()]).outcome.category is Category.OK


def test_a_missing_session_is_not_continued_again() -> None:
    outcome = parse_output(COPILOT, ["Error: No session, task, or name matched '0a1b'."], code=1).outcome
    assert outcome.session == ""
    assert "session" in outcome.detail.lower()


def test_a_run_without_a_result_fails() -> None:
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
