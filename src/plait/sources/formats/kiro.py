"""Kiro: `- [ ] 1. Title`, `- [ ] 1.1 Part`, in the order in which they run.

The tasks are a chain in written order. `- [ ]*` is optional: it follows the last required task, and nothing waits for
it or for anything below it. A parent with a required part is a group, otherwise a task.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plait.core.fast_dataclass import dataclass
from plait.core.task import Need, NeedKind, Task
from plait.sources import checkboxes
from plait.sources.checkboxes import NumberedBox
from plait.sources.formats import Confidence
from plait.sources.markdown import Checkbox
from plait.sources.outline import UniqueNames, make_title
from plait.sources.source_model import (
    Document,
    Reading,
    SourceEntry,
    SourceStatus,
    find_repeated_ids,
)
from plait.sources.task_paths import find_mentions

_KIRO_PATH = re.compile(r"(?:^|/)\.kiro/specs/[^/]+/tasks\.md\Z")
_CHECKPOINT = re.compile(r"(?:final\s+)?checkpoint\b", re.IGNORECASE)
_MAX_CONTEXT_LENGTH = 2_000  # characters: the most of a group's own text that each of its parts is given
_OTHER_FORMATS = re.compile(r"\W*phase\s+\d|\d{1,4}[.)]\s", re.IGNORECASE)  # headings of plans, and of OpenSpec


def _detect(document: Document) -> Confidence:
    tops = [item for item in checkboxes.find_numbered_boxes(document.markdown) if item.block.level == 0]
    with_number = sum(1 for item in tops if item.number)
    if not with_number:
        return Confidence.NO
    if _KIRO_PATH.search(document.path):
        return Confidence.NAME
    if 2 * with_number < len(tops) or any(_OTHER_FORMATS.match(head.text) for head in document.markdown.headings(2)):
        return Confidence.NO
    return Confidence.CONTENT


@dataclass(frozen=True, slots=True)
class _NumberedTasks:
    """The numbered boxes of a file. `parts` are the required ones directly below each; `optional` is inherited.

    `ids` are their numbers, made unique.
    """

    items: tuple[NumberedBox, ...]
    ids: tuple[str, ...]
    above: tuple[int | None, ...]
    parts: tuple[tuple[int, ...], ...]
    optional: tuple[bool, ...]

    @classmethod
    def build(cls, items: Sequence[NumberedBox]) -> _NumberedTasks:
        above = checkboxes.find_parents([item.number for item in items])
        parts: list[list[int]] = [[] for _ in items]
        optional: list[bool] = []
        for place, (item, parent) in enumerate(zip(items, above, strict=True)):
            if parent is not None and not item.box.star:
                parts[parent].append(place)
            optional.append(item.box.star or (parent is not None and optional[parent]))
        unique = UniqueNames()
        ids = tuple(unique(item.number) for item in items)
        return cls(tuple(items), ids, tuple(above), tuple(map(tuple, parts)), tuple(optional))


def _read_status(box: Checkbox) -> SourceStatus:
    """`[~]` is Kiro's queue: not started."""
    if box.character in checkboxes.TICK_CHARACTERS:
        return SourceStatus.DONE
    return SourceStatus.DOING if box.character in "-/" else SourceStatus.TODO


def _read_title(item: NumberedBox) -> str:
    return make_title(item.text) or item.number


def _read_document(document: Document) -> Reading:
    boxes = list(checkboxes.find_numbered_boxes(document.markdown))
    tasks = _NumberedTasks.build([item for item in boxes if item.number])
    if not tasks.items:
        message = "no box here has a number, so there are no tasks"
        problem = document.make_warning(0, message, 'Kiro writes tasks as "- [ ] 1. Title".')
        return Reading(problems=(problem,))
    without = [item for item in boxes if not item.number and item.block.level == 0]
    named = ((item.block.head, item.number, name) for item, name in zip(tasks.items, tasks.ids, strict=True))
    problems = list(find_repeated_ids(document, named))
    if without:
        count = "a box has" if len(without) == 1 else f"{len(without)} boxes have"
        message = f"{count} no number: not read as a task (the first one is here)"
        problems.append(document.make_info(without[0].block.head, message))
    return Reading(tuple(_build_entries(document, tasks)), problems=tuple(problems))


def _build_entries(document: Document, tasks: _NumberedTasks) -> list[SourceEntry]:
    inside = checkboxes.find_nested([item.block for item in tasks.items])
    texts = [
        checkboxes.read_item_body(document.markdown, item.block, (tasks.items[n].block for n in within))
        for item, within in zip(tasks.items, inside, strict=True)
    ]
    entries = []
    last: str | None = None
    for place, item in enumerate(tasks.items):
        origin = document.origin(item.block.head)
        group = bool(tasks.parts[place])
        task = Task(
            tasks.ids[place],
            _read_title(item),
            _make_context(tasks, texts, place) + texts[place],
            () if group or last is None else (Need(last, NeedKind.CHAIN, "tasks run in written order", origin),),
            gating=not tasks.optional[place],
            allow_empty=_CHECKPOINT.match(item.text) is not None,  # it may have nothing to change
            origin=origin,
        )
        parts = tuple(tasks.ids[n] for n in tasks.parts[place])
        entries.append(SourceEntry(task, _read_status(item.box), mentions=find_mentions(texts[place]), parts=parts))
        last = last if group or tasks.optional[place] else tasks.ids[place]
    return entries


def _make_context(tasks: _NumberedTasks, texts: Sequence[str], place: int) -> str:
    """The text of the group: it is not run itself, so its parts get its text."""
    above = tasks.above[place]
    if above is None or not tasks.parts[above]:
        return ""
    text = (
        texts[above]
        if len(texts[above]) <= _MAX_CONTEXT_LENGTH
        else f"{tasks.items[above].number}. {_read_title(tasks.items[above])}"
    )
    return f"Part of:\n\n{text}\n\nThis part:\n\n"


FORMAT = checkboxes.make_checkbox_format(_detect, _read_document, lambda _used: {SourceStatus.DOING: "-"})
