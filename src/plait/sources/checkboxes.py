"""Checkboxes in markdown lists: find them, read their status and number, write a new status."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from textwrap import dedent

from plait.core.fast_dataclass import dataclass
from plait.sources import status_changes
from plait.sources.markdown import Block, Checkbox, Markdown
from plait.sources.source_model import Document, SourceFiles, SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, StatusFileWriter
from plait.sources.text import TextEdit, apply_edits, to_printable

TICK_CHARACTERS = frozenset("xXvV✓✔✅☑")
IN_PROGRESS_CHARACTERS = "/~"
SKIPPED_CHARACTER = "-"
_INDENT = re.compile(r"[ \t]*")


def find_checkboxes(markdown: Markdown) -> Iterator[tuple[Block, Checkbox]]:
    """Every item with a box that is neither quoted nor an example."""
    for block in markdown.blocks:
        box = block.checkbox
        if box is not None and not block.quoted:
            yield block, box


def is_checkbox(box: Checkbox) -> bool:
    """`[1]` and `[a]` are notes and options, not boxes; any other character is one."""
    return box.character in TICK_CHARACTERS or not box.character.isalnum()


def read_checkbox_status(box: Checkbox) -> SourceStatus:
    """The status of a box in formats without characters of their own; an unknown character means to do."""
    if box.character in TICK_CHARACTERS:
        return SourceStatus.DONE
    if box.character in IN_PROGRESS_CHARACTERS:
        return SourceStatus.DOING
    return SourceStatus.SKIPPED if box.character == SKIPPED_CHARACTER else SourceStatus.TODO


def read_checkbox_text(markdown: Markdown, block: Block, box: Checkbox) -> str:
    """The text of a box: its line, and the lines indented below it.

    Unindented lines that markdown counts as part of it (an error message pasted below, say) are left out.
    """
    if "\n" not in block.text:
        return box.text
    lines = block.text.split("\n")
    edge = _measure_indent(markdown, block.head)
    own = [line for n, line in enumerate(lines) if n == 0 or _measure_indent(markdown, block.head + n) > edge]
    return " ".join(line.strip() for line in own)[3:].removeprefix("*").strip()


def _measure_indent(markdown: Markdown, line: int) -> int:
    return len(_INDENT.match(markdown.lines.strip_end(line))[0].expandtabs(4))  # type: ignore[index]  # it always matches


def find_nested(blocks: Sequence[Block]) -> list[list[int]]:
    """For each item, the indexes of the items directly inside it."""
    places = {id(block): n for n, block in enumerate(blocks)}
    inside: list[list[int]] = [[] for _ in blocks]
    for n, block in enumerate(blocks):
        above = block.parent
        while above is not None and id(above) not in places:
            above = above.parent
        if above is not None:
            inside[places[id(above)]].append(n)
    return inside


def read_item_body(markdown: Markdown, block: Block, apart: Iterable[Block] = ()) -> str:
    """An item as it is written, without the items of other tasks (`apart`, in order) that are nested in it."""
    parts = []
    at = block.start
    for other in apart:
        parts.append(markdown.source(at, other.start))
        at = other.stop
    parts.append(markdown.source(at, block.stop))
    return dedent("".join(parts)).strip()


def make_tick_edit(markdown: Markdown, block: Block, mark: str) -> TextEdit:
    """The edit that puts one character into an item's box."""
    start = markdown.lines.starts[block.head] + markdown.lines.all[block.head].index("[") + 1
    return TextEdit(start, start + 1, mark)


