"""Kiro: `- [ ] 1. Title`, `- [ ] 1.1 Part`, in the order in which they are to be done.

The tasks are a chain in written order. `- [ ]*` is optional: it follows the last task that is not, and nobody waits for
it, nor for anything below it. A parent is a group if one of its parts is not optional, and else a task itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plait.core.frozen import dataclass
from plait.core.task import Need, NeedKind, Origin, Task
from plait.sources import single, ticking
from plait.sources.boxes import TICKS, body, nested, usual_tick
from plait.sources.formats import Likeness
from plait.sources.markdown import Box, Markdown
from plait.sources.mentions import mentions
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Writer
from plait.sources.numbered import Numbered, numbered, parents
from plait.sources.report import info, repeated, warning
from plait.sources.ticking import Sheet, Spot
from plait.sources.titles import Unique, headline

_PLACE = re.compile(r"(?:^|/)\.kiro/specs/[^/]+/tasks\.md\Z")
_CHECKPOINT = re.compile(r"(?:final\s+)?checkpoint\b", re.IGNORECASE)
_CONTEXT = 2_000  # characters: the most of a group's own text that each of its parts is given
_OTHERS = re.compile(r"\W*phase\s+\d|\d{1,4}[.)]\s", re.IGNORECASE)  # headings of plans, and of OpenSpec


def likeness(material: Material) -> Likeness:
    document = single.boxed(material)
    if document is None:
        return Likeness.NO
    tops = [item for item in numbered(document.markdown) if item.block.level == 0]
    with_number = sum(1 for item in tops if item.number)
    if not with_number:
        return Likeness.NO
    if _PLACE.search(document.path):
        return Likeness.NAME
    if 2 * with_number < len(tops) or any(_OTHERS.match(head.text) for head in document.markdown.headings(2)):
        return Likeness.NO
    return Likeness.CONTENT


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001 - the file says it all
    return ()


def read(material: Material) -> Reading:
    return single.read(material, _read)


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return ticking.writers(path, changes, _sheet)


@dataclass(frozen=True, slots=True)
class _Tasks:
    """The numbered boxes of a file. `parts` are the required ones directly below each; `optional` is inherited.

    `ids` are their numbers; one that is there again gets an id of its own.
    """

    items: tuple[Numbered, ...]
    ids: tuple[str, ...]
    above: tuple[int | None, ...]
    parts: tuple[tuple[int, ...], ...]
    optional: tuple[bool, ...]

    @classmethod
    def of(cls, items: Sequence[Numbered]) -> _Tasks:
        above = parents([item.number for item in items])
        parts: list[list[int]] = [[] for _ in items]
        optional: list[bool] = []
        for place, (item, parent) in enumerate(zip(items, above, strict=True)):
            if parent is not None and not item.box.star:
                parts[parent].append(place)
            optional.append(item.box.star or (parent is not None and optional[parent]))
        unique = Unique()
        ids = tuple(unique(item.number) for item in items)
        return cls(tuple(items), ids, tuple(above), tuple(map(tuple, parts)), tuple(optional))


def _status(box: Box) -> Mark:
    """`[~]` is Kiro's queue: nobody has begun with it."""
    if box.mark in TICKS:
        return Mark.DONE
    return Mark.DOING if box.mark in "-/" else Mark.TODO


def _title(item: Numbered) -> str:
    return headline(item.text) or item.number


def _read(document: Document) -> Reading:
    boxes = list(numbered(document.markdown))
    tasks = _Tasks.of([item for item in boxes if item.number])
    if not tasks.items:
        message = "no box here has a number, so there are no tasks"
        problem = warning(document, 0, message, 'Kiro writes tasks as "- [ ] 1. Title".')
        return Reading(problems=(problem,))
    without = [item for item in boxes if not item.number and item.block.level == 0]
    named = ((item.block.head, item.number, name) for item, name in zip(tasks.items, tasks.ids, strict=True))
    problems = list(repeated(document, named))
    if without:
        message = f"{_boxes(len(without))} no number: not read as a task (the first one is here)"
        problems.append(info(document, without[0].block.head, message))
    return Reading(tuple(_entries(document, tasks)), problems=tuple(problems))


def _boxes(count: int) -> str:
    return "a box has" if count == 1 else f"{count} boxes have"


def _entries(document: Document, tasks: _Tasks) -> list[Entry]:
    inside = nested([item.block for item in tasks.items])
    texts = [
        body(document.markdown, item.block, (tasks.items[n].block for n in within))
        for item, within in zip(tasks.items, inside, strict=True)
    ]
    entries = []
    last: str | None = None
    for place, item in enumerate(tasks.items):
        origin = Origin(document.path, item.block.head + 1)
        group = bool(tasks.parts[place])
        task = Task(
            tasks.ids[place],
            _title(item),
            _context(tasks, texts, place) + texts[place],
            () if group or last is None else (_follows(last, origin),),
            gating=not tasks.optional[place],
            allow_empty=_CHECKPOINT.match(item.text) is not None,  # it looks, and has nothing to change
            origin=origin,
        )
        parts = tuple(tasks.ids[n] for n in tasks.parts[place])
        entries.append(Entry(task, _status(item.box), mentions=mentions(texts[place]), parts=parts))
        last = last if group or tasks.optional[place] else tasks.ids[place]
    return entries


def _context(tasks: _Tasks, texts: Sequence[str], place: int) -> str:
    """A group is not run itself, so what it says goes to its parts."""
    above = tasks.above[place]
    if above is None or not tasks.parts[above]:
        return ""
    text = (
        texts[above]
        if len(texts[above]) <= _CONTEXT
        else f"{tasks.items[above].number}. {_title(tasks.items[above])}"
    )
    return f"Part of:\n\n{text}\n\nThis part:\n\n"


def _follows(name: str, origin: Origin) -> Need:
    return Need(name, NeedKind.CHAIN, "tasks are done in written order", origin)


def _sheet(text: str) -> Sheet:
    markdown = Markdown(text)
    tasks = _Tasks.of([item for item in numbered(markdown) if item.number])
    spots = [
        Spot(item.block, _status(item.box), name, _title(item), parts)
        for item, name, parts in zip(tasks.items, tasks.ids, tasks.parts, strict=True)
    ]
    signs = {Mark.DONE: usual_tick(item.box.mark for item in tasks.items), Mark.DOING: "-"}
    return Sheet(markdown, spots, signs)
