"""A numbered TODO: `### 73. Title`, fields in bold, sections by priority. Statuses go into the same file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial

from plait.core.plan import Problem
from plait.core.task import Need, Task
from plait.sources import vocabulary
from plait.sources.formats import Confidence, Format, todo_status
from plait.sources.formats.todo_items import PlacedField, TodoItem, find_items, find_numbered_headings
from plait.sources.formats.todo_references import parse_references
from plait.sources.markdown import excludes_tasks, parse_heading_priority, walk_outline
from plait.sources.references import TaskRange
from plait.sources.source_model import (
    Document,
    Reading,
    SourceEntry,
    SourceFiles,
    SourceStatus,
    find_repeated_ids,
    read_single_file,
    sort_by_line,
)
from plait.sources.status_changes import write_each_file
from plait.sources.task_paths import find_mentions

_LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]*)\)")
_REMARK = re.compile(r"\s\([^()]*\)")
_COMMA = re.compile(r"[,;]")
_TICKED = re.compile(r"`([^`\s]{1,300})`")
_PLAIN = re.compile(r"[\w@+~.()\[\]*?{}/-]{1,300}\Z")
_LINES = re.compile(r":[0-9]+(?:[-:,][0-9]+)*\Z")


def parse_declared_files(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the declared paths in their order. A bullet in words (`Other modules`) declares none."""
    files: dict[str, None] = {}
    for text in texts:
        for part in _COMMA.split(_REMARK.sub(" ", _LINK.sub(r"\1", text))):
            files.update(dict.fromkeys(_parse_part(part.strip())))
    return tuple(files)


def _parse_part(part: str) -> tuple[str, ...]:
    """Return the paths in a part of a list. Its first word may be any path; later ones must clearly be paths."""
    ticked = _TICKED.match(part)
    words = part.split()
    if not words:
        return ()
    first = ticked[1] if ticked else words[0] if len(words) == 1 else ""
    path = _LINES.sub("", first.strip("`*")).removeprefix("./")
    alone = _is_path(path)
    named = find_mentions(part) + (find_mentions(f"`{words[0]}`") if len(words) > 1 and not ticked else ())
    return (path, *(name for name in named if name != path)) if alone else named


def _is_path(word: str) -> bool:
    if not _PLAIN.match(word) or word.startswith(("/", "~", "-", "..")) or word.lower() == "n/a":
        return False
    return "/" in word or "." in word.strip(".") or word.startswith(".")


_MAX_RANGE = 1000  # a wider range is a mistake
_MAX_EDGES = 500_000  # edges of one file: more are no list of tasks
_MAX_SAME_NUMBER = 10  # tasks of one number that a reference may mean
_MAX_FIELD_LENGTH = 20_000
_shorten = partial(vocabulary.shorten, max_length=100)
_BLOCKS = re.compile(r"(?:un)?blocks?\b:?\s*", re.IGNORECASE)


