"""Checkboxes in markdown lists: find them, read their status and number, write a new status."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from textwrap import dedent

from plait.core.fast_dataclass import dataclass
from plait.sources import status_changes
from plait.sources.formats import Confidence, Format
from plait.sources.markdown import Block, Checkbox, Markdown, parse_checkbox
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus, read_single_file
from plait.sources.status_changes import Rewrite, StatusChange
from plait.sources.text import TextEdit, apply_edits, to_printable

TICK_CHARACTERS = frozenset("xXvV✓✔✅☑")
IN_PROGRESS_CHARACTERS = "/~"
SKIPPED_CHARACTER = "-"
_INDENT = re.compile(r"[ \t]*")


def find_checkboxes(markdown: Markdown) -> Iterator[tuple[Block, Checkbox]]:
    """Yield every item with a box that is neither quoted nor an example."""
    for block in markdown.blocks:
        box = block.checkbox
        if box is not None and not block.quoted:
            yield block, box


def is_checkbox(box: Checkbox) -> bool:
    """Whether the character makes a box: `[1]` and `[a]` are notes and options."""
    return box.character in TICK_CHARACTERS or not box.character.isalnum()


def read_checkbox_status(box: Checkbox) -> SourceStatus:
    """Return the status of a box in formats without characters of their own; an unknown character means to do."""
    if box.character in TICK_CHARACTERS:
        return SourceStatus.DONE
    if box.character in IN_PROGRESS_CHARACTERS:
        return SourceStatus.DOING
    return SourceStatus.SKIPPED if box.character == SKIPPED_CHARACTER else SourceStatus.TODO


def read_checkbox_text(markdown: Markdown, block: Block, box: Checkbox) -> str:
    """Return the text of a box: its line, and the lines indented below it.

    Unindented lines that markdown counts as part of it (an error message pasted below, say) are left out.
    """
    if "\n" not in block.text:
        return box.text
    lines = block.text.split("\n")
    edge = _measure_indent(markdown, block.head)
    own_lines = [line for n, line in enumerate(lines) if n == 0 or _measure_indent(markdown, block.head + n) > edge]
    own_box = parse_checkbox(" ".join(line.strip() for line in own_lines))
    return box.text if own_box is None else own_box.text


def _measure_indent(markdown: Markdown, line: int) -> int:
    return len(_INDENT.match(markdown.lines.strip_end(line))[0].expandtabs(4))  # type: ignore[index]  # it always matches


def find_nested(blocks: Sequence[Block]) -> list[list[int]]:
    """Return for each item the indexes of the items directly inside it."""
    positions = {id(block): n for n, block in enumerate(blocks)}
    inside: list[list[int]] = [[] for _ in blocks]
    for n, block in enumerate(blocks):
        outer = next((positions[id(above)] for above in block.ancestors if id(above) in positions), None)
        if outer is not None:
            inside[outer].append(n)
    return inside


def read_item_body(markdown: Markdown, block: Block, apart: Iterable[Block] = ()) -> str:
    """Return an item as it is written, without the items of other tasks (`apart`, in order) that are nested in it."""
    parts = []
    at = block.start
    for other in apart:
        parts.append(markdown.source(at, other.start))
        at = other.stop
    parts.append(markdown.source(at, block.stop))
    return dedent("".join(parts)).strip()


def read_item_bodies(markdown: Markdown, blocks: Sequence[Block]) -> list[str]:
    """Return the items of a file's tasks as they are written, each without those nested in it."""
    return [
        read_item_body(markdown, block, (blocks[n] for n in inside))
        for block, inside in zip(blocks, find_nested(blocks), strict=True)
    ]


