"""What a person sees in a file and no task was read from: checkboxes, and dependencies stated in a task's text.

A box in the text of a task that can still run is part of that task. Any other box that isn't a task itself is unread:
outside all tasks, in a group, open in a task that is done, or written so that it is no checkbox in markdown. A stated
dependency is unread if the order of the tasks doesn't follow it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.task import Origin
from plait.sources.checkboxes import SKIPPED_CHARACTER, TICK_CHARACTERS, is_checkbox
from plait.sources.markdown import Block, BlockKind, Checkbox, Markdown, make_label, strip_markup, walk_outline
from plait.sources.source_model import Document, Reading, SourceEntry, SourceStatus
from plait.sources.vocabulary import shorten

_LEGEND = re.compile(r"(?:\w+\s+)?(?:legend|key|notation|template)|(?:\w+\s+)?format\b.*|examples?", re.IGNORECASE)
# A line that looks like a box to a person: it lacks a bullet, or the space inside, before or after the box.
_BOX_LIKE = re.compile(r"[ \t]*(?:[-*+][ \t]*|\d{1,4}[.)][ \t]*)?\[([ \t]?|[xX])\](?![(\[:\]])")
_FENCE = re.compile(r"[ \t>]*(?:```|~~~|(?:[-*+]|\d{1,9}[.)])[ \t]+(?:```|~~~))")
_MAX_RANGES = 12  # of lines in one note


class _Cause(Enum):
    OUTSIDE = auto()  # of all tasks
    IN_GROUP = auto()
    IN_DONE = auto()
    QUOTED = auto()
    MALFORMED = auto()


@dataclass(frozen=True, slots=True)
class _UnreadBox:
    """A box that no task was read from; `line` counts from 0. `section` is the heading above; boxes of one section and
    cause share a note.
    """

    line: int
    is_open: bool
    cause: _Cause
    section: str


def add_unread_notes(reading: Reading, documents: Iterable[Document]) -> Reading:
    """Return the reading of these files with notes on what it leaves out, and the lines of the open boxes among that."""
    unread: list[Origin] = []
    notes: list[Problem] = []
    for document in documents:
        if "[" not in document.text or document.is_json:
            continue
        notes += _find_unread_needs(document, reading)
        groups: dict[tuple[_Cause, str], list[_UnreadBox]] = {}
        reported = {
            problem.at.line - 1 for problem in reading.problems if problem.at and problem.at.file == document.path
        }
        for box in _find_unread(document.markdown, _index_entries(reading.entries, document.path)):
            unread += [document.origin(box.line)] if box.is_open else []
            if box.line not in reported:
                groups.setdefault((box.cause, box.section), []).append(box)
        notes += (_describe(document, cause, section, boxes) for (cause, section), boxes in groups.items())
    return replace(reading, problems=(*reading.problems, *notes), unread=tuple(unread)) if unread or notes else reading


def _index_entries(entries: Iterable[SourceEntry], path: str) -> dict[int, SourceEntry]:
    """Index the entries of a file by line, from 0."""
    return {
        entry.task.origin.line - 1: entry
        for entry in entries
        if entry.task.origin is not None and entry.task.origin.file == path
    }


def _find_unread(markdown: Markdown, entries: dict[int, SourceEntry]) -> Iterator[_UnreadBox]:
    for block, path, owner, heading_entry in _walk_owned(markdown, entries):
        if any(_LEGEND.fullmatch(make_label(heading.text)) for heading in path):
            continue
        section = strip_markup(path[-1].text) if path else ""
        for line, is_open, cause in _find_boxes(markdown, block, entries):
            is_below = heading_entry is not None and markdown.lines.strip_end(line).strip() in heading_entry.task.body
            where = _find_cause(owner or (heading_entry if is_below else None), is_open=is_open)
            if where is not None:
                yield _UnreadBox(line, is_open, where if where is _Cause.IN_DONE else cause or where, section)


def _walk_owned(
    markdown: Markdown, entries: dict[int, SourceEntry]
) -> Iterator[tuple[Block, tuple[Block, ...], SourceEntry | None, SourceEntry | None]]:
    """Yield every block with the headings above it, the task whose item it is in, and the task heading above it."""
    level, heading_entry = 0, None
    for block, path in walk_outline(markdown):
        is_heading = block.kind is BlockKind.HEADING and block.parent is None and not block.quoted
        if is_heading and (block.start in entries or block.level <= level or heading_entry is None):
            level, heading_entry = block.level, entries.get(block.start)
        owner = next((entry for above in block.ancestors if (entry := _get_entry(above, entries))), None)
        yield block, path, owner, heading_entry


def _get_entry(block: Block, entries: dict[int, SourceEntry]) -> SourceEntry | None:
    return entries.get(block.head) or entries.get(block.start)


def _find_cause(owner: SourceEntry | None, *, is_open: bool) -> _Cause | None:
    """Say why a box in this task is no task; None if it is a part of it."""
    if owner is None:
        return _Cause.OUTSIDE
    if owner.parts:
        return _Cause.IN_GROUP
    return _Cause.IN_DONE if is_open and owner.status is SourceStatus.DONE else None


def _find_boxes(
    markdown: Markdown, block: Block, entries: dict[int, SourceEntry]
) -> Iterator[tuple[int, bool, _Cause | None]]:
    """Yield a block's boxes that are no tasks: their lines, whether they are open, and a cause in the block."""
    lines = block.text.split("\n")
    first = block.text_line
    if block.kind is BlockKind.ITEM and block.checkbox is not None:
        if is_checkbox(block.checkbox) and _get_entry(block, entries) is None:
            yield block.head, _is_open(block.checkbox), _Cause.QUOTED if block.quoted else None
        lines, first = lines[1:], first + 1
    elif block.kind is BlockKind.FENCE:
        if _FENCE.match(markdown.lines.strip_end(block.start)):
            return  # an example; a list that is indented like code was meant as a list
    elif block.kind not in {BlockKind.ITEM, BlockKind.PARAGRAPH}:
        return
    for number, line in enumerate(lines, first):
        match = _BOX_LIKE.match(line)
        if match is not None and (block.kind is not BlockKind.FENCE or line.lstrip()[:1] in "-*+"):
            yield number, not match[1].strip(), _Cause.MALFORMED


