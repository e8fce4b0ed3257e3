"""What there is to do here: settings, sources, and what history knows of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plait.client.source_cache import SourceCache
from plait.client.source_reader import read_named_sources
from plait.client.source_reader__find import discover_sources
from plait.config.config import Config
from plait.config.loading__files import PLAIT_TOML, PYPROJECT
from plait.config.loading__load import load_config
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Plan, Problem, Severity
from plait.core.settings import FileConflicts, Settings, Spend
from plait.core.task import Task
from plait.git.location import RepoLocation, find_repo, list_repo_files
from plait.sources.source_model import ReadOptions, SourceEntry
from plait.sources.source_set import SourceSet, combine_sources
from plait.sources.source_set__same import PathAliases
from plait.store.project_files import JOURNAL_FILE, has_journal

if TYPE_CHECKING:  # the rest is for those who have a journal, or write the first settings
    from plait.agents.interface import AgentSpec
    from plait.client.repo_scan import FoundSource, RepoScan  # noqa: TC004 - names for type checkers only
    from plait.core.state import State
    from plait.store.interfaces import JournalError

__all__ = ["RepoScan", "SourceCache", "FoundSource"]


class SourcesMissingError(UserError):
    """Nobody named a source, and none was found."""


@dataclass(frozen=True, slots=True)
class LoadedSources:
    """What there is to do here: the settings in force, and every task of the sources, selected or not."""

    place: RepoLocation
    config: Config
    pile: SourceSet
    problems: tuple[Problem, ...]


def load_sources(  # noqa: PLR0913 - what was named, and how it is to be read
    where: Path,
    source_names: Sequence[str] = (),
    *,
    flags: Mapping[str, object] | None = None,
    place: RepoLocation | None = None,
    vet: Callable[[Config], None] | None = None,
    cache: SourceCache | None = None,
) -> LoadedSources:
    """Read the sources that were named, else those of the settings, else those that are found.

    `vet` raises if the settings name code that nobody trusts: it is asked before any of it is loaded. `kept` is what was read
    before, for those who ask again and again.
    """
    place = place or find_repo(where)
    saved, unsaved = read_saved_settings(place)
    config = load_config(place.top, flags=flags, saved=saved)
    if vet is not None:
        vet(config)
    seen = read_sources(place, config, source_names, where=where, cache=cache)
    return replace(
        seen, problems=(*unsaved, *_find_ignored_settings(place, where), *config.warnings, *seen.problems)
    )


def read_sources(  # noqa: PLR0913 - what was named, and how it is to be read
    place: RepoLocation,
    config: Config,
    source_names: Sequence[str] = (),
    *,
    where: Path | None = None,
    overrides: Mapping[str, str] | None = None,
    cache: SourceCache | None = None,
) -> LoadedSources:
    """Read the sources by settings that are known, and trusted as far as they name code.

    `instead` has the texts that some files are taken to have, by their paths: what would be, if they had them.
    """
    base, names = _choose_sources(place, where or place.top, source_names, config)
    options = ReadOptions(config.sources.tag, config.sources.exclude)
    found, problems = read_named_sources(
        place,
        names,
        where=base,
        format_name=config.sources.format,
        options=options,
        overrides=overrides,
        cache=cache,
    )
    readings = [(source.format, source.path, source.reading) for source in found]
    pile = combine_sources(
        readings,
        conflicts=config.sources.file_conflicts,
        aliases=_build_path_aliases(
            place, [entry for source in found for entry in source.reading.entries], config
        ),
        tag=config.sources.tag,
    )
    return LoadedSources(place, config, pile, tuple(problems))


def _find_ignored_settings(place: RepoLocation, where: Path) -> Iterator[Problem]:
    """Settings that somebody would expect to count."""
    own = where.resolve() / PLAIT_TOML
    if own.parent != place.top and own.is_file():
        message = f"{place.relative_name(own)} is not read: the settings of a repository are those at its top"
        yield Problem(Severity.WARNING, message, None, f"Put them into {place.top / PLAIT_TOML}.")


def _choose_sources(
    place: RepoLocation, where: Path, named: Sequence[str], config: Config
) -> tuple[Path, Sequence[str]]:
    if named:
        return where, named
    if config.sources.paths:
        return place.top, config.sources.paths
    found = [place.relative_name(path) for path in discover_sources(place.top)]
    if not found:
        raise SourcesMissingError(
            f"no source was named, and none was found in {place.top}",
            hint="Name a folder of task files, a plan, a TODO.md or a tasks.md; or set [sources] paths in plait.toml.",
        )
    return place.top, found


def _build_path_aliases(place: RepoLocation, entries: Sequence[SourceEntry], config: Config) -> PathAliases:
    """Git is asked for its files only if some name could be short for one of them."""
    if config.sources.file_conflicts is FileConflicts.OFF:
        return PathAliases(())
    said = {path for entry in entries for path in (*entry.task.touches, *entry.mentions)}
    short = any(not path.endswith("/") and not os.path.exists(place.top / path) for path in said)  # noqa: PTH110 - no name is too long for it
    return PathAliases.from_entries(entries, list_repo_files(place) if short else ())


def load_settings(where: Path) -> Config:
    """The settings in force here."""
    place = find_repo(where)
    saved, problems = read_saved_settings(place)
    config = load_config(place.top, saved=saved)
    return replace(config, warnings=(*problems, *config.warnings))


def read_saved_settings(place: RepoLocation) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
    """Settings saved through the page or the API; a journal that can't be read costs no more than them."""
    if not has_journal(place):
        return {}, ()
    from plait.store.interfaces import JournalError, JournalMissingError  # noqa: PLC0415
    from plait.store.journal_reader import open_journal_reader  # noqa: PLC0415 - only where there is a journal

    try:
        with closing(open_journal_reader(place.state / JOURNAL_FILE)) as reader:
            return reader.settings(), ()
    except JournalMissingError:
        return {}, ()
    except JournalError as error:
        return {}, (_build_history_problem(error),)


