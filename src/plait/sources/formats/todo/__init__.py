"""A numbered TODO: `### 73. Title`, fields in bold, sections by priority. Statuses go back into the same file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial

from plait.core.plan import Problem
from plait.core.task import Origin, Task
from plait.sources import single, words
from plait.sources.formats import Likeness
from plait.sources.formats.todo.files import declared
from plait.sources.formats.todo.items import Item, items
from plait.sources.formats.todo.needs import Needs, shown
from plait.sources.formats.todo.status import STATUS, current, mark
from plait.sources.formats.todo.write import DATES, OWNED, rewrite
from plait.sources.found import files
from plait.sources.mentions import mentions
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Writer
from plait.sources.report import repeated, warning

_ENDINGS = (".md", ".markdown", ".mdown", ".txt")
_NAMES = frozenset({"todo", "todos"})
_NUMBERED = re.compile(r"(?:\A\ufeff?|[\r\n]) {0,3}###[ \t]+[^\r\n]{0,14}?[0-9]\.")
_FILES = ("files affected", "affected files", "files")
_FIELDS = frozenset({"effort", "priority", "language", "blocking", "dependencies", "files affected", *OWNED})
_DAY = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_SHORT = 200  # as far as a value is searched for a length of time or a date


def likeness(material: Material) -> Likeness:
    """A file with `### N. Title` headings of which one has a field or a tick.

    Numbered headings alone are any document, unless that is called TODO and has nothing else that could be tasks.
    """
    if material.folder or len(material.documents) != 1:
        return Likeness.NO
    document = material.document
    if not document.name.lower().endswith(_ENDINGS) or not _NUMBERED.search(document.text):
        return Likeness.NO
    found = items(document.markdown)
    named = document.stem.lower() in _NAMES
    if not any(map(_meant, found)):
        bare = found and named and not any(block.box for block in document.markdown.blocks)
        return Likeness.PERHAPS if bare else Likeness.NO
    return Likeness.NAME if named else Likeness.CONTENT


def _meant(item: Item) -> bool:
    return item.heading.ticked or any(placed.field.key in _FIELDS for placed in item.fields)


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001 - every format answers this
    return ()


def read(material: Material) -> Reading:
    return single.read(material, _read)


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return [Writer(file, partial(rewrite, file)) for file in files(path, changes)]


def _read(document: Document) -> Reading:
    found = items(document.markdown)
    if not found:
        hint = "A task is a heading such as ### 1. Title."
        return Reading(problems=(warning(document, 0, "no task found", hint),))
    needs = Needs(document, found)
    problems = sorted([*_oddities(document, found), *needs.problems], key=_line)
    return Reading(tuple(_entry(document, item, needs) for item in found), problems=tuple(problems))


def _entry(document: Document, item: Item, needs: Needs) -> Entry:
    lines = document.markdown.lines
    owned = {placed.field.line for placed in item.fields if placed.field.key in OWNED}
    own = "".join(lines.all[n] for n in range(item.line + 1, item.stop) if n not in owned)
    effort = _value(item, "effort").partition("(")[0][:_SHORT]
    estimate = words.duration(effort)
    affected = item.first(*_FILES)
    status = item.first(STATUS)
    task = Task(
        id=item.id,
        title=item.title,
        body=document.markdown.source(item.line + 1, item.stop).strip("\r\n"),
        needs=needs.of(item),
        touches=declared(item.says(affected)) if affected else (),
        priority=_priority(item),
        weight=(None if estimate else words.weight(effort)) or 1.0,
        estimate=estimate,
        origin=Origin(document.path, item.line + 1),
    )
    return Entry(
        task,
        current(item),
        said=status.own if status else "\u2705" if item.heading.ticked else "",
        mentions=mentions(f"{item.heading.title}\n{own}"),
        aliases=(f"#{item.id}",),
        since=_since(item),
    )


def _value(item: Item, key: str) -> str:
    placed = item.first(key)
    return placed.field.value if placed else ""


def _priority(item: Item) -> int:
    """The task's own, else that of the section it is in: `## High Priority`."""
    own = words.priority(_value(item, "priority")[:_SHORT])
    if own is not None:
        return own
    section = item.section.text[:_SHORT] if item.section else ""
    found = words.priority(section) if "priority" in section.lower() else None
    return 1 if found is None else found


def _since(item: Item) -> datetime | None:
    """When it got its status, as far as it says; the day it was started, if nothing tells better."""
    status = item.first(STATUS)
    key = DATES.get(current(item), DATES[Mark.DOING])
    said = _value(item, key.lower())
    noted = (
        re.search(rf"\b{key}\s*:\s*(.*)", status.own[:_SHORT], re.IGNORECASE) if status and not said else None
    )
    found = _DAY.match(said or (noted[1] if noted else ""))
    if found is None:
        return None
    try:
        at = datetime.fromisoformat(found[0])
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _oddities(document: Document, found: list[Item]) -> Iterator[Problem]:
    yield from repeated(document, ((item.line, item.heading.number, item.id) for item in found))
    for item in found:
        yield from _odd_status(document, item)
        priority = item.first("priority")
        if priority and priority.own and words.priority(priority.own[:_SHORT]) is None:
            message = f"not a priority: {shown(priority.own)}"
            yield warning(document, priority.field.line, message, "Write Critical, High, Medium or Low.")


def _odd_status(document: Document, item: Item) -> Iterator[Problem]:
    statuses = item.every(STATUS)
    if not statuses:
        return
    status = statuses[0]
    known = mark(status.own)
    if known is None and not item.heading.ticked:
        message = f"the status of {item.id} is not known, and taken as not started: {shown(status.own) or 'nothing'}"
        hint = "Write NOT STARTED, IN PROGRESS, COMPLETED, PARTIAL, BLOCKED, FAILED or ABANDONED."
        yield warning(document, status.field.line, message, hint)
    elif known is not Mark.DONE and item.heading.ticked:
        message = f"{item.id} is ticked, so it is taken as done, but its status says {shown(status.own) or 'nothing'}"
        yield warning(document, status.field.line, message, "Take the tick off the title, or say COMPLETED.")
    for again in statuses[1:]:
        message = f"{item.id} has a second status; the one on line {status.field.line + 1} counts"
        yield warning(document, again.field.line, message, "Take one of them out.")


def _line(problem: Problem) -> int:
    return problem.at.line if problem.at else 0
