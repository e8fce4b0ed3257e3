"""Checklists: any file with boxes. Every box is a task, also one inside another, which needs it as a part of itself.

Ids are made from titles, so that other tasks can come, go and be ticked. Tasks of the same title take the name of their
heading in front, then of the box that they lie in; what is the same even then is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from plait.core.frozen import dataclass
from plait.core.plan import Problem
from plait.core.task import Need, Origin, Task
from plait.sources import single, ticking
from plait.sources.boxes import (
    NOT_WANTED,
    TICKS,
    UNDER_WAY,
    body,
    boxes,
    is_box,
    nested,
    own_text,
    status,
    usual_tick,
)
from plait.sources.formats import Likeness
from plait.sources.formats.checklist.headings import Context, Surroundings
from plait.sources.markdown import Block, Box, Kind
from plait.sources.mentions import mentions
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Writer
from plait.sources.report import warning
from plait.sources.ticking import OPEN, Sheet, Spot
from plait.sources.titles import Unique, headline, plain
from plait.sources.words import slug

_MIDDLE = 1


def likeness(material: Material) -> Likeness:
    document = single.boxed(material)
    if document is None:
        return Likeness.NO
    some = any(box.mark == OPEN or box.mark in TICKS for _, box in boxes(document.markdown))
    return Likeness.PERHAPS if some else Likeness.NO


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001 - the file says it all
    return ()


def read(material: Material) -> Reading:
    return single.read(material, _read)


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return ticking.writers(path, changes, _sheet)


@dataclass(frozen=True, slots=True)
class _Task:
    block: Block
    box: Box
    text: str
    context: Context


def _tasks(document: Document, around: Surroundings) -> Iterator[_Task]:
    markdown = document.markdown
    for block, box, context in around.items(markdown):
        if box is not None and context.tasks and is_box(box) and not block.quoted:
            yield _Task(block, box, own_text(markdown, block, box), context)


def _ids(tasks: Sequence[_Task], inside: Sequence[Sequence[int]]) -> list[str]:
    own = [slug(plain(task.text)) for task in tasks]
    counts = Counter(own)
    doubles = [n for n, name in enumerate(own) if counts[name] > 1]
    names = list(own)
    for n in doubles:
        headings = tasks[n].context.headings
        names[n] = f"{slug(headings[-1], words=4)}-{own[n]}" if headings else own[n]
    counts = Counter(names)
    above = {part: n for n, parts in enumerate(inside) for part in parts}
    for n in doubles:
        if counts[names[n]] > 1 and n in above:
            names[n] = f"{own[above[n]]}-{own[n]}"
    unique = Unique()
    among = set(doubles)
    for n in [*(n for n in range(len(tasks)) if n not in among), *doubles]:
        names[n] = unique(names[n])
    return names


def _read(document: Document) -> Reading:
    around = Surroundings(document)
    found = list(_tasks(document, around))
    tasks = [task for task in found if task.text]
    problems = [_without_text(document, task) for task in found if not task.text]
    if not found:
        problems.append(_no_tasks(document))
    entries = tuple(_entries(document, tasks))
    return Reading(entries, around.phases.of(entries), tuple(problems))


def _without_text(document: Document, task: _Task) -> Problem:
    message = "this box has no text, so it is not a task"
    return warning(document, task.block.head, message, "Write what is to be done after it.")


def _no_tasks(document: Document) -> Problem:
    hint = 'Write tasks as "- [ ] text".'
    if any(True for _ in boxes(document.markdown)):
        return warning(document, 0, "all boxes here are acceptance criteria or a legend: there are no tasks")
    if any(block.kind is Kind.ITEM for block in document.markdown.blocks):
        return warning(document, 0, "plain bullets are not tasks, and there are no boxes here", hint)
    return warning(document, 0, "there are no boxes here, so there are no tasks", hint)


def _entries(document: Document, tasks: Sequence[_Task]) -> Iterator[Entry]:
    inside = nested([task.block for task in tasks])
    ids = _ids(tasks, inside)
    for n, (task, parts) in enumerate(zip(tasks, inside, strict=True)):
        own = body(document.markdown, task.block, (tasks[part].block for part in parts))
        text = body(document.markdown, task.block) if parts else own
        priority = task.context.priority
        made = Task(
            ids[n],
            headline(task.text),
            f"Under: {' > '.join(task.context.headings)}\n\n{text}" if task.context.headings else text,
            tuple(_part(document, ids[part], tasks[part]) for part in parts),
            phase=task.context.phase,
            priority=_MIDDLE if priority is None else priority,
            allow_empty=bool(parts),  # its parts may be all of it
            origin=Origin(document.path, task.block.head + 1),
        )
        yield Entry(made, status(task.box), mentions=mentions(own))


def _part(document: Document, on: str, task: _Task) -> Need:
    return Need(on, reason="its part", at=Origin(document.path, task.block.head + 1))


def _sheet(text: str) -> Sheet:
    document = Document("", text)
    tasks = [task for task in _tasks(document, Surroundings(document)) if task.text]
    ids = _ids(tasks, nested([task.block for task in tasks]))
    spots = [
        Spot(task.block, status(task.box), name, headline(task.text))
        for task, name in zip(tasks, ids, strict=True)
    ]
    marks = Counter(task.box.mark for task in tasks)
    signs = {Mark.DONE: usual_tick(marks.elements()), Mark.SKIPPED: NOT_WANTED}
    under_way = max(UNDER_WAY, key=lambda mark: marks[mark])
    if marks[under_way]:
        signs[Mark.DOING] = under_way
    return Sheet(document.markdown, spots, signs)