# A whole number needs a full stop or a parenthesis: "2 eggs" is no second task.
_NUMBER = re.compile(r"\**(?:(\d{1,6}(?:\.\d{1,6}){1,7})[.):]?|(\d{1,6})[.):])\**(?:\s+|\Z)(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NumberedBox:
    """A box and its number; an empty one if it has none. `text` is what follows."""

    block: Block
    box: Checkbox
    number: str
    text: str


def find_numbered_boxes(markdown: Markdown) -> Iterator[NumberedBox]:
    """Every box of a file."""
    for block, box in find_checkboxes(markdown):
        if is_checkbox(box):
            text = read_checkbox_text(markdown, block, box)
            found = _NUMBER.match(text)
            number = (found[1] or found[2]) if found else ""
            yield NumberedBox(block, box, number, found[3] if found else text)


def find_parents(ids: Sequence[str]) -> list[int | None]:
    """For each number the place of the nearest one above it that it begins with: of 1.2 for 1.2.3, else of 1."""
    seen: dict[str, int] = {}
    found = []
    for place, number in enumerate(ids):
        prefix = number.rpartition(".")[0]
        while prefix and prefix not in seen:
            prefix = prefix.rpartition(".")[0]
        found.append(seen.get(prefix))
        seen[number] = place
    return found


OPEN_CHARACTER = " "


@dataclass(frozen=True, slots=True)
class TaskBox:
    """A task's box, and the id and title that the file gives the task.

    `parts` are the indexes of the boxes that a group waits for; they come later in the file.
    """

    block: Block
    status: SourceStatus
    id: str
    title: str
    parts: tuple[int, ...] = ()


class CheckboxFile:
    """The task boxes of a file, and its characters for statuses; a status without one is not written.

    A file ticks its boxes as most of the ticked ones are, else with an x. `more` are the format's other characters.
    """

    def __init__(self, markdown: Markdown, boxes: Sequence[TaskBox], more: Mapping[SourceStatus, str] = {}) -> None:
        self.markdown = markdown
        self.boxes = boxes
        used = (box.block.checkbox.character for box in boxes if box.block.checkbox is not None)
        ticks = Counter(character for character in used if character in TICK_CHARACTERS).most_common(1)
        self.characters = {SourceStatus.DONE: ticks[0][0] if ticks else "x", **more}

    def character_for(self, now: SourceStatus, status: SourceStatus) -> str | None:
        """The character to write into a box, None to keep it."""
        if not status_changes.changes_status(now, status):
            return None
        if status in self.characters or status is SourceStatus.DOING:
            return self.characters.get(status)
        untrue = {SourceStatus.DOING} if status is SourceStatus.SKIPPED else {SourceStatus.DOING, SourceStatus.DONE}
        return OPEN_CHARACTER if status is SourceStatus.TODO or now in untrue else None


def make_checkbox_writers(
    parse: Callable[[str], CheckboxFile],
) -> Callable[[str, Sequence[StatusChange]], list[StatusFileWriter]]:
    """`Format.writers` for files whose statuses are boxes; `parse` finds the tasks of a text."""
    return partial(status_changes.write_each_file, partial(write_checkboxes, parse))


def write_checkboxes(
    parse: Callable[[str], CheckboxFile], path: str, text: str, changes: Sequence[StatusChange]
) -> Rewrite:
    """Write the changed statuses of a file's tasks into their boxes, and into those of their groups."""
    changes = status_changes.select_file_changes(path, changes)
    if not changes:
        return Rewrite(text)
    file = parse(to_printable(text))
    places = status_changes.TaskIndex(range(len(file.boxes)), lambda n: file.boxes[n].id, lambda n: file.boxes[n].title)
    matched, problems = places.match(changes)
    characters: dict[int, str] = {}
    marks: dict[int, SourceStatus] = {}
    for place, change in matched:
        character = file.character_for(file.boxes[place].status, change.status)
        if character is not None:
            characters[place] = character
            marks[place] = change.status if change.status in file.characters else SourceStatus.TODO
    characters.update(_update_groups(file, marks))
    edits = [
        make_tick_edit(file.markdown, file.boxes[place].block, character) for place, character in characters.items()
    ]
    return Rewrite(apply_edits(text, edits), problems)


def _update_groups(file: CheckboxFile, marks: dict[int, SourceStatus]) -> Iterator[tuple[int, str]]:
    """A group's box follows its parts when one of them changes; from below, since a part may be a group."""
    for place in range(len(file.boxes) - 1, -1, -1):
        box = file.boxes[place]
        if not any(part in marks for part in box.parts):
            continue
        statuses = {marks.get(part, file.boxes[part].status) for part in box.parts}
        mark = SourceStatus.TODO if statuses == {SourceStatus.TODO} else SourceStatus.DOING
        mark = SourceStatus.DONE if all(part.is_closed for part in statuses) else mark
        mark = mark if mark in file.characters else SourceStatus.TODO
        if mark is not box.status:
            marks[place] = mark
            yield place, file.characters.get(mark, OPEN_CHARACTER)


_DATA_SUFFIXES = (".json", ".jsonl", ".yaml", ".yml", ".toml", ".csv")


def find_checkbox_document(source: SourceFiles) -> Document | None:
    """The only file of the source, if it is a text that may have boxes."""
    if source.folder or len(source.documents) != 1:
        return None
    document = source.document
    return document if "[" in document.text and not document.name.lower().endswith(_DATA_SUFFIXES) else None
