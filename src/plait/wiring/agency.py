"""The agents, as they are here: which are installed, which are logged in, and what the settings say of each."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from plait.adapters.checkup.logins import LoggedIn, Seen, look
from plait.adapters.checkup.programs import Program, ask
from plait.agents.known import KNOWN, Known
from plait.agents.model import AgentSpec
from plait.agents.table import AGENTS, GROUP
from plait.config.model import Config, Layer
from plait.core.frozen import dataclass
from plait.core.settings import Settings
from plait.wiring.agents import specs
from plait.wiring.tools import first_here, missing

__all__ = ["Here", "LoggedIn", "agency"]


@dataclass(frozen=True, slots=True)
class Here:
    """`program` None: it has none of its own. `default`: it serves the tasks that name nobody."""

    known: Known
    program: Program | None
    login: Seen
    default: bool
    spec: AgentSpec

    @property
    def available(self) -> bool:
        return missing(self.spec) is None if self.program is None else self.program.path is not None


def agency(config: Config) -> list[Here]:
    """All that are known, and those that other packages bring. Their programs are asked for their versions."""
    set_ = {spec.name: spec for spec in specs(config)}
    known = [*KNOWN, *_plugins()]
    found = _programs(config, known)
    serving = config.serving or first_here(config) or Settings().agents
    return [
        Here(
            each,
            found.get(each.name),
            look(each.login, os.environ, Path.home(), keychain=sys.platform == "darwin"),
            each.name in serving,
            set_.get(each.name, AgentSpec(each.name)),
        )
        for each in known
    ]


def _programs(config: Config, known: Sequence[Known]) -> Mapping[str, Program]:
    """What a repository's own settings name is looked for, and not run: nobody has been asked whether it is trusted."""
    own = dict(config.agents.programs)
    theirs = config.given["agents.programs"].layer is Layer.REPOSITORY
    wanted = {each.name: own.get(each.name, each.program) for each in known}
    asked = ask([program for name, program in wanted.items() if program and not (theirs and name in own)])
    return {
        name: asked.get(program) or Program(program, shutil.which(program))
        for name, program in wanted.items()
        if program
    }


def _plugins() -> list[Known]:
    points = {point.name: point for point in entry_points(group=GROUP) if point.name not in AGENTS}
    return [
        Known(name, f"from the package {point.dist.name}" if point.dist else "from another package")
        for name, point in sorted(points.items())
    ]