# A whole number needs a full stop or a parenthesis: "2 eggs" is no second task.
_NUMBER = re.compile(r"\**(?:(\d{1,6}(?:\.\d{1,6}){1,7})[.):]?|(\d{1,6})[.):])[\\*]*(?:\s+|\Z)(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NumberedBox:
    """A box and its number, which is empty if it has none. `text` is what follows the number."""

    block: Block
    box: Checkbox
    number: str
    text: str


def find_numbered_boxes(markdown: Markdown) -> Iterator[NumberedBox]:
    """Yield every box of a file."""
    for block, box in find_checkboxes(markdown):
        if is_checkbox(box):
            text = read_checkbox_text(markdown, block, box)
            match = _NUMBER.match(text)
            number = (match[1] or match[2]) if match else ""
            yield NumberedBox(block, box, number, match[3] if match else text)


def find_parents(ids: Sequence[str]) -> list[int | None]:
    """Return for each number the index of its nearest parent above: of 1.2 for 1.2.3, else of 1."""
    index_by_id: dict[str, int] = {}
    parents = []
    for index, number in enumerate(ids):
        prefix = number.rpartition(".")[0]
        while prefix and prefix not in index_by_id:
            prefix = prefix.rpartition(".")[0]
        parents.append(index_by_id.get(prefix))
        index_by_id[number] = index
    return parents


OPEN_CHARACTER = " "
_DATA_SUFFIXES = (".json", ".jsonl", ".yaml", ".yml", ".toml", ".csv")
ReadDocument = Callable[[Document], Reading]
# The characters of a format for other statuses than to do and done, given how often a file uses each character.
Characters = Callable[[Counter[str]], Mapping[SourceStatus, str]]


def make_checkbox_format(
    detect: Callable[[Document], Confidence],
    read: ReadDocument,
    characters: Characters = lambda _used: {},
    *,
    needs_box: bool = True,
) -> Format:
    """Make a format of one text file with statuses in boxes. `needs_box`: a file without boxes is no source."""

    def detect_source(source: SourceFiles) -> Confidence:
        if source.folder or len(source.documents) != 1:
            return Confidence.NO
        document = source.document
        is_text = ("[" in document.text or not needs_box) and not document.name.lower().endswith(_DATA_SUFFIXES)
        return detect(document) if is_text else Confidence.NO

    write = partial(write_checkboxes, read, characters)
    return Format(detect_source, partial(read_single_file, read), partial(status_changes.write_each_file, write))


def write_checkboxes(
    read: ReadDocument, characters: Characters, path: str, text: str, changes: Sequence[StatusChange]
) -> Rewrite:
    """Write the changed statuses of a file's tasks into their boxes, and into those of their groups."""
    changes = status_changes.select_file_changes(path, changes)
    if not changes:
        return Rewrite(text)
    document = Document(path, to_printable(text))
    file = _CheckboxFile(document.markdown, read(document).entries, characters)
    index_by_task = status_changes.TaskIndex(
        range(len(file.entries)), lambda n: file.entries[n].task.id, lambda n: file.entries[n].task.title
    )
    matched, problems = index_by_task.match(changes)
    new: dict[int, str] = {}
    statuses: dict[int, SourceStatus] = {}
    for index, change in matched:
        character = file.choose_character(file.entries[index].status, change.status)
        if character is not None:
            new[index] = character
            statuses[index] = change.status if change.status in file.characters else SourceStatus.TODO
    new.update(file.update_groups(statuses))
    return Rewrite(apply_edits(text, (file.make_edit(index, character) for index, character in new.items())), problems)


class _CheckboxFile:
    """The tasks of a file, their boxes, and its characters for statuses; a status without one is not written.

    A box is ticked with the file's most frequent tick, or with an x if it has none.
    """

    def __init__(self, markdown: Markdown, entries: Sequence[SourceEntry], characters: Characters) -> None:
        self.entries = entries
        self._lines = markdown.lines
        boxes = list(find_checkboxes(markdown))
        # A task's line is the one of its text, or of its bullet.
        by_line = {block.start: (block, box) for block, box in boxes} | {
            block.head: (block, box) for block, box in boxes
        }
        origins = (entry.task.origin for entry in entries)
        self._boxes = [by_line[origin.line - 1] for origin in origins if origin is not None]
        assert len(self._boxes) == len(entries)  # every task of such a file is a box
        used = Counter(box.character for _, box in self._boxes)
        tick = max((character for character in used if character in TICK_CHARACTERS), key=used.__getitem__, default="x")
        self.characters = {SourceStatus.DONE: tick, **characters(used)}

    def choose_character(self, now: SourceStatus, status: SourceStatus) -> str | None:
        """Return the character to write into a box, or None to keep it."""
        if not status_changes.changes_status(now, status):
            return None
        if status in self.characters or status is SourceStatus.DOING:
            return self.characters.get(status)
        untrue = {SourceStatus.DOING} if status is SourceStatus.SKIPPED else {SourceStatus.DOING, SourceStatus.DONE}
        return OPEN_CHARACTER if status is SourceStatus.TODO or now in untrue else None

    def update_groups(self, statuses: dict[int, SourceStatus]) -> Iterator[tuple[int, str]]:
        """Yield the boxes of groups whose parts change, bottom up, since a part may be a group."""
        index_by_id = {entry.task.id: index for index, entry in enumerate(self.entries)}
        for index in range(len(self.entries) - 1, -1, -1):
            parts = [index_by_id[part] for part in self.entries[index].parts]
            if not any(part in statuses for part in parts):
                continue
            now = {statuses.get(part, self.entries[part].status) for part in parts}
            status = SourceStatus.TODO if now == {SourceStatus.TODO} else SourceStatus.DOING
            status = SourceStatus.DONE if all(part.is_closed for part in now) else status
            status = status if status in self.characters else SourceStatus.TODO
            if status is not self.entries[index].status:
                statuses[index] = status
                yield index, self.characters.get(status, OPEN_CHARACTER)

    def make_edit(self, index: int, character: str) -> TextEdit:
        """Make the edit that puts a character into a task's box."""
        line = self._boxes[index][0].head
        start = self._lines.starts[line] + self._lines.all[line].index("[") + 1
        return TextEdit(start, start + 1, character)