def _is_open(box: Checkbox) -> bool:
    return box.character not in TICK_CHARACTERS and box.character != SKIPPED_CHARACTER


def _describe(document: Document, cause: _Cause, section: str, boxes: Sequence[_UnreadBox]) -> Problem:
    is_one = len(boxes) == 1
    count = "a checkbox" if is_one else f"{len(boxes)} checkboxes"
    where = f' under "{shorten(section)}"' if section else ""
    lines = "" if is_one else f" (lines {_format_lines([box.line + 1 for box in boxes])})"
    open_count = sum(box.is_open for box in boxes)
    if cause is _Cause.IN_DONE:
        what = "an open checkbox is in a task" if is_one else f"{len(boxes)} open checkboxes are in tasks"
        message, hint = f"{what} marked as done{where}{lines}", ""
    else:
        left_out = "is not read as a task" if is_one else "are not read as tasks"
        state = "all" if open_count == len(boxes) else f"{open_count} of them"
        state = "" if is_one or not open_count else f", {state} open"
        reason, hint = _REASONS[cause]
        message = f"{count}{where} {left_out}{reason}{lines}{state}"
    return document.make_info(boxes[0].line, message, hint)


_REASONS = {
    _Cause.OUTSIDE: ("", ""),
    _Cause.IN_GROUP: (": what is around is a group of other tasks", "Give it a number like theirs."),
    _Cause.QUOTED: (", because of the quote around", ""),
    _Cause.MALFORMED: (
        ": in markdown, this is no checkbox",
        'Write "- [ ] text", with a space in the box and after it, and not indented like code.',
    ),
}


def _format_lines(lines: Sequence[int]) -> str:
    """Format line numbers, which are in order: `3, 5-9 and 4 more`."""
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[:_MAX_RANGES]]
    left = len(ranges) - len(shown)
    return f"{', '.join(shown)} and more" if left else ", ".join(shown)


_STATED = re.compile(
    r"(?<!not )(?<!longer )(?<!n't )(?<![A-Za-z])(?:depend(?:s|ent)?[ \t]+(?:only[ \t]+)?(?:up)?on|depends|dependenc(?:y|ies)|blocked[ \t]+by"
    r"|prerequisites?)(?![A-Za-z])[*_]*[ \t]*:?[*_]*[ \t]*"
    r"(?:(?:on|tasks?|steps?|items?)[ \t]+)*(?P<ids>[*_`#(\[]*[A-Za-z]{0,8}[-#]?\d[^.;\n]*(?:\.\d[^.;\n]*)*)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]{0,8}-?\d+(?:\.\d+)*[a-z]?")
_MAX_STATED = 200  # statements that are checked in one file
_MAX_LINE_LENGTH = 2_000


def _find_unread_needs(document: Document, reading: Reading) -> Iterator[Problem]:
    """Note each task that a text names as a dependency although it may run later, or at the same time."""
    by_id = {entry.task.id.lower(): entry for entry in reading.entries if not entry.parts}
    order = _Order(reading)
    entries = _index_entries(reading.entries, document.path)
    checked = 0
    for block, _, item_owner, heading_entry in _walk_owned(document.markdown, entries):
        owner = _get_entry(block, entries) or item_owner or heading_entry
        if owner is None or owner.parts or owner.status.is_closed or block.quoted:
            continue
        if block.kind not in {BlockKind.ITEM, BlockKind.PARAGRAPH} or checked > _MAX_STATED:
            continue
        for number, line in enumerate(block.text.split("\n"), block.text_line):
            for match in _STATED.finditer(line[:_MAX_LINE_LENGTH]):
                checked += 1
                named = [by_id[word.lower()] for word in _WORD.findall(match["ids"]) if word.lower() in by_id]
                ids = [other.task.id for other in named if not order.has_before(owner, other)]
                if ids:
                    text = shorten(match[0].strip(" *_(["))
                    message = f'{owner.task.id}: "{text}" is not read as a dependency on {", ".join(ids[:10])}'
                    yield document.make_info(number, message, "Write it the way this format states an order.")


class _Order:
    """Knows which tasks come before others, by their needs and phases."""

    def __init__(self, reading: Reading) -> None:
        self._entries = {entry.task.id: entry for entry in reading.entries}
        self._ranks = {phase.key: rank for rank, phase in enumerate(reading.phases)}

    def has_before(self, task: SourceEntry, other: SourceEntry) -> bool:
        """Whether `other` is done before `task`, or is the task itself."""
        if other is task or other.status.is_closed:
            return True
        ranks = [self._ranks.get(entry.task.phase or "") for entry in (task, other)]
        if ranks[0] is not None and ranks[1] is not None and ranks[1] < ranks[0]:
            return True
        seen, waiting = {task.task.id}, [task.task.id]
        while waiting:
            entry = self._entries.get(waiting.pop())
            for need in entry.task.needs if entry is not None else ():
                if need.on == other.task.id:
                    return True
                if need.on not in seen:
                    seen.add(need.on)
                    waiting.append(need.on)
        return False
