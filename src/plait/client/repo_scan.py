"""What `plait init` finds: sources, agents, tests."""

from __future__ import annotations

import shutil
from pathlib import Path

from plait.agents.table import AGENTS
from plait.client.source_reader import discover_sources, read_named_sources
from plait.client.verify_suggestions import CommandSuggestion, suggest_test_command
from plait.config.loading import PYPROJECT
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Severity
from plait.git.location import RepoLocation
from plait.system.safe_read import get_nested, read_toml


@dataclass(frozen=True, slots=True)
class FoundSource:
    """A source that was found: the numbers of its open tasks and of all tasks, or why it can't be read."""

    path: str
    format: str | None = None
    open: int = 0
    total: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class RepoScan:
    """`agents` are the known ones that are installed."""

    sources: tuple[FoundSource, ...]
    agents: tuple[str, ...]
    verify: CommandSuggestion | None

    @property
    def agent(self) -> str | None:
        """The agent to propose."""
        return next((name for name in self.agents if AGENTS[name].proposed), None)


def scan_repo(location: RepoLocation, path: str) -> RepoScan:
    """`path` is the PATH that agents are looked for on. Nothing is run."""
    sources = tuple(
        examine_source(location, location.relative_name(source)) for source in discover_sources(location.top)
    )
    return RepoScan(sources, find_installed_agents(path), suggest_test_command(location.top))


def examine_source(location: RepoLocation, name: str) -> FoundSource:
    """A source by its name as seen from the top. A glob may be several."""
    if not _is_storable_name(name):
        return FoundSource(name, problem="no file of settings can hold a name like this")
    try:
        found, _ = read_named_sources(location, [name], where=location.top)
    except PlaitError as error:
        return FoundSource(name, problem=error.message.removeprefix(f"{name}: "))
    formats = " and ".join(dict.fromkeys(source.format for source in found))
    tasks = [entry for source in found for entry in source.reading.entries if not entry.parts]
    if tasks:
        return FoundSource(name, formats, sum(not entry.status.is_closed for entry in tasks), len(tasks))
    problems = [problem for source in found for problem in source.reading.problems]
    worst = min(problems, key=lambda problem: list(Severity).index(problem.severity), default=None)
    value = f"{worst.at}: {worst.message}" if worst else "there is no task in it"
    return FoundSource(name, formats, problem=value)


def _is_storable_name(name: str) -> bool:
    """Whether a name comes back as it is from a text file: bytes that are not UTF-8 and spaces at the ends don't."""
    return name == name.strip() and not any("\ud800" <= char <= "\udfff" for char in name)


def find_installed_agents(path: str) -> tuple[str, ...]:
    """The known agents that are on this PATH."""
    return tuple(info.name for info in AGENTS.values() if info.program and shutil.which(info.program, path=path))


def has_settings_in_pyproject(top: Path) -> bool:
    return get_nested(read_toml(top / PYPROJECT), "tool", "plait") is not None
