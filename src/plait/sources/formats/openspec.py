"""OpenSpec: `## 1. Section` and `- [ ] 1.1 Text`. Sections run in order, the tasks of one in any order.

A top-level box without a number is a task too, as in OpenSpec itself: its id is that of its section and the first
words of its text. Under a heading such as Acceptance Criteria, it isn't; nested in another task, it is part of it. The
boxes under Verification are tasks that may have nothing to change. A task with numbered parts (`1.1.1` below `1.1`) is
a group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plait.core.fast_dataclass import dataclass
from plait.core.task import Task
from plait.sources import checkboxes
from plait.sources.checkboxes import NumberedBox
from plait.sources.formats import Confidence
from plait.sources.markdown import (
    Block,
    Markdown,
    PhaseBuilder,
    UniqueNames,
    excludes_tasks,
    make_label,
    make_title,
    strip_markup,
    walk_outline,
)
from plait.sources.source_model import Document, Reading, SourceEntry, find_repeated_ids
from plait.sources.task_paths import find_mentions
from plait.sources.vocabulary import make_slug

_OPENSPEC_PATH = re.compile(r"(?:^|/)openspec/changes/(?:[^/]+/)+tasks\.md\Z")
_VERIFICATION = re.compile(r"(?:verification|validation|verify|validate)\b", re.IGNORECASE)
_SECTION = re.compile(r"\W*(\d{1,4})[.):](?:\s+|\Z)(.*)\Z", re.DOTALL)


def _detect(document: Document) -> Confidence:
    boxes = list(checkboxes.find_numbered_boxes(document.markdown))
    if boxes and _OPENSPEC_PATH.search(document.path):
        return Confidence.NAME
    sections = any(_SECTION.match(heading.text) for heading in document.markdown.headings(2))
    fits = sections and any("." in item.number for item in boxes)
    return Confidence.CONTENT if fits else Confidence.NO


@dataclass(frozen=True, slots=True)
class _Section:
    """The outermost numbered heading above a task, else the heading of the second level."""

    key: str
    title: str
    heading: Block
    is_numbered: bool

    @property
    def holds_tasks(self) -> bool:
        return self.is_numbered or self.is_verification or not excludes_tasks(self.heading.text)

    @property
    def is_verification(self) -> bool:
        return _VERIFICATION.match(make_label(self.title)) is not None


@dataclass(frozen=True, slots=True)
class _SpecTask:
    """A task of a file. `number` is empty if it has none; `id` is unique."""

    item: NumberedBox
    number: str
    id: str
    title: str
    section: _Section | None


def _find_tasks(markdown: Markdown) -> Iterator[_SpecTask]:
    under = {id(block): path for block, path in walk_outline(markdown)}
    sections: dict[int, _Section] = {}
    keys, names = UniqueNames(), UniqueNames()
    for item in checkboxes.find_numbered_boxes(markdown):
        path = under[id(item.block)]
        numbered = next((heading for heading in path if _SECTION.match(heading.text)), None)
        heading = numbered or next((heading for heading in path if heading.level == 2), None)
        if heading is not None and id(heading) not in sections:
            sections[id(heading)] = _make_section(heading, keys)
        section = sections[id(heading)] if heading is not None else None
        if item.number or (item.block.level == 0 and item.text and (section is None or section.holds_tasks)):
            number = item.number
            if number and "." not in number:  # a whole number counts within its section
                number = f"{_make_section_prefix(section)}{number}"
            name = names(number or f"{_make_section_prefix(section)}{make_slug(strip_markup(item.text))}")
            yield _SpecTask(item, number, name, make_title(item.text) or item.number, section)


def _make_section(heading: Block, keys: UniqueNames) -> _Section:
    match = _SECTION.match(heading.text)
    if match is None:
        return _Section(
            keys(make_slug(strip_markup(heading.text), max_words=4)), heading.text, heading, is_numbered=False
        )
    return _Section(keys(match[1]), match[2], heading, is_numbered=True)


def _make_section_prefix(section: _Section | None) -> str:
    return f"{section.key}." if section is not None else ""


def _find_parts(tasks: Sequence[_SpecTask]) -> list[tuple[int, ...]]:
    parts: list[list[int]] = [[] for _ in tasks]
    for index, parent in enumerate(checkboxes.find_parents([task.number for task in tasks])):
        if parent is not None and tasks[index].number and tasks[parent].number:
            parts[parent].append(index)
    return list(map(tuple, parts))


def _read_document(document: Document) -> Reading:
    tasks = list(_find_tasks(document.markdown))
    if not tasks:
        message = "there is no box here that is a task"
        hint = 'OpenSpec writes tasks as "- [ ] 1.1 Text" under "## 1. Section".'
        return Reading(problems=(document.make_warning(0, message, hint),))
    phases = PhaseBuilder(document, gate=1.0)
    for section in {id(task.section): task.section for task in tasks}.values():
        if section is not None:
            phases.add(section.key, section.title, section.heading)
    entries = tuple(_build_entries(document, tasks))
    named = ((task.item.block.head, task.number, task.id) for task in tasks if task.number)
    return Reading(entries, phases.build(entries), tuple(find_repeated_ids(document, named)))


def _build_entries(document: Document, tasks: Sequence[_SpecTask]) -> Iterator[SourceEntry]:
    bodies = checkboxes.read_item_bodies(document.markdown, [task.item.block for task in tasks])
    for task, body, parts in zip(tasks, bodies, _find_parts(tasks), strict=True):
        core_task = Task(
            task.id,
            task.title,
            body,
            phase=task.section.key if task.section is not None else None,
            allow_empty=task.section is not None and task.section.is_verification,
            origin=document.origin(task.item.block.head),
        )
        ids = tuple(tasks[n].id for n in parts)
        yield SourceEntry(
            core_task, checkboxes.read_checkbox_status(task.item.box), mentions=find_mentions(body), parts=ids
        )


FORMAT = checkboxes.make_checkbox_format(_detect, _read_document)
