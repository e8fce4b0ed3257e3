from __future__ import annotations

from pathlib import Path

import pytest

from plait.agents.drivers.command import CommandAgent, build_command_spec
from plait.agents.drivers.shell import ShellAgent
from plait.agents.interface import AgentSpec
from plait.agents.table import (
    AGENTS,
    AgentInfo,
    describe_full_access,
    explain_unsupported,
    find_provider,
    load_agent,
    render_reference,
)
from plait.config.agent_keys import Permission
from plait.core.errors import ConfigError
from plait.core.task import Task

ELSEWHERE = """\
from plait.agents.output_parser import PlainTextParser
from plait.agents.interface import Command
class Ours:
    provider = "ours"
    def __init__(self, spec): self.name = spec.name
    def build_command(self, context): return Command(("true",))
    def create_parser(self, before): return PlainTextParser(use_output=False)
"""


def test_an_agent_is_loaded_by_its_name() -> None:
    assert isinstance(load_agent(AgentSpec("shell")), ShellAgent)
    assert isinstance(load_agent(build_command_spec("tool")), CommandAgent)


def test_an_agent_with_a_command_is_run_by_it() -> None:
    agent = load_agent(AgentSpec("cube", ("cube", "auto", "{task_file}")))
    assert isinstance(agent, CommandAgent)
    assert (agent.name, agent.provider) == ("cube", "cube")


@pytest.mark.parametrize("path", ["plait_test_agents:Ours", "plait_test_agents.Ours"])
def test_the_dotted_path_of_a_factory_is_an_agent(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plait_test_agents.py").write_text(ELSEWHERE)
    monkeypatch.syspath_prepend(tmp_path)
    agent = load_agent(AgentSpec(path))
    assert (agent.name, agent.provider) == (path, "ours")


@pytest.mark.parametrize(
    "path", ["no.such.module:Thing", "plait.agents.drivers.shell:Nothing", "os:", ":x", "a:b:c", "..x"]
)
def test_a_dotted_path_that_can_not_be_imported_is_an_error(path: str) -> None:
    with pytest.raises(ConfigError, match="can't be loaded"):
        load_agent(AgentSpec(path))


def test_a_task_file_does_not_choose_which_module_is_imported() -> None:
    said = explain_unsupported("our.agents:Ours", Task("t", agent="our.agents:Ours"))
    assert said == "has a module as its agent (our.agents:Ours), which only settings and flags may name"
    assert explain_unsupported("our.agents:Ours", Task("t")) is None


@pytest.mark.parametrize("model", ["m\0", "m\x1b[2J", "m\n-x"])
def test_an_unprintable_model_name_is_reported_before_the_task_starts(model: str) -> None:
    assert explain_unsupported("claude", Task("t", model="opus-4")) is None
    assert (explain_unsupported("claude", Task("t", model=model)) or "").startswith(
        "has a model whose name contains an unprintable"
    )


def test_a_misspelt_agent_has_a_suggestion() -> None:
    with pytest.raises(ConfigError) as caught:
        load_agent(AgentSpec("shel"))
    assert caught.value.message == "there is no agent called shel"
    assert caught.value.hint.startswith("Did you mean shell? `plait agents` lists them")


def test_the_command_agent_needs_a_command() -> None:
    with pytest.raises(ConfigError, match="is empty"):
        load_agent(AgentSpec("command"))


def test_the_table_in_the_documentation_is_up_to_date() -> None:
    """Printed by `python -m plait.agents.table`."""
    assert render_reference() in (Path(__file__).parents[2] / "docs" / "agents.md").read_text()


@pytest.mark.parametrize(
    "known", [known for known in AGENTS.values() if known.name != "command"], ids=lambda known: known.name
)
def test_every_agent_of_the_table_can_be_loaded_and_has_a_provider(known: AgentInfo) -> None:
    agent = load_agent(AgentSpec(known.name))
    assert agent.name == known.name
    assert agent.provider


@pytest.mark.parametrize("known", [known for known in AGENTS.values() if known.program], ids=lambda known: known.name)
def test_agents_of_one_account_share_its_rate_limits(known: AgentInfo) -> None:
    assert load_agent(AgentSpec(known.name, account="work")).provider == "work"


def test_another_package_adds_an_agent_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plait_plugin_agents.py").write_text(ELSEWHERE)
    info = tmp_path / "plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[plait.agents]\nours = plait_plugin_agents:Ours\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_agent(AgentSpec("ours")).provider == "ours"


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("model", ["", "sonnet", "openrouter/x/y", "/x"])
def test_the_provider_is_known_before_an_agent_is_loaded(name: str, model: str) -> None:
    bare, led = AgentSpec(name, model=model), AgentSpec(name, ("tool",), model=model)
    for known in (led,) if name == "command" else (bare, led):
        assert find_provider(known) == load_agent(known).provider
    assert find_provider(AgentSpec(name, model=model, account="ours")) == "ours"


def test_a_model_shares_the_rate_limits_of_its_server() -> None:
    known = AgentSpec("model", options=(("base_url", '"http://here:1/v1"'),))
    assert find_provider(known) == load_agent(known).provider == "here:1"


def test_the_provider_of_a_plugin_comes_from_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plait_other_agents.py").write_text(ELSEWHERE)
    monkeypatch.syspath_prepend(tmp_path)
    assert find_provider(AgentSpec("plait_other_agents:Ours")) == "ours"
    with pytest.raises(ConfigError, match="there is no agent called nobody"):
        find_provider(AgentSpec("nobody"))


FULL = Permission.FULL


@pytest.mark.parametrize(
    ("permissions", "names", "setting"),
    [
        ({"claude": FULL}, "claude (--dangerously-skip-permissions) runs", 'claude = "edits"'),
        (
            {"mini": FULL, "shell": FULL, "command": FULL, "ours:Factory": FULL, "cube": FULL},
            "mini (--yolo) runs",
            'mini = "own"',
        ),
        (
            {"mini": FULL, "pi": FULL, "codex": Permission.EDITS, "gemini": FULL, "amp": FULL},
            "mini (--yolo), pi, gemini (--yolo) and 1 more run",
            'pi = "edits"',
        ),
    ],
    ids=["one", "without a mode for edits", "several"],
)
def test_agents_that_do_everything_without_asking_are_disclosed(
    permissions: dict[str, Permission], names: str, setting: str
) -> None:
    assert describe_full_access(permissions) == (
        f"{names} with permission prompts disabled and can do anything you can."
        f" To change that: {setting} under [agents.permissions]."
    )


def test_restricted_agents_and_commands_are_not_disclosed() -> None:
    assert not describe_full_access({"claude": Permission.OWN, "codex": Permission.EDITS, "model": FULL, "shell": FULL})
    assert not describe_full_access({})


def test_every_coding_tool_says_how_it_is_let_do_everything() -> None:
    """Pi never asks; the settings of Agent Cube say what its agents may do."""
    assert {info.name for info in AGENTS.values() if info.program and not info.full_access} == {"pi", "cube"}
