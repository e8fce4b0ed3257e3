"""Continue: how it is called, and what the little that it prints comes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from plait.agents.drivers.cn import Continue
from plait.agents.interface import ActivityKind, Agent, AgentSpec, CostReporting
from plait.config.agent_keys import Permission
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

CN = Continue(AgentSpec("cn"))


def failure(said: str) -> dict[str, object]:
    return {"status": "error", "message": said}


def test_no_argument_follows_the_prompt_option() -> None:
    agent = Continue(AgentSpec("cn", args=("--config", "mine.yaml")))
    command = agent.build_command(make_context(model="acme/m1"))
    assert command.argv == ("cn", "--model=acme/m1", "--auto", "--config", "mine.yaml", "-p")
    assert command.stdin == "/state/write-1/prompt.md"
    assert dict(command.env)["CONTINUE_CLI_ENABLE_TELEMETRY"] == "0"


def test_with_edit_permission_there_is_no_shell() -> None:
    argv = Continue(AgentSpec("cn", permission=Permission.EDITS)).build_command(make_context()).argv
    assert argv[argv.index("--exclude") + 1] == "Bash"
    assert "--auto" not in argv


def test_its_final_message_is_shown() -> None:
    run = parse_output(CN, ["Written."])
    assert run.outcome.category is Category.OK
    assert run.activities == [(ActivityKind.SAYS, "Written.")]
    assert CN.reports is CostReporting.NOTHING


def test_the_answer_may_be_json() -> None:
    run = parse_output(CN, [{"response": "Written.", "status": "success"}])
    assert run.outcome.category is Category.OK
    assert run.activities == [(ActivityKind.SAYS, "Written.")]


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("401 Incorrect API key provided", Category.AUTH),
        ("429 Rate limit reached", Category.RATE_LIMIT),
        ("500 Oh no", Category.OVERLOADED),
        ("Connection error.", Category.NETWORK),
        (
            "Context length exceeded: Error: 400 This model's maximum context length is 10 tokens",
            Category.CONTEXT,
        ),
        ("Something odd", Category.TASK),
    ],
)
def test_each_failure_has_its_category(said: str, category: Category) -> None:
    outcome = parse_output(CN, [failure(said)], code=1).outcome
    assert outcome.category is category
    assert said in outcome.detail


@pytest.mark.parametrize("lines", [[], ["", "\n"]])
def test_it_prints_nothing_if_the_answer_is_empty(lines: list[object]) -> None:
    assert parse_output(CN, lines).outcome.category is Category.EMPTY


def test_a_killed_run_is_killed_whatever_it_printed() -> None:
    assert parse_output(CN, ["Written."], code=137).outcome.category is Category.KILLED


class TestContinueContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return CN

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return ["Written."]

    @pytest.fixture
    def events(self) -> Sequence[Mapping[str, object]]:
        return [{"response": "x", "status": "success"}]
