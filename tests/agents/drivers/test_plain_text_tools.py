"""Tools that plait was never tried with: at least their commands are as their documents say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from plait.agents.interface import Agent, AgentSpec
from plait.agents.table import AGENTS, load_agent
from plait.config.agent_keys import Permission
from plait.core.errors import ConfigError
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

NAMES = ["amp", "goose", "cursor-agent"]
PROMPT = "/state/write-1/prompt.md"


@pytest.mark.parametrize("name", NAMES)
def test_they_are_marked_as_untested(name: str) -> None:
    assert not AGENTS[name].tested


def test_the_commands_are_as_documented() -> None:
    argv = {name: load_agent(AgentSpec(name)).build_command(make_context(model="m1")).argv for name in NAMES}
    assert argv["amp"] == ("amp", "--dangerously-allow-all", "--execute")
    assert argv["goose"] == ("goose", "run", "--no-session", "--instructions", PROMPT)
    assert argv["cursor-agent"][:-1] == (
        *("cursor-agent", "--print", "--output-format", "text"),
        *("--force", "--model=m1"),
    )


@pytest.mark.parametrize(
    ("permission", "mode"),
    [(Permission.FULL, "auto"), (Permission.EDITS, "smart_approve"), (Permission.OWN, None)],
)
def test_gooses_permissions_are_in_its_environment(permission: Permission, mode: str | None) -> None:
    command = load_agent(AgentSpec("goose", permission=permission)).build_command(make_context(model="m1"))
    assert dict(command.env).get("GOOSE_MODE") == mode
    assert dict(command.env)["GOOSE_MODEL"] == "m1"


@pytest.mark.parametrize("name", ["amp", "cursor-agent"])
def test_a_tool_that_can_not_be_restricted_says_so(name: str) -> None:
    with pytest.raises(ConfigError, match="can't be restricted to changing files"):
        load_agent(AgentSpec(name, permission=Permission.EDITS))


@pytest.mark.parametrize("name", NAMES)
def test_the_exit_status_counts(name: str) -> None:
    agent = load_agent(AgentSpec(name))
    assert parse_output(agent, ["done"]).outcome.category is Category.OK
    assert parse_output(agent, ["Error: connect ECONNREFUSED"], code=1).outcome.category is Category.NETWORK


class TestPlainTextToolContract(AgentContract):
    @pytest.fixture(params=NAMES)
    def agent(self, request: pytest.FixtureRequest) -> Agent:
        return load_agent(AgentSpec(request.param))

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return ["done"]
