"""What there is to do here: settings, sources, and what history knows of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plait.adapters.checkout.find import discover
from plait.adapters.checkout.kept import Kept
from plait.adapters.checkout.load import load
from plait.adapters.checkout.place import files
from plait.config.files import OWN, PYPROJECT
from plait.config.load import load as load_config
from plait.config.model import Config
from plait.core.errors import UserError
from plait.core.frozen import dataclass
from plait.core.plan import Plan, Problem, Severity
from plait.core.settings import FileConflicts, Settings, Spend
from plait.core.task import Task
from plait.sources.model import Entry, Options
from plait.sources.pile import Pile, gather
from plait.sources.same import Same
from plait.wiring import JOURNAL, Place, find_place, has_journal

if TYPE_CHECKING:  # the rest is for those who have a journal, or write the first settings
    from plait.adapters.checkout.findings import Findings, Seen  # noqa: TC004 - names for type checkers only
    from plait.agents.model import AgentSpec
    from plait.core.state import State
    from plait.ports import JournalError

__all__ = ["Findings", "Kept", "Seen"]


class SourcesMissingError(UserError):
    """Nobody named a source, and none was found."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to do here: the settings in force, and every task of the sources, selected or not."""

    place: Place
    config: Config
    pile: Pile
    problems: tuple[Problem, ...]


def survey(  # noqa: PLR0913 - what was named, and how it is to be read
    where: Path,
    named: Sequence[str] = (),
    *,
    flags: Mapping[str, object] | None = None,
    place: Place | None = None,
    vet: Callable[[Config], None] | None = None,
    kept: Kept | None = None,
) -> Survey:
    """Read the sources that were named, else those of the settings, else those that are found.

    `vet` raises if the settings name code that nobody trusts: it is asked before any of it is loaded. `kept` is what was read
    before, for those who ask again and again.
    """
    place = place or find_place(where)
    saved, unsaved = saved_settings(place)
    config = load_config(place.top, flags=flags, saved=saved)
    if vet is not None:
        vet(config)
    seen = read_sources(place, config, named, where=where, kept=kept)
    return replace(seen, problems=(*unsaved, *_unread(place, where), *config.warnings, *seen.problems))


def read_sources(  # noqa: PLR0913 - what was named, and how it is to be read
    place: Place,
    config: Config,
    named: Sequence[str] = (),
    *,
    where: Path | None = None,
    instead: Mapping[str, str] | None = None,
    kept: Kept | None = None,
) -> Survey:
    """Read the sources by settings that are known, and trusted as far as they name code.

    `instead` has the texts that some files are taken to have, by their paths: what would be, if they had them.
    """
    base, names = _named(place, where or place.top, named, config)
    options = Options(config.sources.tag, config.sources.exclude)
    found, problems = load(
        place,
        names,
        where=base,
        format_name=config.sources.format,
        options=options,
        instead=instead,
        kept=kept,
    )
    readings = [(source.format, source.path, source.reading) for source in found]
    pile = gather(
        readings,
        conflicts=config.sources.file_conflicts,
        same=_same(place, [entry for source in found for entry in source.reading.entries], config),
        tag=config.sources.tag,
    )
    return Survey(place, config, pile, tuple(problems))


def _unread(place: Place, where: Path) -> Iterator[Problem]:
    """Settings that somebody would expect to count."""
    own = where.resolve() / OWN
    if own.parent != place.top and own.is_file():
        message = f"{place.spell(own)} is not read: the settings of a repository are those at its top"
        yield Problem(Severity.WARNING, message, None, f"Put them into {place.top / OWN}.")


def _named(place: Place, where: Path, named: Sequence[str], config: Config) -> tuple[Path, Sequence[str]]:
    if named:
        return where, named
    if config.sources.paths:
        return place.top, config.sources.paths
    found = [place.spell(path) for path in discover(place.top)]
    if not found:
        raise SourcesMissingError(
            f"no source was named, and none was found in {place.top}",
            hint="Name a folder of task files, a plan, a TODO.md or a tasks.md; or set [sources] paths in plait.toml.",
        )
    return place.top, found


