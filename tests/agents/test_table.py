from __future__ import annotations

from pathlib import Path

import pytest

from plait.agents.command import AnyCommand, spec
from plait.agents.known import BY_NAME, KNOWN
from plait.agents.model import AgentSpec
from plait.agents.shell import Shell
from plait.agents.table import AGENTS, load, why_not
from plait.core.errors import ConfigError
from plait.core.task import Task

ELSEWHERE = """\
from plait.agents.listening import Listening
from plait.agents.model import Command
class Ours:
    provider = "ours"
    def __init__(self, spec): self.name = spec.name
    def command(self, brief): return Command(("true",))
    def listen(self): return Listening(words=False)
"""


def test_an_agent_is_found_by_its_name() -> None:
    assert isinstance(load(AgentSpec("shell")), Shell)
    assert isinstance(load(spec("tool")), AnyCommand)


def test_whoever_comes_with_a_command_is_run_by_it() -> None:
    agent = load(AgentSpec("cube", ("cube", "auto", "{task_file}")))
    assert isinstance(agent, AnyCommand)
    assert (agent.name, agent.provider) == ("cube", "cube")


@pytest.mark.parametrize("path", ["plait_test_agents:Ours", "plait_test_agents.Ours"])
def test_any_dotted_path_of_a_factory_is_an_agent(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plait_test_agents.py").write_text(ELSEWHERE)
    monkeypatch.syspath_prepend(tmp_path)
    agent = load(AgentSpec(path))
    assert (agent.name, agent.provider) == (path, "ours")


@pytest.mark.parametrize(
    "path", ["no.such.module:Thing", "plait.agents.shell:Nothing", "os:", ":x", "a:b:c", "..x"]
)
def test_a_path_that_leads_nowhere_is_told(path: str) -> None:
    with pytest.raises(ConfigError, match="can't be loaded"):
        load(AgentSpec(path))


def test_a_task_file_does_not_choose_which_module_is_imported() -> None:
    said = why_not("our.agents:Ours", Task("t", agent="our.agents:Ours"))
    assert said == "has a module as its agent (our.agents:Ours), which only settings and flags may name"
    assert why_not("our.agents:Ours", Task("t")) is None


def test_a_slip_is_told_with_what_was_meant() -> None:
    with pytest.raises(ConfigError) as caught:
        load(AgentSpec("shel"))
    assert caught.value.message == "there is no agent called shel"
    assert caught.value.hint.startswith("Did you mean shell? `plait agents` lists them")


def test_an_agent_that_comes_later_says_so_and_what_to_do_meanwhile() -> None:
    with pytest.raises(ConfigError) as caught:
        load(AgentSpec("claude"))
    assert caught.value.message == "this version of plait can't drive Claude Code (claude) yet"
    assert "--agent-command 'claude -p --permission-mode acceptEdits'" in caught.value.hint


def test_a_command_without_its_words_is_told() -> None:
    with pytest.raises(ConfigError, match="is empty"):
        load(AgentSpec("command"))


def test_what_is_said_to_be_driven_is_in_the_table_and_the_other_way_round() -> None:
    assert {known.name for known in KNOWN if known.driven} == set(AGENTS)
    assert len(BY_NAME) == len(KNOWN)


@pytest.mark.parametrize("known", [known for known in KNOWN if known.command], ids=lambda known: known.name)
def test_the_commands_that_are_proposed_are_sound(known: object) -> None:
    command = getattr(known, "command", "")
    assert spec(command).command[0] == getattr(known, "program", "")
