"""Backlog.md: `backlog/tasks/task-12 - Title.md`, with the status in the front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.core.plan import Problem
from plait.core.task import Need, Origin, Task
from plait.sources.formats import Likeness
from plait.sources.formats.folder.owned import paths
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Writer
from plait.sources.report import warning
from plait.sources.taskfiles import status_line
from plait.sources.taskfiles.files import included, nothing, samples
from plait.sources.taskfiles.keys import Keys
from plait.sources.taskfiles.text import body, in_words, title

_FILE = re.compile(r"(?P<id>[A-Za-z][A-Za-z_]*-?\d[\d.]*)(?:\s+-\s+(?P<title>.+))?\Z", re.DOTALL)
_NUMBERED = re.compile(r"(?P<prefix>\D*)(?P<number>\d+(?:\.\d+)*)\Z")


def likeness(material: Material) -> Likeness:
    lies = any(
        "backlog/" in path for path in (f"{material.path}/", *(d.path for d in material.documents[:1]))
    )
    for keys in samples(material, "id", "title", "status"):
        if keys.has("id", "title", "status"):
            if lies:
                return Likeness.NAME
            if keys.has("created_date") or keys.has("assignee"):
                return Likeness.CONTENT
    return Likeness.NO


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001
    return ()


def read(material: Material) -> Reading:
    documents = included(material)
    if not documents:
        return Reading(problems=(nothing(material, "task files"),))
    readers = [_File(document) for document in documents]
    ids = _Ids([reader.id for reader in readers])
    entries = [reader.entry(ids) for reader in readers]
    entries = _after_their_parts(entries, readers, ids)
    return Reading(
        tuple(entries), problems=tuple(problem for reader in readers for problem in reader.problems)
    )


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return _LINE.writers(path, changes)


def _id(document: Document, keys: Keys | None = None) -> str:
    """The id in the front matter; else the one that the file's name begins with."""
    said = (keys or Keys(document)).text("id")
    found = _FILE.match(document.stem)
    return " ".join((said or (found["id"] if found else document.stem)).split())


def _title(document: Document, keys: Keys | None = None) -> str:
    said = (keys or Keys(document)).text("title")
    found = _FILE.match(document.stem)
    named = in_words(found["title"]) if found and found["title"] else None
    return " ".join(said.split()) if said else title(document, named)


_LINE = status_line.StatusLine("To Do", "In Progress", "Done", _id, _title)


class _Ids:
    """Ids as they are written elsewhere: in any case, with or without zeros in front, or only the number."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = {_normal(name): name for name in ids}
        self._numbers: dict[str, set[str]] = {}
        for name in ids:
            number = _NUMBERED.match(_normal(name))
            if number:
                self._numbers.setdefault(number["number"], set()).add(name)

    def find(self, said: str) -> str:
        """The id that is meant; as it is written if there is none."""
        name = _normal(said)
        if name in self._ids:
            return self._ids[name]
        same = self._numbers.get(name, set())
        return next(iter(same)) if len(same) == 1 else said


def _normal(name: str) -> str:
    found = _NUMBERED.match(name.strip().lstrip("#").casefold())
    if found is None:
        return name.strip().casefold()
    return found["prefix"] + ".".join(part.lstrip("0") or "0" for part in found["number"].split("."))


class _File:
    """One task."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.keys = Keys(document)
        self.problems: list[Problem] = self.keys.problems
        self.id = _id(document, self.keys)

    def entry(self, ids: _Ids) -> Entry:
        keys, document = self.keys, self._document
        said = paths(document)
        task = Task(
            self.id,
            _title(document, keys),
            body(document),
            needs=tuple(self._needs(ids)),
            touches=tuple(dict.fromkeys(said.owned)),
            priority=1 if (priority := keys.priority("priority")) is None else priority,
            origin=Origin(document.path, 1),
        )
        mark, status = self._mark()
        return Entry(task, mark, status, said.besides(task.touches), aliases=_aliases(self.id, document.stem))

    def _mark(self) -> tuple[Mark, str]:
        if not self.keys.front.present:
            message = "there is no front matter, so this is no task that can be run"
            self.problems.append(warning(self._document, 0, message, "Give it id, title and status."))
        if self.keys.front.broken or not self.keys.front.present:
            return Mark.UNREADABLE, ""
        return status_line.read(self._document, self.keys)

    def _needs(self, ids: _Ids) -> Iterator[Need]:
        for said in self.keys.names("dependencies"):
            at = Origin(self._document.path, said.line + 1)
            yield Need(ids.find(said.text), reason=said.reason, at=at)

    def parent(self, ids: _Ids) -> tuple[str, Need] | None:
        """The task that this one is a part of, which comes after it."""
        said = self.keys.text("parent_task_id")
        if said is None:
            return None
        at = Origin(self._document.path, self.keys.line("parent_task_id") + 1)
        return ids.find(said), Need(self.id, reason=f"parent_task_id: {said[:60]}", at=at)


def _after_their_parts(entries: Sequence[Entry], readers: Sequence[_File], ids: _Ids) -> list[Entry]:
    """A parent is done after its subtasks, and may find nothing left to do; unless one of them waits for it."""
    parts: dict[str, list[Need]] = {}
    needs = {entry.task.id: {need.on for need in entry.task.needs} for entry in entries}
    for reader in readers:
        parent = reader.parent(ids)
        if parent and parent[0] != reader.id and parent[0] not in needs[reader.id]:
            parts.setdefault(parent[0], []).append(parent[1])
    return [_with_parts(entry, parts.get(entry.task.id, ())) for entry in entries]


def _with_parts(entry: Entry, parts: Sequence[Need]) -> Entry:
    known = {need.on for need in entry.task.needs}
    more = tuple(need for need in parts if need.on not in known)
    if not parts:
        return entry
    return replace(entry, task=replace(entry.task, needs=entry.task.needs + more, allow_empty=True))


def _aliases(name: str, stem: str) -> tuple[str, ...]:
    number = _NUMBERED.match(_normal(name))
    names = (stem, number["number"] if number else stem)
    return tuple(dict.fromkeys(alias for alias in names if alias != name))
