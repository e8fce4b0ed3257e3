"""Status changes for a source, and finding the task that each one is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Generic, TypeVar

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.source_model import SourceStatus

T = TypeVar("T")


class TaskIndex(Generic[T]):
    """The tasks of a text by id and by title, so that many changes find theirs as quickly as one."""

    def __init__(self, tasks: Iterable[T], id_of: Callable[[T], str], title_of: Callable[[T], str]) -> None:
        self._title_of = title_of
        self._by_id: dict[str, list[T]] = {}
        self._by_title: dict[str, list[T]] = {}
        for task in tasks:
            self._by_id.setdefault(id_of(task), []).append(task)
            self._by_title.setdefault(title_of(task), []).append(task)

    def find(self, change: StatusChange) -> T | None:
        """Return the task that has the change's id and title; else the only one with its title (it was renumbered);
        else the only one with its id (it was reworded). None if it is gone, or if several match.
        """
        same_id = self._by_id.get(change.id, [])
        if not change.title:
            return same_id[0] if len(same_id) == 1 else None
        both = [task for task in same_id if self._title_of(task) == change.title]
        for candidates in (both, self._by_title.get(change.title, []), same_id):
            if candidates:
                return candidates[0] if len(candidates) == 1 else None
        return None

    def match(self, changes: Iterable[StatusChange]) -> tuple[list[tuple[T, StatusChange]], tuple[Problem, ...]]:
        """Return each changed task with its last change, and a problem for each change whose task is gone."""
        matched: dict[int, tuple[T, StatusChange]] = {}
        problems = []
        for change in changes:
            task = self.find(change)
            if task is None:
                problems.append(report_missing_task(change))
            else:
                matched[id(task)] = (task, change)
        return list(matched.values()), tuple(problems)


def changes_status(now: SourceStatus | None, wanted: SourceStatus) -> bool:
    """Whether there is something to write. A late change never sets a finished task back to in progress."""
    return wanted is not now and not (wanted is SourceStatus.DOING and now is SourceStatus.DONE)


def report_missing_task(change: StatusChange) -> Problem:
    return Problem(
        Severity.WARNING,
        f"{change.id} was removed from the file or is ambiguous: status {change.status} not written",
        Origin(change.file),
        "plait keeps the status in its own records.",
    )


def select_file_changes(path: str, changes: Sequence[StatusChange]) -> list[StatusChange]:
    """Return the changes that are about tasks of this file, the last one for each task."""
    return list({change.id: change for change in changes if change.file == path}.values())


def list_changed_files(path: str, changes: Sequence[StatusChange]) -> list[str]:
    """List the files of the source at `path` (a file, or a folder of them) that these changes are about."""
    folder = "" if path in {"", "."} else path.rstrip("/") + "/"
    return list(
        dict.fromkeys(change.file for change in changes if change.file == path or change.file.startswith(folder))
    )


def write_each_file(
    write: Callable[[str, str, Sequence[StatusChange]], Rewrite], path: str, changes: Sequence[StatusChange]
) -> list[StatusFileWriter]:
    """Return a writer for each file of the source at `path` with changes; `write` gets the file's path and text."""
    return [StatusFileWriter(file, partial(write, file)) for file in list_changed_files(path, changes)]


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A task's new status, for its source. `id` is the source's own; `file` is the file that the task was read from.

    `title` finds the task after a renumbering. `tag` names the list it was read from (`ReadOptions.tag`); without it,
    the task must be unique in the file. `phase` (its heading) and `needs` are for a file that does not have the task
    yet. `started` is when its work began; None if it ended without being started. `verifying`: the work is
    written and being verified.
    """

    id: str
    status: SourceStatus
    at: datetime
    file: str
    title: str = ""
    reason: str = ""
    retries: int = 0
    batch: str = ""
    tag: str = ""
    phase: str = ""
    needs: tuple[str, ...] = ()
    started: datetime | None = None
    verifying: bool = False


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A text with statuses written into it, and a problem for each change whose task was not found."""

    text: str
    problems: tuple[Problem, ...] = ()


ApplyStatuses = Callable[[str, Sequence[StatusChange]], Rewrite]


@dataclass(frozen=True, slots=True)
class DatabaseCommands:
    """The arguments of each call that writes statuses, and a problem for each change whose task was not found."""

    arguments: tuple[tuple[str, ...], ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class StatusFileWriter:
    """How to write statuses into one file. `apply` is pure and idempotent, and changes nothing but statuses.

    `creates`: a missing file is created if its folder exists; otherwise it is a problem. `source` is the file that the
    tasks are in, if the written one lists them too; `bind_source` then makes the `apply` from that file's text.
    `list_commands` is for a database at `path` that only its own program writes: it makes that program's calls from
    what it exports.
    """

    path: str
    apply: ApplyStatuses
    creates: bool = False
    source: str = ""
    bind_source: Callable[[str], ApplyStatuses] | None = None
    list_commands: Callable[[str, Sequence[StatusChange]], DatabaseCommands] | None = None
