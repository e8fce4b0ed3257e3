"""Kiro: `- [ ] 1. Title`, `- [ ] 1.1 Part`, in the order in which they run.

The tasks are a chain in written order. `- [ ]*` is optional: it follows the last required task, and nothing waits for
it or for anything below it. A parent with a required part is a group, otherwise a task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.core.task import Need, NeedKind, Task
from plait.sources import checkboxes
from plait.sources.checkboxes import NumberedBox
from plait.sources.formats import Confidence
from plait.sources.markdown import Checkbox, UniqueNames, make_title
from plait.sources.source_model import Document, Reading, SourceEntry, SourceStatus, find_repeated_ids
from plait.sources.task_paths import find_mentions

_KIRO_PATH = re.compile(r"(?:^|/)\.kiro/specs/(?:[^/]+/)+tasks\.md\Z")
_REQUIREMENTS = re.compile(r"_Requirements?\b|\*\*(?:Validates|Requirements?)\b", re.IGNORECASE)
_STARRED_NUMBER = re.compile(r"\d[\d.]*\\?\*(?!\*)")  # `1.3* Text` is optional too
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
    if not _REQUIREMENTS.search(document.text):  # numbered boxes alone may be anything
        return Confidence.NO
    if 2 * with_number < len(tops) or any(_OTHER_FORMATS.match(head.text) for head in document.markdown.headings(2)):
        return Confidence.NO
    return Confidence.CONTENT


@dataclass(slots=True)
class _KiroTask:
    """A numbered box; `id` is unique. `parts` are the required tasks directly below it; `is_optional` is inherited."""

    item: NumberedBox
    id: str
    parent: _KiroTask | None
    is_optional: bool
    parts: list[_KiroTask] = field(default_factory=list)

    @property
    def title(self) -> str:
        return make_title(self.item.text) or self.item.number


def _build_tree(items: Sequence[NumberedBox]) -> list[_KiroTask]:
    tasks: list[_KiroTask] = []
    unique = UniqueNames()
    for item, above in zip(items, checkboxes.find_parents([item.number for item in items]), strict=True):
        parent = None if above is None else tasks[above]
        has_star = item.box.star or _STARRED_NUMBER.match(item.box.text) is not None
        is_optional = has_star or (parent is not None and parent.is_optional)
        tasks.append(_KiroTask(item, unique(item.number), parent, is_optional))
        if parent is not None and not has_star:
            parent.parts.append(tasks[-1])
    return tasks


def _read_status(box: Checkbox) -> SourceStatus:
    """Return the status of a box. `[~]` is Kiro's queue, so the task is not started."""
    if box.character in checkboxes.TICK_CHARACTERS:
        return SourceStatus.DONE
    return SourceStatus.DOING if box.character in "-/" else SourceStatus.TODO


def _read_document(document: Document) -> Reading:
    boxes = list(checkboxes.find_numbered_boxes(document.markdown))
    tasks = _build_tree([item for item in boxes if item.number])
    if not tasks:
        message = "no box here has a number, so there are no tasks"
        problem = document.make_warning(0, message, 'Kiro writes tasks as "- [ ] 1. Title".')
        return Reading(problems=(problem,))
    named = ((task.item.block.head, task.item.number, task.id) for task in tasks)
    return Reading(tuple(_build_entries(document, tasks)), problems=tuple(find_repeated_ids(document, named)))


def _build_entries(document: Document, tasks: Sequence[_KiroTask]) -> Iterator[SourceEntry]:
    bodies = checkboxes.read_item_bodies(document.markdown, [task.item.block for task in tasks])
    body_by_id = {task.id: body for task, body in zip(tasks, bodies, strict=True)}
    last: str | None = None
    for task, body in zip(tasks, bodies, strict=True):
        origin = document.origin(task.item.block.head)
        context = ""
        if task.parent is not None and task.parent.parts:
            context = _make_context(task.parent, body_by_id[task.parent.id])
        core_task = Task(
            task.id,
            task.title,
            context + body,
            () if task.parts or last is None else (Need(last, NeedKind.CHAIN, "tasks run in written order", origin),),
            gating=not task.is_optional,
            allow_empty=_CHECKPOINT.match(task.item.text) is not None,  # it may have nothing to change
            origin=origin,
        )
        parts = tuple(part.id for part in task.parts)
        yield SourceEntry(core_task, _read_status(task.item.box), mentions=find_mentions(body), parts=parts)
        last = last if task.parts or task.is_optional else task.id


def _make_context(group: _KiroTask, body: str) -> str:
    """Return the text of a group for the bodies of its parts: a group itself is not run."""
    text = body if len(body) <= _MAX_CONTEXT_LENGTH else f"{group.item.number}. {group.title}"
    return f"Part of:\n\n{text}\n\nThis part:\n\n"


FORMAT = checkboxes.make_checkbox_format(_detect, _read_document, lambda _used: {SourceStatus.DOING: "-"})
