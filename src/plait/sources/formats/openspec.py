"""OpenSpec: `## 1. Section` and `- [ ] 1.1 Text`. Sections are done in order, the tasks of one in any order.

A box at the margin without a number is a task too, as it is for OpenSpec itself: its id is its section's and the first
words of its text. Under a heading such as Acceptance Criteria it is none, and inside another task it is part of that.
A task with numbered parts (`1.1.1` below `1.1`) is a group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plait.core.frozen import dataclass
from plait.core.task import Origin, Task
from plait.sources import single, ticking
from plait.sources.boxes import body, nested, status, usual_tick
from plait.sources.formats import Likeness
from plait.sources.markdown import Block, Markdown
from plait.sources.mentions import mentions
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Writer
from plait.sources.numbered import Numbered, numbered, parents
from plait.sources.outline import Phases, not_tasks, outline
from plait.sources.report import repeated, warning
from plait.sources.ticking import Sheet, Spot
from plait.sources.titles import Unique, headline, plain
from plait.sources.words import slug

_PLACE = re.compile(r"(?:^|/)openspec/changes/(?:archive/)?[^/]+/tasks\.md\Z")
_SECTION = re.compile(r"\W*(\d{1,4})[.):](?:\s+|\Z)(.*)\Z", re.DOTALL)


def likeness(material: Material) -> Likeness:
    document = single.boxed(material)
    if document is None:
        return Likeness.NO
    boxes = list(numbered(document.markdown))
    if boxes and _PLACE.search(document.path):
        return Likeness.NAME
    sections = any(_SECTION.match(heading.text) for heading in document.markdown.headings(2))
    fits = sections and any("." in item.number for item in boxes)
    return Likeness.CONTENT if fits else Likeness.NO


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001 - the file says it all
    return ()


def read(material: Material) -> Reading:
    return single.read(material, _read)


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return ticking.writers(path, changes, _sheet)


@dataclass(frozen=True, slots=True)
class _Section:
    """The first heading with a number that something lies under, or else the one of the second level."""

    key: str
    title: str
    heading: Block
    numbered: bool

    @property
    def tasks(self) -> bool:
        return self.numbered or not not_tasks(self.heading.text)


@dataclass(frozen=True, slots=True)
class _Task:
    """`number` is empty if it has none; one that is there again gets an id of its own."""

    item: Numbered
    number: str
    id: str
    title: str
    section: _Section | None


def _tasks(markdown: Markdown) -> Iterator[_Task]:
    under = {id(block): path for block, path in outline(markdown)}
    sections: dict[int, _Section] = {}
    keys, names = Unique(), Unique()
    for item in numbered(markdown):
        heading = _heading(under[id(item.block)])
        if heading is not None and id(heading) not in sections:
            sections[id(heading)] = _section(heading, keys)
        section = sections[id(heading)] if heading is not None else None
        if item.number or (item.block.level == 0 and item.text and (section is None or section.tasks)):
            number = _number(item, section)
            name = names(number or f"{_within(section)}{slug(plain(item.text))}")
            yield _Task(item, number, name, headline(item.text) or item.number, section)


def _heading(path: Sequence[Block]) -> Block | None:
    with_number = (heading for heading in path if _SECTION.match(heading.text))
    return next(with_number, None) or next((heading for heading in path if heading.level == 2), None)


def _section(heading: Block, keys: Unique) -> _Section:
    found = _SECTION.match(heading.text)
    if found is None:
        return _Section(keys(slug(plain(heading.text), words=4)), heading.text, heading, numbered=False)
    return _Section(keys(found[1]), found[2], heading, numbered=True)


def _number(item: Numbered, section: _Section | None) -> str:
    """A whole number counts within its section."""
    return item.number if "." in item.number or not item.number else f"{_within(section)}{item.number}"


def _within(section: _Section | None) -> str:
    return f"{section.key}." if section is not None else ""


def _parts(tasks: Sequence[_Task]) -> list[tuple[int, ...]]:
    parts: list[list[int]] = [[] for _ in tasks]
    for place, parent in enumerate(parents([task.number for task in tasks])):
        if parent is not None and tasks[place].number and tasks[parent].number:
            parts[parent].append(place)
    return list(map(tuple, parts))


def _read(document: Document) -> Reading:
    tasks = list(_tasks(document.markdown))
    if not tasks:
        message = "there is no box here that is a task"
        hint = 'OpenSpec writes tasks as "- [ ] 1.1 Text" under "## 1. Section".'
        return Reading(problems=(warning(document, 0, message, hint),))
    phases = Phases(document, gate=1.0)
    for section in {id(task.section): task.section for task in tasks}.values():
        if section is not None:
            phases.open(section.key, section.title, section.heading)
    entries = tuple(_entries(document, tasks))
    named = ((task.item.block.head, task.number, task.id) for task in tasks if task.number)
    return Reading(entries, phases.of(entries), tuple(repeated(document, named)))


def _entries(document: Document, tasks: Sequence[_Task]) -> Iterator[Entry]:
    inside = nested([task.item.block for task in tasks])
    for task, within, parts in zip(tasks, inside, _parts(tasks), strict=True):
        block = task.item.block
        text = body(document.markdown, block, (tasks[n].item.block for n in within))
        made = Task(
            task.id,
            task.title,
            text,
            phase=task.section.key if task.section is not None else None,
            origin=Origin(document.path, block.head + 1),
        )
        ids = tuple(tasks[n].id for n in parts)
        yield Entry(made, status(task.item.box), mentions=mentions(text), parts=ids)


def _sheet(text: str) -> Sheet:
    markdown = Markdown(text)
    tasks = list(_tasks(markdown))
    spots = [
        Spot(task.item.block, status(task.item.box), task.id, task.title, parts)
        for task, parts in zip(tasks, _parts(tasks), strict=True)
    ]
    return Sheet(markdown, spots, {Mark.DONE: usual_tick(task.item.box.mark for task in tasks)})
