"""A task and the source that told of it; and whether it has a file of its own, which alone can be edited here."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from plait.config.model import Layer
from plait.core.frozen import dataclass
from plait.front.refusals import StateError, UnknownError
from plait.sources.formats import ONE_TASK_EACH
from plait.sources.model import Entry
from plait.sources.pile import Pile, Source
from plait.wiring import Place
from plait.wiring.sources import Survey
from plait.wiring.writing import real_path

SHARED, ELSEWHERE, TWICE = "shared", "elsewhere", "twice"


@dataclass(frozen=True, slots=True)
class Told:
    """`entry` is the pile's, `own` the source's: with the ids that it uses itself."""

    entry: Entry
    own: Entry
    source: Source

    @property
    def file(self) -> str:
        return self.own.task.origin.file if self.own.task.origin else self.source.path


def all_told(pile: Pile) -> Iterator[Told]:
    """In the pile's order, which is that of its sources."""
    own = chain.from_iterable(
        ((source, entry) for entry in source.reading.entries) for source in pile.sources
    )
    for entry, (source, as_told) in zip(pile.entries, own, strict=True):
        yield Told(entry, as_told, source)


def find(pile: Pile, name: str) -> Told:
    """By its id, or else by another name that no other task has. Raises UnknownError or StateError."""
    by_id = [told for told in all_told(pile) if told.entry.task.id == name]
    found = by_id or [told for told in all_told(pile) if name in told.entry.aliases]
    if not found:
        raise UnknownError(
            f"no source has a task {name}", hint="It may have been renamed, or taken out of its file."
        )
    if len(found) > 1:
        places = " and ".join(str(told.entry.task.origin or told.source.path) for told in found)
        hint = "Give each of them an id of its own."
        raise StateError(f"{len(found)} tasks are called {name}: {places}", state=TWICE, hint=hint)
    return found[0]


def of_file(pile: Pile, file: str) -> Told | None:
    """The task of a file that holds one."""
    return next((told for told in all_told(pile) if told.file == file), None)


class Editable:
    """Which tasks can be edited here: those in a regular file of their own, inside the checkout."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._top = str(place.top)
        self._folders: dict[str, bool] = {}  # many files lie in one folder

    def why_not(self, told: Told) -> str | None:
        shared = _shared(told)
        if shared is not None:
            return shared
        path = os.path.join(self._top, told.file)  # noqa: PTH118 - there may be thousands of them
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            return f"{told.file} is not there"
        inside = self._inside(path.rpartition("/")[0]) if stat.S_ISREG(mode) else self._regular(path)
        return None if inside else _outside(told)

    def _inside(self, folder: str) -> bool:
        if folder not in self._folders:
            self._folders[folder] = real_path(self._place, Path(folder)) is not None
        return self._folders[folder]

    def _regular(self, path: str) -> bool:
        real = real_path(self._place, Path(path))
        return real is not None and real.is_file()


def led_out(seen: Survey, told: Told) -> bool:
    """Whether the repository led out of the checkout to it, by a link or by its settings: nobody meant what lies there to be
    shown to whoever may look here.
    """
    if real_path(seen.place, seen.place.top / told.file) is not None:
        return False
    named = seen.config.given["sources.paths"].layer is not Layer.REPOSITORY
    return not (named and os.path.isabs(told.file))  # noqa: PTH117 - as it is spelt


def own_file(place: Place, told: Told) -> Path:
    """The real path of the one file that is this task. Raises StateError where it has none that may be written."""
    shared = _shared(told)
    if shared is not None:
        hint = f"Edit {told.file}: plait sees it at once."
        raise StateError(shared, state=SHARED, hint=hint)
    path = real_path(place, place.top / told.file)
    if path is None or not path.is_file():
        raise StateError(_outside(told), state=ELSEWHERE, hint="Edit it where it lies.")
    return path


def _shared(told: Told) -> str | None:
    if told.source.format in ONE_TASK_EACH:
        return None
    return f"{told.entry.task.id} is a part of {told.file}, and is edited there"


def _outside(told: Told) -> str:
    return f"{told.file} is no regular file inside this checkout"
