"""OpenCode: how it is called, and what its events come to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from plait.agents.drivers.opencode import OpenCode
from plait.agents.interface import ActivityKind, Agent, AgentSpec, CostReporting, Price
from plait.config.agent_keys import Permission
from plait.core.settings import Spend
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

SESSION = "ses_0f1e2d3c4b5a"
OPENCODE = OpenCode(AgentSpec("opencode"))


def event(kind: str, **more: object) -> dict[str, object]:
    return {"type": kind, "timestamp": 1794700000000, "sessionID": SESSION, **more}


def text(said: str) -> dict[str, object]:
    return event("text", part={"type": "text", "text": said, "sessionID": SESSION})


def use(tool: str, **state: object) -> dict[str, object]:
    return event("tool_use", part={"type": "tool", "tool": tool, "callID": "c1", "state": state})


def step(reason: str, cost: float = 0.002, read: int = 1000, cached: int = 0, **more: object) -> dict[str, object]:
    tokens = {"input": read, "output": 20, "reasoning": 5, "cache": {"read": cached, "write": 0}}
    part = {"type": "step-finish", "reason": reason, "tokens": tokens, "cost": cost, **more}
    return event("step_finish", part=part)


def failure(message: str, name: str = "APIError", **data: object) -> dict[str, object]:
    return event("error", error={"name": name, "data": {"message": message, **data}})


WRITE = use("write", status="completed", input={"filePath": "src/app.py", "content": "x"}, title="src/app.py")
DONE = [text("I write it."), WRITE, step("tool-calls"), text("Written."), step("stop")]


def test_a_step_reported_twice_is_counted_once() -> None:
    first, last = step("tool-calls", id="p1"), step("stop", id="p2")
    assert parse_output(OPENCODE, [first, first, last, first, last]).outcome.spend == Spend(4000, 2050)


def test_the_prompt_is_on_standard_input() -> None:
    command = OPENCODE.build_command(make_context())
    assert command.argv == ("opencode", "run", "--format", "json", "--dir", "/work/tree", "--auto")
    assert command.stdin == "/state/write-1/prompt.md"
    assert dict(command.env) == {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}


def test_a_continued_session_uses_the_tasks_model() -> None:
    command = OPENCODE.build_command(make_context(session=SESSION, model="some/model"))
    assert f"--session={SESSION}" in command.argv
    assert "--model=some/model" in command.argv


def test_its_permissions_become_arguments() -> None:
    edits = OpenCode(AgentSpec("opencode", permission=Permission.EDITS)).build_command(make_context())
    own = OpenCode(AgentSpec("opencode", permission=Permission.OWN)).build_command(make_context())
    assert "--auto" not in edits.argv
    assert json.loads(dict(edits.env)["OPENCODE_PERMISSION"])["bash"] == "deny"
    assert "--auto" not in own.argv
    assert "OPENCODE_PERMISSION" not in dict(own.env)


@pytest.mark.parametrize(
    ("model", "account", "provider"),
    [("", "", "opencode"), ("acme/m1", "", "acme"), ("acme/m1", "team", "team"), ("m1", "", "opencode")],
)
def test_the_provider_is_that_of_the_model(model: str, account: str, provider: str) -> None:
    assert OpenCode(AgentSpec("opencode", model=model, account=account)).provider == provider


def test_a_successful_run_is_ok() -> None:
    run = parse_output(OPENCODE, DONE)
    assert run.outcome.category is Category.OK
    assert run.outcome.session == SESSION
    assert run.sessions == [SESSION]
    assert run.outcome.spend == Spend(4000, 2050)
    assert run.activities == [
        (ActivityKind.SAYS, "I write it."),
        (ActivityKind.EDITS, "editing src/app.py"),
        (ActivityKind.SAYS, "Written."),
    ]


def test_tokens_cost_what_the_settings_say() -> None:
    priced = OpenCode(AgentSpec("opencode", model="acme/m1", prices=(Price("acme/*", 2.0, 10.0, 1.0),)))
    run = parse_output(priced, [step("stop", cost=0, read=1000, cached=500)])
    assert run.outcome.spend == Spend(1000 * 2 + 500 + 25 * 10, 1525)
    assert OPENCODE.reports is CostReporting.COST


@pytest.mark.parametrize(
    ("failed", "category"),
    [
        (failure("Incorrect API key provided", statusCode=401), Category.AUTH),
        (failure("Slow down", statusCode=429), Category.RATE_LIMIT),
        (failure("You exceeded your current quota", statusCode=429), Category.QUOTA),
        (failure("Oh no", statusCode=503), Category.OVERLOADED),
        (failure("Cannot connect to API: Unable to connect."), Category.NETWORK),
        (failure("Too much text", "ContextOverflowError"), Category.CONTEXT),
        (failure("Log in first", "ProviderAuthError"), Category.AUTH),
        (failure("Something odd"), Category.TASK),
    ],
)
def test_each_failure_has_its_category(failed: dict[str, object], category: Category) -> None:
    run = parse_output(OPENCODE, [failed], code=1)
    assert run.outcome.category is category
    assert run.outcome.session == SESSION


def test_the_providers_retry_after_is_reported() -> None:
    run = parse_output(OPENCODE, [failure("Rate limit", statusCode=429, responseHeaders={"retry-after": "17"})], code=1)
    assert run.outcome.retry_after == 17.0


def test_an_error_that_the_tool_recovered_from_is_ignored() -> None:
    assert parse_output(OPENCODE, [failure("Slow down", statusCode=429), *DONE]).outcome.category is Category.OK


REJECTED = use("write", status="error", input={"filePath": "a"}, error="The user rejected permission to use this.")
BESIDE = "\x1b[93m\x1b[1m! \x1b[0mpermission requested: edit (src/app.py); auto-rejecting"


@pytest.mark.parametrize("lines", [[REJECTED, step("tool-calls"), BESIDE], [BESIDE, REJECTED, step("tool-calls")]])
def test_denied_tools_are_named(lines: list[object]) -> None:
    outcome = parse_output(OPENCODE, lines).outcome
    assert outcome.category is Category.USAGE
    assert "edit (src/app.py)" in outcome.detail
    assert "[agents.permission" in outcome.detail
    assert "write" not in outcome.detail


def test_after_a_line_that_was_cut_off_the_changes_are_unknown() -> None:
    line = json.dumps(
        use("write", status="completed", input={"filePath": "a", "content": "x" * 70_000}),
        separators=(",", ":"),
    )
    assert parse_output(OPENCODE, [line[:65536], step("stop")]).outcome.category is Category.OK


def test_a_missing_session_is_not_continued_again() -> None:
    outcome = parse_output(OPENCODE, ["Error: Session not found"], code=1).outcome
    assert outcome.session == ""
    assert "session" in outcome.detail.lower()


def test_a_run_that_stops_between_steps_fails() -> None:
    assert parse_output(OPENCODE, DONE[:3]).outcome.category is Category.TASK


def test_a_killed_run_is_killed_whatever_it_printed() -> None:
    assert parse_output(OPENCODE, DONE, code=143).outcome.category is Category.KILLED


def test_an_empty_answer_is_reported() -> None:
    assert parse_output(OPENCODE, [step("stop")]).outcome.category is Category.EMPTY


class TestOpenCodeContract(AgentContract):
    results = frozenset({Category.OK, Category.USAGE})

    @pytest.fixture
    def agent(self) -> Agent:
        return OPENCODE

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return DONE

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return [REJECTED, failure("x", statusCode=429, responseHeaders={"retry-after": "1"})]


def test_a_locked_database_at_the_first_start_is_retried() -> None:
    first = parse_output(OPENCODE, ["Error: Unexpected error", "", "database is locked"], 1).outcome
    assert first.category is Category.LOST
    later = parse_output(OPENCODE, [text("I look at it."), "database is locked"], 1).outcome
    assert later.category is Category.TASK
