"""What `plait init` finds: sources, agents, and the commands that set the project up and test it. No program is run."""

from __future__ import annotations

import shutil
from pathlib import Path

from plait.agents.table import AGENTS
from plait.client import config_files
from plait.client.config_files import get_nested
from plait.client.json_encoding import api_model
from plait.client.source_reader import discover_sources, read_named_sources
from plait.client.toolchains import ProjectCommands, suggest_commands
from plait.config.loading import PYPROJECT
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Severity
from plait.git.location import RepoLocation


@api_model
class FoundSource:
    """A source that was found: the numbers of its open tasks and of all tasks, or why it can't be read."""

    path: str
    format: str | None = None
    open: int = 0
    total: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class RepoScan:
    """What was found in a repository. `agents` are the known ones that are installed."""

    sources: tuple[FoundSource, ...]
    agents: tuple[str, ...]
    commands: ProjectCommands

    @property
    def agent(self) -> str | None:
        """The agent to propose."""
        return next((name for name in self.agents if AGENTS[name].proposed), None)


def scan_repo(location: RepoLocation, path: str) -> RepoScan:
    """Scan a repository without running any program; `path` is the PATH on which programs are looked for."""
    sources = tuple(
        examine_source(location, location.relative_name(source)) for source in discover_sources(location.top)
    )
    commands = suggest_commands(location.top, path, in_worktrees=location.repository)
    return RepoScan(sources, find_installed_agents(path), commands)


def examine_source(location: RepoLocation, name: str) -> FoundSource:
    """Examine a source by its name relative to the top. A glob may match several."""
    if not _is_storable_name(name):
        return FoundSource(name, problem="no file of settings can hold a name like this")
    try:
        sources, _ = read_named_sources(location, [name], where=location.top)
    except PlaitError as error:
        return FoundSource(name, problem=error.message.removeprefix(f"{name}: "))
    formats = " and ".join(dict.fromkeys(source.format for source in sources))
    tasks = [entry for source in sources for entry in source.reading.entries if not entry.parts]
    if tasks:
        return FoundSource(name, formats, sum(not entry.status.is_closed for entry in tasks), len(tasks))
    problems = [problem for source in sources for problem in source.reading.problems]
    worst = min(problems, key=lambda problem: list(Severity).index(problem.severity), default=None)
    text = f"{worst.at}: {worst.message}" if worst else "there is no task in it"
    return FoundSource(name, formats, problem=text)


def _is_storable_name(name: str) -> bool:
    """Whether a name survives being stored in a text file: bytes that are not UTF-8 and spaces at the ends don't."""
    return name == name.strip() and not any("\ud800" <= char <= "\udfff" for char in name)


def find_installed_agents(path: str) -> tuple[str, ...]:
    """Return the known agents that are on this PATH."""
    return tuple(info.name for info in AGENTS.values() if info.program and shutil.which(info.program, path=path))


def has_settings_in_pyproject(top: Path) -> bool:
    return get_nested(config_files.read_toml(top / PYPROJECT), "tool", "plait") is not None
