"""Agent Cube: how it is called, and the phases that it prints."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from plait.agents.drivers.plain_text_tools import Cube
from plait.agents.interface import Agent, AgentSpec, CostReporting
from plait.config.agent_keys import Permission
from plait.core.errors import ConfigError
from plait.core.status import Category
from plait.testing.contracts.agent import AgentContract, make_context, parse_output

CUBE = Cube(AgentSpec("cube"))
LINES = [
    "═══ Phase 1: Writers ═══",
    "Writer A: creating src/app.py",
    "═══ Phase 2: Panel ═══",
    "Judge B: reviewing",
]


def test_it_gets_the_task_file() -> None:
    command = CUBE.build_command(make_context())
    assert command.argv == ("cube", "auto", "/state/04-split.md")
    assert command.stdin is None


def test_the_next_attempt_continues_the_last() -> None:
    assert CUBE.build_command(make_context(n=2)).argv == ("cube", "auto", "/state/04-split.md", "--resume")


def test_arguments_from_the_settings_come_last() -> None:
    agent = Cube(AgentSpec("cube", program="/opt/cube", args=("--writers", "2")))
    assert agent.build_command(make_context()).argv == (
        "/opt/cube",
        "auto",
        "/state/04-split.md",
        "--writers",
        "2",
    )


def test_its_phases_are_reported_and_its_exit_status_counts() -> None:
    run = parse_output(CUBE, LINES)
    assert run.phases == ["Phase 1: Writers", "Phase 2: Panel"]
    assert run.outcome.category is Category.OK
    assert parse_output(CUBE, LINES, code=1).outcome.category is Category.TASK
    assert CUBE.reports is CostReporting.NOTHING


def test_its_last_lines_may_explain_a_failure() -> None:
    assert parse_output(CUBE, [*LINES, "Error: 429 Too many requests"], code=1).outcome.category is Category.RATE_LIMIT


def test_it_can_not_be_restricted_to_changing_files() -> None:
    with pytest.raises(ConfigError, match="cube can't be restricted to changing files"):
        Cube(AgentSpec("cube", permission=Permission.EDITS))


class TestCubeContract(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return CUBE

    @pytest.fixture
    def success(self) -> Sequence[object]:
        return LINES