class TodoNeeds:
    """The dependencies of all tasks of a file, by task id, and their problems."""

    def __init__(self, document: Document, items: Iterable[TodoItem]) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._items = list(items)
        self._needs: defaultdict[str, dict[str, Need]] = defaultdict(dict)
        self._numbers: defaultdict[int, list[TodoItem]] = defaultdict(list)
        self._noted: set[int] = set()
        self._room = _MAX_EDGES
        for item in self._items:
            same = self._numbers[int(item.heading.number)]
            if len(same) < _MAX_SAME_NUMBER:
                same.append(item)
        # A task's own fields come first, because the first reason is shown.
        for item in self._items:
            self._read_field(item, "dependencies", "dependency", "depends on", "blocked by")
        for item in self._items:
            self._read_field(item, "blocking", "blocks", is_blocking=True)

    def list_needs(self, item: TodoItem) -> tuple[Need, ...]:
        return tuple(self._needs[item.id].values())

    def _read_field(self, item: TodoItem, *keys: str, is_blocking: bool = False) -> None:
        """Add the edges that the first of these fields names: from this task, or to it from those that it blocks."""
        placed = item.find(*keys)
        if placed is None:
            return
        text = "; ".join(item.read_values(placed))
        if len(text) > _MAX_FIELD_LENGTH:
            message = f"too long to be a list of tasks: only its first {_MAX_FIELD_LENGTH} characters are read"
            self._warn(placed, message)
            text = text[:_MAX_FIELD_LENGTH].rpartition(",")[0]
        verb = _BLOCKS.match(text) if is_blocking else None
        references = parse_references(text[verb.end() :] if verb else text)
        for ref in references.refs:
            for number in self._expand_range(placed, ref):
                if is_blocking:
                    for other in self._numbers.get(number, ()):
                        if other is not item:
                            self._add(other.id, item.id, placed, text)
                else:
                    for on in self._find_named(item, placed, ref, number):
                        self._add(item.id, on, placed, text)
        if references.has_note and item.line not in self._noted:  # at most one note for each task
            self._noted.add(item.line)
            message = f"read as a note, not as a dependency: {_shorten(text)}"
            hint = "Write Task 12 for a task that must be done first."
            self.problems.append(self._document.make_info(placed.field.line, message, hint))

    def _find_named(self, item: TodoItem, placed: PlacedField, ref: TaskRange, number: int) -> Iterator[str]:
        """Yield the tasks that a number means. One that the text calls finished counts if the file disagrees."""
        existing = self._numbers.get(number, ())
        if not existing:
            if not ref.is_settled:
                yield str(number)
            return
        for other in existing:
            if other is item:
                if ref.first == ref.last and len(existing) == 1:
                    self._warn(placed, f"{item.id} can't depend on itself")
            elif not (ref.is_settled and todo_status.get_current_status(other).is_closed):
                yield other.id

    def _expand_range(self, placed: PlacedField, ref: TaskRange) -> Iterable[int]:
        first, last = int(ref.first), int(ref.last)
        if last < first:
            self._warn(placed, f"{first}-{last} runs backwards; ignored")
        elif last - first >= _MAX_RANGE:
            self._warn(placed, f"{first}-{last} is too wide; ignored")
        else:
            return range(first, last + 1)
        return ()

    def _add(self, task: str, on: str, placed: PlacedField, text: str) -> None:
        if on in self._needs[task]:
            return
        if self._room == 0:
            message = f"the dependencies of this file name more than {_MAX_EDGES:,} tasks; the rest is ignored"
            self.problems.append(
                self._document.make_error(placed.field.line, message, "Name fewer, or split the file.")
            )
        self._room -= 1
        if self._room >= 0:
            reason = f"{placed.field.key.capitalize()}: {_shorten(text)}"
            at = self._document.origin(placed.field.line)
            self._needs[task][on] = Need(on, reason=reason, at=at)

    def _warn(self, placed: PlacedField, message: str) -> None:
        self.problems.append(self._document.make_warning(placed.field.line, message, "Write it as 63, 65-67."))


_ENDINGS = (".md", ".markdown", ".mdown", ".txt")
_NAMES = frozenset({"todo", "todos"})
_NUMBERED = re.compile(r"(?:\A\ufeff?|[\r\n]) {0,3}###[ \t]+[^\r\n]{0,14}?[0-9]\.")
_FILES = ("files affected", "affected files", "files")
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_MAX_SEARCH_LENGTH = 200  # as far as a value is searched for a length of time or a date


def detect(source: SourceFiles) -> Confidence:
    """Recognise a file with `### N. Title` headings of which one has a field or a tick.

    Numbered headings alone are any document, unless that is called TODO and has nothing else that could be tasks. Where
    there are more checkboxes outside of them, those are the tasks, and the headings an order or a history.
    """
    if source.folder or len(source.documents) != 1:
        return Confidence.NO
    document = source.document
    if not document.name.lower().endswith(_ENDINGS) or not _NUMBERED.search(document.text):
        return Confidence.NO
    items = find_items(document.markdown)
    named = document.stem.lower() in _NAMES
    with_fields = sum(item.has_own_fields for item in items)
    if with_fields and _count_boxes_outside(document, items) > with_fields:
        return Confidence.NO
    if not with_fields:
        bare = items and named and not any(block.checkbox for block in document.markdown.blocks)
        return Confidence.PERHAPS if bare else Confidence.NO
    return Confidence.NAME if named else Confidence.CONTENT


def _count_boxes_outside(document: Document, items: list[TodoItem]) -> int:
    inside = {line for item in items for line in range(item.line, item.stop)}
    under = walk_outline(document.markdown)
    return sum(
        block.start not in inside and not block.quoted and not any(excludes_tasks(heading.text) for heading in path)
        for block, path in under
        if block.checkbox is not None and block.level == 0
    )


def _read_document(document: Document) -> Reading:
    items = find_items(document.markdown)
    if not items:
        hint = "A task is a heading such as ### 1. Title."
        return Reading(problems=(document.make_warning(0, "no task found", hint),))
    needs = TodoNeeds(document, items)
    problems = sort_by_line([*_find_problems(document, items), *needs.problems])
    return Reading(tuple(_build_entry(document, item, needs) for item in items), problems=problems)