def _same(place: Place, entries: Sequence[Entry], config: Config) -> Same:
    """Git is asked for its files only if some name could be short for one of them."""
    if config.sources.file_conflicts is FileConflicts.OFF:
        return Same(())
    said = {path for entry in entries for path in (*entry.task.touches, *entry.mentions)}
    short = any(not path.endswith("/") and not os.path.exists(place.top / path) for path in said)  # noqa: PTH110 - no name is too long for it
    return Same.of(entries, files(place) if short else ())


def settings(where: Path) -> Config:
    """The settings in force here."""
    place = find_place(where)
    saved, problems = saved_settings(place)
    config = load_config(place.top, saved=saved)
    return replace(config, warnings=(*problems, *config.warnings))


def saved_settings(place: Place) -> tuple[Mapping[str, str], tuple[Problem, ...]]:
    """Settings saved through the page or the API; a journal that can't be read costs no more than them."""
    if not has_journal(place):
        return {}, ()
    from plait.adapters.sqlite import open_reader  # noqa: PLC0415 - only where there is a journal
    from plait.ports import JournalError, JournalMissingError  # noqa: PLC0415

    try:
        with closing(open_reader(place.state / JOURNAL)) as reader:
            return reader.settings(), ()
    except JournalMissingError:
        return {}, ()
    except JournalError as error:
        return {}, (_without(error),)


def _without(error: JournalError) -> Problem:
    message = f"neither history nor saved settings are known: {error.message}"
    return Problem(Severity.WARNING, message, hint=error.hint)


def findings(place: Place, path: str) -> Findings:
    """What `plait init` goes by; `path` is the PATH that agents are looked for on."""
    from plait.adapters.checkout.findings import look  # noqa: PLC0415 - only for the first settings

    return look(place, path)


def finding(place: Place, name: str) -> Seen:
    """A source by its name."""
    from plait.adapters.checkout.findings import look_at  # noqa: PLC0415

    return look_at(place, name)


def settings_in_pyproject(top: Path) -> bool:
    from plait.adapters.checkout.peek import toml, within  # noqa: PLC0415

    return within(toml(top / PYPROJECT), "tool", "plait") is not None


def make_file(path: Path, text: str, *, replace: bool) -> None:
    """Raises OSError; FileExistsError if there is one already, and it is not to be replaced."""
    from plait.adapters.checkout.fresh import put  # noqa: PLC0415

    put(path, text, replace=replace)


@dataclass(frozen=True, slots=True)
class History:
    """What the journal tells of earlier batches; `state` is None where there is no journal."""

    state: State | None = None
    problems: tuple[Problem, ...] = ()

    def durations(self, settings: Settings) -> Callable[[Task], float] | None:
        """How long a task's writing would take, as far as that is known."""
        if self.state is None:
            return None
        from plait.core import preview  # noqa: PLC0415 - the whole core, and only where there is history

        return partial(preview.duration, self.state, settings)

    def length(self, plan: Plan, settings: Settings) -> float | None:
        """Seconds to the end. A guess that looks like knowledge is worse than none: None where history knows nothing."""
        if self.state is None:
            return None
        from plait.core import preview  # noqa: PLC0415

        known = preview.experienced(self.state, plan, settings)
        return preview.length(self.state, plan, settings) if known else None

    def cost(self, plan: Plan, settings: Settings) -> Spend | None:
        """What it would cost, as far as agents told of earlier ones; None where that is not known."""
        if self.state is None:
            return None
        from plait.core import preview  # noqa: PLC0415

        return preview.cost(self.state, plan, settings)


def history(place: Place) -> History:
    """A journal that can't be read costs the plan its history, not the plan."""
    if not has_journal(place):
        return History()
    from plait.adapters.sqlite import open_reader  # noqa: PLC0415 - only where there is a journal
    from plait.core.evolve import evolve  # noqa: PLC0415
    from plait.core.state import State  # noqa: PLC0415
    from plait.ports import JournalError, JournalMissingError  # noqa: PLC0415

    state = State()
    try:
        with closing(open_reader(place.state / JOURNAL)) as reader:
            for record in reader.read():
                evolve(state, record)
    except JournalMissingError:
        return History()
    except JournalError as error:
        return History(problems=(_without(error),))
    return History(state)


def agent_specs(config: Config) -> tuple[AgentSpec, ...]:
    """How agents are called where their names alone do not say; raises ConfigError."""
    from plait.wiring.agents import specs  # noqa: PLC0415 - only for those who run something

    return specs(config)
