"""The sources of a project, read by its settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from plait.client.project_state import read_saved_settings
from plait.client.source_reader import SourceCache, discover_sources, read_named_sources
from plait.config.config import SHARED_LAYERS, Config
from plait.config.keys import SourcesConfig
from plait.config.loading import PLAIT_TOML, load_config
from plait.core.errors import PlaitError, UserError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.settings import FileConflicts
from plait.git.location import RepoLocation, list_repo_files
from plait.sources.source_model import ReadOptions, SourceEntry
from plait.sources.source_set import PathAliases, SourceSet, combine_sources
from plait.store.file_access import FileAccess, find_named_roots, list_allowed_paths
from plait.store.state_claim import open_repo


class SourcesMissingError(UserError):
    """No source was named or found."""


@dataclass(frozen=True, slots=True)
class LoadedSources:
    """The settings in force, the flags among them (by key), and every task of the sources, selected or not."""

    location: RepoLocation
    config: Config
    source_set: SourceSet
    problems: tuple[Problem, ...]
    flags: Mapping[str, object] = field(default_factory=dict)


def load_sources(  # noqa: PLR0913 - what was named, and how it is to be read
    where: Path,
    source_names: Sequence[str] = (),
    *,
    flags: Mapping[str, object] | None = None,
    location: RepoLocation | None = None,
    check_config: Callable[[Config], None] | None = None,
    cache: SourceCache | None = None,
) -> LoadedSources:
    """Read the named sources, else those of the settings, else those that are found.

    `check_config` raises if the settings name untrusted code; it is called before any of that is loaded.
    """
    location = location or open_repo(where)
    saved, saved_problems = read_saved_settings(location)
    config = load_config(location.top, flags=flags, saved=saved)
    if check_config is not None:
        check_config(config)
    loaded = read_sources(location, config, source_names, where=where, cache=cache)
    problems = (*saved_problems, *_find_ignored_settings(location, where), *config.warnings, *loaded.problems)
    return replace(
        loaded, problems=problems, flags={key: value for key, value in (flags or {}).items() if value is not None}
    )


def read_sources(  # noqa: PLR0913 - what was named, and how it is to be read
    location: RepoLocation,
    config: Config,
    source_names: Sequence[str] = (),
    *,
    where: Path | None = None,
    overrides: Mapping[str, str] | None = None,
    cache: SourceCache | None = None,
    access: FileAccess | None = None,
) -> LoadedSources:
    """Read the sources by settings that are known, and trusted as far as they name code.

    `overrides` maps paths to texts that replace the files' content.
    """
    base, names = _choose_sources(location, where or location.top, source_names, config)
    access = access or _open_access(location, config, base, names, named=bool(source_names))
    options = ReadOptions(config.sources.tag, config.sources.exclude)
    sources, problems = read_named_sources(
        location,
        names,
        where=base,
        format_name=config.sources.format,
        options=options,
        overrides=overrides,
        cache=cache,
        access=access,
    )
    source_set = combine_sources(
        sources,
        conflicts=config.sources.file_conflicts,
        aliases=_build_path_aliases(
            location, [entry for source in sources for entry in source.reading.entries], config
        ),
        tag=config.sources.tag,
    )
    return LoadedSources(location, config, source_set, tuple(problems))


def _open_access(
    location: RepoLocation, config: Config, base: Path, names: Sequence[str], *, named: bool
) -> FileAccess:
    """Allow access to files outside of the checkout that the user named, here or in own settings, or allowed."""
    by_user = named or config.origins["sources.paths"].layer not in SHARED_LAYERS
    roots = find_named_roots(location, base, names) if by_user else ()
    return FileAccess(location, (*list_allowed_paths(location), *roots))


def find_refused_paths(location: RepoLocation, config: Config) -> Mapping[str, str]:
    """Return the paths that sources lead to and the user hasn't allowed, by the source's name. Runs no code."""
    if config.sources.format is not None and "." in config.sources.format:
        config = replace(config, sources=SourcesConfig(**{**config.sources.values, "format": None}))
    access = FileAccess(location, list_allowed_paths(location))
    with suppress(PlaitError):
        read_sources(location, config, access=access)
    return access.refused


def _find_ignored_settings(location: RepoLocation, where: Path) -> Iterator[Problem]:
    """Warn about settings below the top of the repository, which are ignored."""
    ignored = where.resolve() / PLAIT_TOML
    if ignored.parent != location.top and ignored.is_file():
        message = f"{location.relative_name(ignored)} is not read: the settings of a repository are those at its top"
        yield Problem(Severity.WARNING, message, None, f"Put them into {location.top / PLAIT_TOML}.")


def _choose_sources(
    location: RepoLocation, where: Path, source_names: Sequence[str], config: Config
) -> tuple[Path, Sequence[str]]:
    if source_names:
        return where, source_names
    if config.sources.paths:
        return location.top, config.sources.paths
    names = [location.relative_name(path) for path in discover_sources(location.top)]
    if not names:
        raise SourcesMissingError(
            f"no source was named, and none was found in {location.top}",
            hint="Name a folder of task files, a plan, a TODO.md or a tasks.md; or set [sources] paths in plait.toml.",
        )
    return location.top, names


def _build_path_aliases(location: RepoLocation, entries: Sequence[SourceEntry], config: Config) -> PathAliases:
    """Build the aliases. Git is asked for its files only if some name could be short for one of them."""
    if config.sources.file_conflicts is FileConflicts.OFF:
        return PathAliases(())
    named = {path for entry in entries for path in (*entry.task.touches, *entry.mentions)}
    short = any(not path.endswith("/") and not os.path.exists(location.top / path) for path in named)  # noqa: PTH110 - no name is too long for it
    return PathAliases.from_entries(entries, list_repo_files(location) if short else ())
