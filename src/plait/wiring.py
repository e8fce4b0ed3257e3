"""The only module that names concrete adapters: what the fronts need, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plait.adapters.checkout import Place, discover, files, find_place, load
from plait.config.load import load as load_config
from plait.config.model import Config
from plait.core.errors import UserError
from plait.core.plan import Plan, Problem, Severity
from plait.core.settings import FileConflicts, Settings
from plait.core.task import Task
from plait.sources.model import Change, Entry, Options, Writer
from plait.sources.pile import Pile, gather
from plait.sources.same import Same

if TYPE_CHECKING:  # the rest of the core is for those who have a journal
    from plait.core.state import State
    from plait.engine.settle import Write

JOURNAL = "journal.db"
LOCKS = "locks"


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to do here: the settings in force, and every task of the sources, selected or not."""

    place: Place
    config: Config
    pile: Pile
    problems: tuple[Problem, ...]


def survey(where: Path, named: Sequence[str] = (), *, flags: Mapping[str, object] | None = None) -> Survey:
    """Read the sources that were named, else those of the settings, else those that are found."""
    place = find_place(where)
    config = load_config(place.top, flags=flags, saved=_saved(place))
    base, names = _named(place, where, named, config)
    options = Options(config.sources.tag, config.sources.exclude)
    found, problems = load(place, names, where=base, format_name=config.sources.format, options=options)
    readings = [(source.format, source.path, source.reading) for source in found]
    pile = gather(
        readings,
        conflicts=config.sources.file_conflicts,
        same=_same(place, [entry for source in found for entry in source.reading.entries], config),
        tag=config.sources.tag,
    )
    return Survey(place, config, pile, (*config.warnings, *problems))


def _named(place: Place, where: Path, named: Sequence[str], config: Config) -> tuple[Path, Sequence[str]]:
    if named:
        return where, named
    if config.sources.paths:
        return place.top, config.sources.paths
    found = [place.spell(path) for path in discover(place.top)]
    if not found:
        raise UserError(
            f"no source was named, and none was found in {place.top}",
            hint="Name a folder of task files, a plan, a TODO.md or a tasks.md; or set [sources] paths in plait.toml.",
        )
    return place.top, found


def _same(place: Place, entries: Sequence[Entry], config: Config) -> Same:
    """Git is asked for its files only if some name could be short for one of them."""
    if config.sources.file_conflicts is FileConflicts.OFF:
        return Same(())
    said = {path for entry in entries for path in (*entry.task.touches, *entry.mentions)}
    short = any(not path.endswith("/") and not (place.top / path).exists() for path in said)
    return Same.of(entries, files(place) if short else ())


def saved_settings(where: Path) -> tuple[Place, Mapping[str, str]]:
    place = find_place(where)
    return place, _saved(place)


def _saved(place: Place) -> Mapping[str, str]:
    """Settings saved through the page or the API."""
    if not (place.state / JOURNAL).exists():
        return {}
    from plait.adapters.sqlite import open_reader  # noqa: PLC0415 - only where there is a journal
    from plait.ports import JournalMissingError  # noqa: PLC0415

    try:
        with closing(open_reader(place.state / JOURNAL)) as reader:
            return reader.settings()
    except JournalMissingError:
        return {}


def source_writer(place: Place) -> Write:
    """How statuses reach the files of this checkout."""
    from plait.adapters.sourcefiles import write_back  # noqa: PLC0415 - the fronts that only read go without

    def write(writer: Writer, changes: Sequence[Change]) -> Sequence[Problem]:
        if writer.creates and not (place.top / writer.path).parent.is_dir():
            return ()
        return write_back(place.top, writer, changes, locks=place.state / LOCKS).problems

    return write


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


def history(place: Place) -> History:
    """A journal that can't be read costs the plan its history, not the plan."""
    if not (place.state / JOURNAL).exists():
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
        return History(problems=(Problem(Severity.WARNING, f"no history: {error.message}", hint=error.hint),))
    return History(state)