def _build_entry(document: Document, item: TodoItem, needs: TodoNeeds) -> SourceEntry:
    lines = document.markdown.lines
    owned = {placed.field.line for placed in item.fields if placed.field.key in todo_status.STATUS_FIELDS}
    body = "".join(lines.all[n] for n in range(item.line + 1, item.stop) if n not in owned)
    effort = _field_value(item, "effort").partition("(")[0][:_MAX_SEARCH_LENGTH]
    estimate = vocabulary.parse_duration(effort)
    affected = item.find(*_FILES)
    status = item.find(todo_status.STATUS_FIELD)
    task = Task(
        id=item.id,
        title=item.title,
        body=document.markdown.source(item.line + 1, item.stop).strip("\r\n"),
        needs=needs.list_needs(item),
        touches=parse_declared_files(item.read_values(affected)) if affected else (),
        priority=_read_priority(item),
        weight=(None if estimate else vocabulary.parse_weight(effort)) or 1.0,
        estimate=estimate,
        origin=document.origin(item.line),
    )
    return SourceEntry(
        task,
        todo_status.get_current_status(item),
        status_text=status.text if status else "\u2705" if item.heading.is_ticked else "",
        mentions=find_mentions(f"{item.heading.title}\n{body}"),
        aliases=(f"#{item.id}",),
        since=_find_since(item),
    )


def _field_value(item: TodoItem, key: str) -> str:
    placed = item.find(key)
    return placed.field.value if placed else ""


def _read_priority(item: TodoItem) -> int:
    """Return the task's own priority, else that of its section: `## High Priority`."""
    declared = vocabulary.parse_priority(_field_value(item, "priority")[:_MAX_SEARCH_LENGTH])
    if declared is not None:
        return declared
    section = item.section.text[:_MAX_SEARCH_LENGTH] if item.section else ""
    inherited = parse_heading_priority(section)
    if inherited is None and "priority" in section.lower():
        inherited = vocabulary.parse_priority(section)
    return 1 if inherited is None else inherited


def _find_since(item: TodoItem) -> datetime | None:
    """Return the time of the task's status, else the day it was started; None if neither is known."""
    status = item.find(todo_status.STATUS_FIELD)
    key = todo_status.DATE_FIELDS.get(todo_status.get_current_status(item), todo_status.DATE_FIELDS[SourceStatus.DOING])
    value = _field_value(item, key.lower())
    noted = (
        re.search(rf"\b{key}\s*:\s*(.*)", status.text[:_MAX_SEARCH_LENGTH], re.IGNORECASE)
        if status and not value
        else None
    )
    match = _DATE_TIME.match(value or (noted[1] if noted else ""))
    return vocabulary.parse_time(match[0]) if match else None


def _find_problems(document: Document, items: list[TodoItem]) -> Iterator[Problem]:
    lines = {item.line for item in items}
    for left_out in find_numbered_headings(document.markdown):
        if left_out.line not in lines and left_out.section is not None:
            section = vocabulary.shorten(left_out.section.text)
            message = (
                f'"{_shorten(left_out.title)}" is not read as a task: it is listed under "{section}" without a status'
            )
            yield document.make_info(left_out.line, message, "Give it a **Status**.")
    yield from find_repeated_ids(document, ((item.line, item.heading.number, item.id) for item in items))
    for item in items:
        yield from _check_status(document, item)
        priority = item.find("priority")
        if priority and priority.text and vocabulary.parse_priority(priority.text[:_MAX_SEARCH_LENGTH]) is None:
            message = f"not a priority: {_shorten(priority.text)}"
            yield document.make_warning(priority.field.line, message, "Write Critical, High, Medium or Low.")


def _check_status(document: Document, item: TodoItem) -> Iterator[Problem]:
    statuses = item.find_all(todo_status.STATUS_FIELD)
    if not statuses:
        return
    status = statuses[0]
    parsed = todo_status.parse_status_value(status.text)
    if parsed is None and not item.heading.is_ticked:
        message = f"the status of {item.id} is unknown; treated as not started: {_shorten(status.text) or 'nothing'}"
        hint = "Write NOT STARTED, IN PROGRESS, COMPLETED, PARTIAL, BLOCKED, FAILED or ABANDONED."
        yield document.make_warning(status.field.line, message, hint)
    elif parsed is not SourceStatus.DONE and item.heading.is_ticked:
        message = f"{item.id} is ticked, so it counts as done, but its status is {_shorten(status.text) or 'nothing'}"
        yield document.make_warning(status.field.line, message, "Take the tick off the title, or say COMPLETED.")
    for again in statuses[1:]:
        message = f"{item.id} has a second status; the one on line {status.field.line + 1} counts"
        yield document.make_warning(again.field.line, message, "Take one of them out.")


FORMAT = Format(
    detect, partial(read_single_file, _read_document), partial(write_each_file, todo_status.write_todo_statuses)
)
