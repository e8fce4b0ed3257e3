"""spec-kit tasks written as headings, `#### T001: Title [P]`, and their statuses.

A task is done if its heading has a tick, or by its own `**Status**: …`. A status is written to that field if there is
one; otherwise only a finished task gets a mark, ` ✅` behind its heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from plait.core.fast_dataclass import dataclass
from plait.sources.formats import todo_status
from plait.sources.formats.todo_items import TICK_MARKS
from plait.sources.markdown import Block, BlockKind, Markdown, find_bold_fields, walk_outline
from plait.sources.source_model import SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, TaskIndex, changes_status
from plait.sources.text import TextEdit, apply_edits

_TICK = re.compile(rf"[ \t]*[{TICK_MARKS}]\ufe0f?")
_BOX = re.compile(r"\[([ xX])\][ \t]*")
_STATUS = re.compile(r"\s*(?:[-*+]\s+)?\*\*\s*status\s*(?::\s*\*\*|\*\*\s*:)[ \t]*(.*?)\s*\Z", re.IGNORECASE)
_UNMARKED = {SourceStatus.DOING, SourceStatus.SKIPPED}  # without a field, these leave a heading as it is


@dataclass(slots=True)
class TaskHeading:
    """A heading that is a task, up to but not including line `stop`. `match` is of its text without marks.

    `value` is the text of its status field, which is at `value_start` in the file; None without a field.
    """

    block: Block
    match: re.Match[str]
    stop: int
    value: str | None = None
    value_start: int = 0

    @property
    def status(self) -> SourceStatus:
        box = _BOX.search(self.block.text)
        if _TICK.search(self.block.text) or (box is not None and box[1] != " "):
            return SourceStatus.DONE
        value = self.value or ""
        status = todo_status.parse_status_value(value.strip(f"{TICK_MARKS}\ufe0f \t"))
        return status or (SourceStatus.DONE if _TICK.match(value) else SourceStatus.TODO)


class HeadedTask(Protocol):
    """A task whose status is written; `place` is None if it is no heading."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def place(self) -> TaskHeading | None: ...


def find_task_headings(markdown: Markdown, is_task: re.Pattern[str]) -> list[TaskHeading]:
    """Find the headings below the first level whose text matches."""
    found: list[TaskHeading] = []
    open_headings: list[TaskHeading] = []
    for block, path in walk_outline(markdown):
        is_heading = bool(path) and path[-1] is block
        if is_heading:
            while open_headings and open_headings[-1].block.level >= block.level:
                open_headings.pop().stop = block.start
            match = is_task.match(_BOX.sub("", _TICK.sub("", block.text), count=1)) if block.level > 1 else None
            if match is not None:
                open_headings.append(TaskHeading(block, match, len(markdown.lines)))
                found.append(open_headings[-1])
        elif open_headings and path[-1] is open_headings[-1].block and not block.quoted:
            _add_status_field(open_headings[-1], markdown, block)
    return found


def _add_status_field(place: TaskHeading, markdown: Markdown, block: Block) -> None:
    """Record the status field of a task; the first one directly below the heading counts."""
    if place.value is not None or block.kind not in {BlockKind.ITEM, BlockKind.PARAGRAPH}:
        return
    for field in find_bold_fields(block):
        match = _STATUS.match(markdown.lines.strip_end(field.line)) if field.key == "status" else None
        if match is not None:
            place.value, place.value_start = match[1], markdown.lines.starts[field.line] + match.start(1)
            return


def write_heading_statuses(
    markdown: Markdown, text: str, tasks: Iterable[HeadedTask], changes: Sequence[StatusChange]
) -> Rewrite:
    """Write the changes of these tasks; positions in `markdown` are those in `text`."""
    tasks = list(tasks)
    matched, problems = TaskIndex(tasks, lambda task: task.id, lambda task: task.title).match(changes)
    speller = todo_status.StatusSpeller(task.place.value for task in tasks if task.place and task.place.value)
    edits: list[TextEdit] = []
    for task, change in matched:
        assert task.place is not None
        edits += _make_edits(markdown, text, task.place, speller, change)
    return Rewrite(apply_edits(text, edits), problems)


def _make_edits(
    markdown: Markdown, text: str, place: TaskHeading, speller: todo_status.StatusSpeller, change: StatusChange
) -> Iterator[TextEdit]:
    wanted = change.status
    if wanted not in todo_status.STATUS_SPELLINGS or not changes_status(place.status, wanted):
        return
    start = markdown.lines.starts[place.block.start]
    line = text[start : markdown.lines.starts[place.block.start + 1]].rstrip()
    box = _BOX.search(line)
    if place.value is not None:
        old = text[place.value_start : place.value_start + len(place.value)]
        value = todo_status.replace_status(
            old, speller.spell(wanted, place.value), wanted, change.at.date().isoformat()
        )
        yield TextEdit(place.value_start, place.value_start + len(old), value)
    elif box is not None and (wanted is SourceStatus.DONE or (box[1] != " " and wanted not in _UNMARKED)):
        yield TextEdit(start + box.start(1), start + box.end(1), "x" if wanted is SourceStatus.DONE else " ")
    elif wanted is SourceStatus.DONE:
        without_hashes = line.rstrip("#")
        end = start + len(without_hashes.rstrip() if without_hashes[-1:].isspace() else line)
        yield TextEdit(end, end, " \u2705")
    if wanted is not SourceStatus.DONE and (place.value is not None or wanted not in _UNMARKED):
        yield from (_remove_tick(start, line, tick) for tick in _TICK.finditer(line))


def _remove_tick(start: int, line: str, tick: re.Match[str]) -> TextEdit:
    """Remove a tick and the spaces before it, unless those make the line a heading."""
    first = tick.start() if line[: tick.start()].strip("#\ufeff \t") else tick.end() - len(tick[0].lstrip())
    return TextEdit(start + first, start + tick.end(), "")
