"""Find a task in the sources, its file, and whether that can be edited here."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from plait.client.api_errors import NotFoundError, StateError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation
from plait.sources.formats import get_entry
from plait.sources.source_model import SourceEntry
from plait.sources.source_set import Source, SourceSet
from plait.store.file_access import resolve_checkout_path

SHARED_FILE, ELSEWHERE, DUPLICATE = "shared", "elsewhere", "twice"


@dataclass(frozen=True, slots=True)
class LocatedTask:
    """A task and its source. `entry` has unique ids, `source_entry` those of its source."""

    entry: SourceEntry
    source_entry: SourceEntry
    source: Source

    @property
    def file(self) -> str:
        return self.source_entry.task.origin.file if self.source_entry.task.origin else self.source.path


def iter_located_tasks(source_set: SourceSet) -> Iterator[LocatedTask]:
    """Yield the tasks in the order of the sources."""
    entries = chain.from_iterable(
        ((source, entry) for entry in source.reading.entries) for source in source_set.sources
    )
    for entry, (source, source_entry) in zip(source_set.entries, entries, strict=True):
        yield LocatedTask(entry, source_entry, source)


def find_located_task(source_set: SourceSet, name: str) -> LocatedTask:
    """Find a task by its id, or by another name that no other task has. Raises NotFoundError or StateError."""
    by_id = [located for located in iter_located_tasks(source_set) if located.entry.task.id == name]
    matches = by_id or [located for located in iter_located_tasks(source_set) if name in located.entry.aliases]
    if not matches:
        raise NotFoundError(f"no source has a task {name}", hint="It may have been renamed, or taken out of its file.")
    if len(matches) > 1:
        positions = " and ".join(str(located.entry.task.origin or located.source.path) for located in matches)
        hint = "Give each of them an id of its own."
        raise StateError(f"{len(matches)} tasks are called {name}: {positions}", state=DUPLICATE, hint=hint)
    return matches[0]


def find_task_of_file(source_set: SourceSet, file: str) -> LocatedTask | None:
    """Return the task of a file that holds one task, or None."""
    return next((located for located in iter_located_tasks(source_set) if located.file == file), None)


class EditableCheck:
    """Checks which tasks can be edited here: those in a regular file of their own, inside the checkout."""

    def __init__(self, location: RepoLocation) -> None:
        self._location = location
        self._top = str(location.top)
        self._folders: dict[str, bool] = {}  # many files lie in one folder

    def why_not(self, located: LocatedTask) -> str | None:
        shared = _explain_shared(located)
        if shared is not None:
            return shared
        path = os.path.join(self._top, located.file)  # noqa: PTH118 - there may be thousands of them
        try:
            mode = os.lstat(path).st_mode
        except (OSError, ValueError):
            return f"{located.file} is not there"
        inside = self._is_inside(path.rpartition("/")[0]) if stat.S_ISREG(mode) else self._is_regular(path)
        return None if inside else _explain_outside(located)

    def _is_inside(self, folder: str) -> bool:
        if folder not in self._folders:
            self._folders[folder] = resolve_checkout_path(self._location, Path(folder)) is not None
        return self._folders[folder]

    def _is_regular(self, path: str) -> bool:
        real = resolve_checkout_path(self._location, Path(path))
        return real is not None and real.is_file()


def get_own_file(location: RepoLocation, located: LocatedTask) -> Path:
    """Return the real path of the one file that is this task. Raises StateError where it has none that may be written."""
    shared = _explain_shared(located)
    if shared is not None:
        hint = f"Edit {located.file}: plait sees it at once."
        raise StateError(shared, state=SHARED_FILE, hint=hint)
    path = resolve_checkout_path(location, location.top / located.file)
    if path is None or not path.is_file():
        raise StateError(_explain_outside(located), state=ELSEWHERE, hint="Edit the file directly.")
    return path


def _explain_shared(located: LocatedTask) -> str | None:
    if get_entry(located.source.format).one_task_per_file:
        return None
    return f"{located.entry.task.id} is a part of {located.file}, and is edited there"


def _explain_outside(located: LocatedTask) -> str:
    return f"{located.file} is not a regular file inside this checkout"


def spell_needs(
    source_set: SourceSet | None, source: str, ids: Sequence[str]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return how a file of the source at this path names these tasks; and which of these names no task has."""
    located_tasks = iter_located_tasks(source_set) if source_set is not None else ()
    by_id = {located.entry.task.id: located for located in located_tasks}
    names = (_spell_need(by_id[name], source) if name in by_id else name for name in ids)
    return tuple(dict.fromkeys(names)), frozenset(ids) - by_id.keys()


def _spell_need(located: LocatedTask, source: str) -> str:
    own_id = located.source_entry.task.id
    return own_id if located.source.path == source else f"{located.source.name}:{own_id}"
