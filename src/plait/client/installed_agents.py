"""The agents, as they are here: which are installed, which are logged in, and what the settings say of each."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from plait.agents.interface import AgentSpec
from plait.agents.table import AGENTS, ENTRY_POINT_GROUP
from plait.agents.table__known import KNOWN_AGENTS, KnownAgent
from plait.client.agent_specs import build_agent_specs
from plait.client.agent_specs__tools import explain_missing, find_default_agent
from plait.client.installed_agents__logins import LoggedIn, LoginStatus, detect_login
from plait.client.installed_agents__programs import Program, probe_programs
from plait.config.config import Config, Layer
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Settings

__all__ = ["InstalledAgent", "LoggedIn", "list_agents"]


@dataclass(frozen=True, slots=True)
class InstalledAgent:
    """`program` None: it has none of its own. `default`: it serves the tasks that name nobody."""

    known: KnownAgent
    program: Program | None
    login: LoginStatus
    default: bool
    spec: AgentSpec

    @property
    def is_available(self) -> bool:
        return explain_missing(self.spec) is None if self.program is None else self.program.path is not None


def list_agents(config: Config) -> list[InstalledAgent]:
    """All that are known, and those that other packages bring. Their programs are asked for their versions."""
    set_ = {spec.name: spec for spec in build_agent_specs(config)}
    known = [*KNOWN_AGENTS, *_list_plugins()]
    found = _find_programs(config, known)
    serving = config.default_agents or find_default_agent(config) or Settings().agents
    return [
        InstalledAgent(
            each,
            found.get(each.name),
            detect_login(each.login, os.environ, Path.home(), keychain=sys.platform == "darwin"),
            each.name in serving,
            set_.get(each.name, AgentSpec(each.name)),
        )
        for each in known
    ]


def _find_programs(config: Config, known: Sequence[KnownAgent]) -> Mapping[str, Program]:
    """What a repository's own settings name is looked for, and not run: nobody has been asked whether it is trusted."""
    own = dict(config.agents.programs)
    theirs = config.origins["agents.programs"].layer is Layer.REPOSITORY
    wanted = {each.name: own.get(each.name, each.program) for each in known}
    asked = probe_programs(
        [program for name, program in wanted.items() if program and not (theirs and name in own)]
    )
    return {
        name: asked.get(program) or Program(program, shutil.which(program))
        for name, program in wanted.items()
        if program
    }


def _list_plugins() -> list[KnownAgent]:
    points = {
        point.name: point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name not in AGENTS
    }
    return [
        KnownAgent(name, f"from the package {point.dist.name}" if point.dist else "from another package")
        for name, point in sorted(points.items())
    ]
