"""A numbered TODO: `### 73. Title`, fields in bold, sections by priority. Statuses go back into the same file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from plait.core.plan import Problem
from plait.core.task import Origin, Task
from plait.sources import problem_reports__single, vocabulary
from plait.sources.formats import Confidence
from plait.sources.formats.todo__files import parse_declared_files
from plait.sources.formats.todo__needs import TodoNeeds, shorten
from plait.sources.formats.todo_items import TodoItem, find_items
from plait.sources.formats.todo_status import DATE_FIELDS, STATUS_FIELDS, write_todo_statuses
from plait.sources.formats.todo_status__status import STATUS_FIELD, get_current_status, parse_status_value
from plait.sources.problem_reports import find_repeated_ids, make_warning
from plait.sources.source_model import (
    Document,
    Reading,
    SourceEntry,
    SourceFiles,
    SourceStatus,
    StatusChange,
    StatusFileWriter,
)
from plait.sources.status_changes import list_changed_files
from plait.sources.task_paths__mentions import find_mentions

_ENDINGS = (".md", ".markdown", ".mdown", ".txt")
_NAMES = frozenset({"todo", "todos"})
_NUMBERED = re.compile(r"(?:\A\ufeff?|[\r\n]) {0,3}###[ \t]+[^\r\n]{0,14}?[0-9]\.")
_FILES = ("files affected", "affected files", "files")
_FIELDS = frozenset(
    {"effort", "priority", "language", "blocking", "dependencies", "files affected", *STATUS_FIELDS}
)
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_MAX_SEARCH_LENGTH = 200  # as far as a value is searched for a length of time or a date


def detect(source: SourceFiles) -> Confidence:
    """A file with `### N. Title` headings of which one has a field or a tick.

    Numbered headings alone are any document, unless that is called TODO and has nothing else that could be tasks.
    """
    if source.folder or len(source.documents) != 1:
        return Confidence.NO
    document = source.document
    if not document.name.lower().endswith(_ENDINGS) or not _NUMBERED.search(document.text):
        return Confidence.NO
    found = find_items(document.markdown)
    named = document.stem.lower() in _NAMES
    if not any(map(_looks_like_task, found)):
        bare = found and named and not any(block.checkbox for block in document.markdown.blocks)
        return Confidence.PERHAPS if bare else Confidence.NO
    return Confidence.NAME if named else Confidence.CONTENT


def _looks_like_task(item: TodoItem) -> bool:
    return item.heading.is_ticked or any(placed.field.key in _FIELDS for placed in item.fields)


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001 - every format answers this
    return ()


def read(source: SourceFiles) -> Reading:
    return problem_reports__single.read_single_file(source, _read_document)


def writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    return [
        StatusFileWriter(file, partial(write_todo_statuses, file))
        for file in list_changed_files(path, changes)
    ]


def _read_document(document: Document) -> Reading:
    found = find_items(document.markdown)
    if not found:
        hint = "A task is a heading such as ### 1. Title."
        return Reading(problems=(make_warning(document, 0, "no task found", hint),))
    needs = TodoNeeds(document, found)
    problems = sorted([*_find_problems(document, found), *needs.problems], key=_problem_line)
    return Reading(tuple(_build_entry(document, item, needs) for item in found), problems=tuple(problems))


def _build_entry(document: Document, item: TodoItem, needs: TodoNeeds) -> SourceEntry:
    lines = document.markdown.lines
    owned = {placed.field.line for placed in item.fields if placed.field.key in STATUS_FIELDS}
    own = "".join(lines.all[n] for n in range(item.line + 1, item.stop) if n not in owned)
    effort = _field_value(item, "effort").partition("(")[0][:_MAX_SEARCH_LENGTH]
    estimate = vocabulary.parse_duration(effort)
    affected = item.find(*_FILES)
    status = item.find(STATUS_FIELD)
    task = Task(
        id=item.id,
        title=item.title,
        body=document.markdown.source(item.line + 1, item.stop).strip("\r\n"),
        needs=needs.of(item),
        touches=parse_declared_files(item.read_values(affected)) if affected else (),
        priority=_read_priority(item),
        weight=(None if estimate else vocabulary.parse_weight(effort)) or 1.0,
        estimate=estimate,
        origin=Origin(document.path, item.line + 1),
    )
    return SourceEntry(
        task,
        get_current_status(item),
        status_text=status.text if status else "\u2705" if item.heading.is_ticked else "",
        mentions=find_mentions(f"{item.heading.title}\n{own}"),
        aliases=(f"#{item.id}",),
        since=_find_since(item),
    )


def _field_value(item: TodoItem, key: str) -> str:
    placed = item.find(key)
    return placed.field.value if placed else ""


def _read_priority(item: TodoItem) -> int:
    """The task's own, else that of the section it is in: `## High Priority`."""
    own = vocabulary.parse_priority(_field_value(item, "priority")[:_MAX_SEARCH_LENGTH])
    if own is not None:
        return own
    section = item.section.text[:_MAX_SEARCH_LENGTH] if item.section else ""
    found = vocabulary.parse_priority(section) if "priority" in section.lower() else None
    return 1 if found is None else found


def _find_since(item: TodoItem) -> datetime | None:
    """When it got its status, as far as it says; the day it was started, if nothing tells better."""
    status = item.find(STATUS_FIELD)
    key = DATE_FIELDS.get(get_current_status(item), DATE_FIELDS[SourceStatus.DOING])
    said = _field_value(item, key.lower())
    noted = (
        re.search(rf"\b{key}\s*:\s*(.*)", status.text[:_MAX_SEARCH_LENGTH], re.IGNORECASE)
        if status and not said
        else None
    )
    found = _DATE_TIME.match(said or (noted[1] if noted else ""))
    if found is None:
        return None
    try:
        at = datetime.fromisoformat(found[0])
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _find_problems(document: Document, found: list[TodoItem]) -> Iterator[Problem]:
    yield from find_repeated_ids(document, ((item.line, item.heading.number, item.id) for item in found))
    for item in found:
        yield from _check_status(document, item)
        priority = item.find("priority")
        if (
            priority
            and priority.text
            and vocabulary.parse_priority(priority.text[:_MAX_SEARCH_LENGTH]) is None
        ):
            message = f"not a priority: {shorten(priority.text)}"
            yield make_warning(document, priority.field.line, message, "Write Critical, High, Medium or Low.")


def _check_status(document: Document, item: TodoItem) -> Iterator[Problem]:
    statuses = item.find_all(STATUS_FIELD)
    if not statuses:
        return
    status = statuses[0]
    known = parse_status_value(status.text)
    if known is None and not item.heading.is_ticked:
        message = f"the status of {item.id} is not known, and taken as not started: {shorten(status.text) or 'nothing'}"
        hint = "Write NOT STARTED, IN PROGRESS, COMPLETED, PARTIAL, BLOCKED, FAILED or ABANDONED."
        yield make_warning(document, status.field.line, message, hint)
    elif known is not SourceStatus.DONE and item.heading.is_ticked:
        message = f"{item.id} is ticked, so it is taken as done, but its status says {shorten(status.text) or 'nothing'}"
        yield make_warning(
            document, status.field.line, message, "Take the tick off the title, or say COMPLETED."
        )
    for again in statuses[1:]:
        message = f"{item.id} has a second status; the one on line {status.field.line + 1} counts"
        yield make_warning(document, again.field.line, message, "Take one of them out.")


def _problem_line(problem: Problem) -> int:
    return problem.at.line if problem.at else 0
