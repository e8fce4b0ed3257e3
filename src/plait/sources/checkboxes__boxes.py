"""Boxes: `- [x]` in a list, what they say, and how to tick one without touching anything else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent

from plait.sources.markdown import Block, Checkbox, Markdown
from plait.sources.source_model import SourceStatus
from plait.sources.text import TextEdit

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
    """`[1]` and `[a]` are notes and options, not boxes; any other sign is one."""
    return box.character in TICK_CHARACTERS or not box.character.isalnum()


def read_checkbox_status(box: Checkbox) -> SourceStatus:
    """What a box says, where its format has no signs of its own; a sign that nobody agreed on says nothing."""
    if box.character in TICK_CHARACTERS:
        return SourceStatus.DONE
    if box.character in IN_PROGRESS_CHARACTERS:
        return SourceStatus.DOING
    return SourceStatus.SKIPPED if box.character == SKIPPED_CHARACTER else SourceStatus.TODO


def read_checkbox_text(markdown: Markdown, block: Block, box: Checkbox) -> str:
    """What a box is about: its line, and those that go on with it because they are indented under it.

    Lines that the parser adds though they stand at the margin (an error message pasted below, say) are left out.
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
    """For each of these items the places of those that lie in it, and in no other of them."""
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


def find_usual_tick(marks: Iterable[str]) -> str:
    """How this file ticks its boxes: as most of the ticked ones are, else with an x."""
    counts = Counter(mark for mark in marks if mark in TICK_CHARACTERS)
    return counts.most_common(1)[0][0] if counts else "x"
