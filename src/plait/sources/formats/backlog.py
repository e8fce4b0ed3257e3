"""Backlog.md: `backlog/tasks/task-12 - Title.md`, with the status in the front matter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from plait.core.task import Need, Task
from plait.sources import task_files
from plait.sources.formats import Confidence, Format
from plait.sources.front_matter import FrontMatter, StatusKey, read_status_key
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles
from plait.sources.task_paths import find_task_paths
from plait.sources.vocabulary import strip_zeros

_FILE = re.compile(r"(?P<id>[A-Za-z][A-Za-z_]*-?\d[\d.]*)(?:\s+-\s+(?P<title>.+))?\Z", re.DOTALL)
_NUMBERED = re.compile(r"(?P<prefix>\D*)(?P<number>\d+(?:\.\d+)*)\Z")


def detect(source: SourceFiles) -> Confidence:
    in_backlog = any("backlog/" in path for path in (f"{source.path}/", *(d.path for d in source.documents[:1])))
    for keys in task_files.sample_keys(source, "id", "title", "status"):
        if keys.has("id", "title", "status"):
            if in_backlog:
                return Confidence.NAME
            if keys.has("created_date") or keys.has("assignee"):
                return Confidence.CONTENT
    return Confidence.NO


def read(source: SourceFiles) -> Reading:
    documents = task_files.list_task_documents(source)
    if not documents:
        return Reading(problems=(task_files.report_no_tasks(source, "task files"),))
    files = [(document, FrontMatter(document)) for document in documents]
    ids = _IdResolver([_read_id(document, keys) for document, keys in files])
    entries = _add_part_needs([_build_entry(document, keys, ids) for document, keys in files], files, ids)
    return Reading(tuple(entries), problems=tuple(problem for _, keys in files for problem in keys.problems))


def _read_id(document: Document, keys: FrontMatter | None = None) -> str:
    """Return the id in the front matter, else the one at the beginning of the file's name."""
    value = (keys or FrontMatter(document)).text("id")
    match = _FILE.match(document.stem)
    return " ".join((value or (match["id"] if match else document.stem)).split())


def _read_title(document: Document, keys: FrontMatter | None = None) -> str:
    value = (keys or FrontMatter(document)).text("title")
    match = _FILE.match(document.stem)
    named = task_files.split_stem(match["title"]) if match and match["title"] else None
    return " ".join(value.split()) if value else task_files.read_task_title(document, named)


_STATUS_KEY = StatusKey("To Do", "In Progress", "Done", _read_id, _read_title)


class _IdResolver:
    """Finds tasks by ids as other tasks write them: in any case, with or without leading zeros, or only the number."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = {_normalize_id(name): name for name in ids}
        self._numbers: dict[str, set[str]] = {}
        for name in ids:
            number = _NUMBERED.match(_normalize_id(name))
            if number:
                self._numbers.setdefault(number["number"], set()).add(name)

    def find(self, value: str) -> str:
        """Return the id of the task that is meant, or the text itself if there is none."""
        name = _normalize_id(value)
        if name in self._ids:
            return self._ids[name]
        same = self._numbers.get(name, set())
        return next(iter(same)) if len(same) == 1 else value


def _normalize_id(name: str) -> str:
    match = _NUMBERED.match(name.strip().lstrip("#").casefold())
    if match is None:
        return name.strip().casefold()
    return match["prefix"] + ".".join(strip_zeros(part) for part in match["number"].split("."))


def _build_entry(document: Document, keys: FrontMatter, ids: _IdResolver) -> SourceEntry:
    name = _read_id(document, keys)
    paths = find_task_paths(document)
    references = keys.names("dependencies")
    task = Task(
        name,
        _read_title(document, keys),
        task_files.read_task_body(document),
        needs=tuple(
            Need(ids.find(reference.text), reason=reference.reason, at=document.origin(reference.line))
            for reference in references
        ),
        touches=tuple(dict.fromkeys(paths.owned)),
        priority=1 if (priority := keys.priority("priority")) is None else priority,
        origin=document.origin(0),
    )
    status, status_text = read_status_key(document, keys, "id, title and status")
    number = _NUMBERED.match(_normalize_id(name))
    aliases = dict.fromkeys((document.stem, number["number"] if number else document.stem))
    aliases.pop(name, None)
    return SourceEntry(task, status, status_text, paths.list_undeclared(task.touches), aliases=tuple(aliases))


def _add_part_needs(
    entries: Sequence[SourceEntry], files: Sequence[tuple[Document, FrontMatter]], ids: _IdResolver
) -> list[SourceEntry]:
    """Let each parent wait for its subtasks, unless one of them waits for it; it may then have nothing to do."""
    parts: dict[str, list[Need]] = {}
    for entry, (document, keys) in zip(entries, files, strict=True):
        value = keys.text("parent_task_id")
        parent = ids.find(value) if value is not None else entry.task.id
        if value is not None and parent not in {entry.task.id, *(need.on for need in entry.task.needs)}:
            at = document.origin(keys.line("parent_task_id"))
            parts.setdefault(parent, []).append(Need(entry.task.id, reason=f"parent_task_id: {value[:60]}", at=at))
    return [_add_needs(entry, parts[entry.task.id]) if entry.task.id in parts else entry for entry in entries]


def _add_needs(entry: SourceEntry, parts: Sequence[Need]) -> SourceEntry:
    existing = {need.on for need in entry.task.needs}
    needs = (*entry.task.needs, *(need for need in parts if need.on not in existing))
    return replace(entry, task=replace(entry.task, needs=needs, allow_empty=True))


FORMAT = Format(
    detect, read, _STATUS_KEY.writers, keys={"title": ("title",), "needs": ("dependencies",), "priority": ("priority",)}
)