def _build_history_problem(error: JournalError) -> Problem:
    message = f"neither history nor saved settings are known: {error.message}"
    return Problem(Severity.WARNING, message, hint=error.hint)


def scan_project(place: RepoLocation, path: str) -> RepoScan:
    """What `plait init` goes by; `path` is the PATH that agents are looked for on."""
    from plait.client.repo_scan import scan_repo  # noqa: PLC0415 - only for the first settings

    return scan_repo(place, path)


def inspect_source(place: RepoLocation, name: str) -> FoundSource:
    """A source by its name."""
    from plait.client.repo_scan import examine_source  # noqa: PLC0415

    return examine_source(place, name)


def has_settings_in_pyproject(top: Path) -> bool:
    from plait.system.safe_read import get_nested, read_toml  # noqa: PLC0415

    return get_nested(read_toml(top / PYPROJECT), "tool", "plait") is not None


def create_text_file(path: Path, text: str, *, replace: bool) -> None:
    """Raises OSError; FileExistsError if there is one already, and it is not to be replaced."""
    from plait.system.atomic_write import write_new_file  # noqa: PLC0415

    write_new_file(path, text, replace=replace)


@dataclass(frozen=True, slots=True)
class PastBatches:
    """What the journal tells of earlier batches; `state` is None where there is no journal."""

    state: State | None = None
    problems: tuple[Problem, ...] = ()

    def build_duration_estimate(self, settings: Settings) -> Callable[[Task], float] | None:
        """How long a task's writing would take, as far as that is known."""
        if self.state is None:
            return None
        from plait.core import estimate__preview  # noqa: PLC0415 - the whole core, and only where there is history

        return partial(estimate__preview.estimate_task, self.state, settings)

    def estimate_length(self, plan: Plan, settings: Settings) -> float | None:
        """Seconds to the end. A guess that looks like knowledge is worse than none: None where history knows nothing."""
        if self.state is None:
            return None
        from plait.core import estimate__preview  # noqa: PLC0415

        known = estimate__preview.has_agent_history(self.state, plan, settings)
        return estimate__preview.estimate_batch(self.state, plan, settings) if known else None

    def estimate_cost(self, plan: Plan, settings: Settings) -> Spend | None:
        """What it would cost, as far as agents told of earlier ones; None where that is not known."""
        if self.state is None:
            return None
        from plait.core import estimate__preview  # noqa: PLC0415

        return estimate__preview.estimate_cost(self.state, plan, settings)


def read_past_batches(place: RepoLocation) -> PastBatches:
    """A journal that can't be read costs the plan its history, not the plan."""
    if not has_journal(place):
        return PastBatches()
    from plait.core.reducers.dispatch import evolve  # noqa: PLC0415
    from plait.core.state import State  # noqa: PLC0415
    from plait.store.interfaces import JournalError, JournalMissingError  # noqa: PLC0415
    from plait.store.journal_reader import open_journal_reader  # noqa: PLC0415 - only where there is a journal

    state = State()
    try:
        with closing(open_journal_reader(place.state / JOURNAL_FILE)) as reader:
            for record in reader.read():
                evolve(state, record)
    except JournalMissingError:
        return PastBatches()
    except JournalError as error:
        return PastBatches(problems=(_build_history_problem(error),))
    return PastBatches(state)


def load_agent_specs(config: Config) -> tuple[AgentSpec, ...]:
    """How agents are called where their names alone do not say; raises ConfigError."""
    from plait.client.agent_specs import build_agent_specs  # noqa: PLC0415 - only for those who run something

    return build_agent_specs(config)
