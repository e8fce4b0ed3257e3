"""Boxes: `- [x]` in a list, what they say, and how to tick one without touching anything else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent

from plait.sources.markdown import Block, Box, Markdown
from plait.sources.model import Mark
from plait.sources.text import Edit

TICKS = frozenset("xXvV✓✔✅☑")
UNDER_WAY = "/~"
NOT_WANTED = "-"

_INDENT = re.compile(r"[ \t]*")


def boxes(markdown: Markdown) -> Iterator[tuple[Block, Box]]:
    """Every item with a box that is neither quoted nor an example."""
    for block in markdown.blocks:
        box = block.box
        if box is not None and not block.quoted:
            yield block, box


def is_box(box: Box) -> bool:
    """`[1]` and `[a]` are notes and options, not boxes; any other sign is one."""
    return box.mark in TICKS or not box.mark.isalnum()


def status(box: Box) -> Mark:
    """What a box says, where its format has no signs of its own; a sign that nobody agreed on says nothing."""
    if box.mark in TICKS:
        return Mark.DONE
    if box.mark in UNDER_WAY:
        return Mark.DOING
    return Mark.SKIPPED if box.mark == NOT_WANTED else Mark.TODO


def own_text(markdown: Markdown, block: Block, box: Box) -> str:
    """What a box is about: its line, and those that go on with it because they are indented under it.

    Lines that the parser adds though they stand at the margin (an error message pasted below, say) are left out.
    """
    if "\n" not in block.text:
        return box.text
    lines = block.text.split("\n")
    edge = _indent(markdown, block.head)
    own = [line for n, line in enumerate(lines) if n == 0 or _indent(markdown, block.head + n) > edge]
    return " ".join(line.strip() for line in own)[3:].removeprefix("*").strip()


def _indent(markdown: Markdown, line: int) -> int:
    return len(_INDENT.match(markdown.lines.bare(line))[0].expandtabs(4))  # type: ignore[index]  # it always matches


def nested(blocks: Sequence[Block]) -> list[list[int]]:
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


def body(markdown: Markdown, block: Block, apart: Iterable[Block] = ()) -> str:
    """An item as it is written, without the items of other tasks (`apart`, in order) that are nested in it."""
    parts = []
    at = block.start
    for other in apart:
        parts.append(markdown.source(at, other.start))
        at = other.stop
    parts.append(markdown.source(at, block.stop))
    return dedent("".join(parts)).strip()


def tick(markdown: Markdown, block: Block, mark: str) -> Edit:
    """The edit that puts one character into an item's box."""
    start = markdown.lines.starts[block.head] + markdown.lines.all[block.head].index("[") + 1
    return Edit(start, start + 1, mark)


def usual_tick(marks: Iterable[str]) -> str:
    """How this file ticks its boxes: as most of the ticked ones are, else with an x."""
    counts = Counter(mark for mark in marks if mark in TICKS)
    return counts.most_common(1)[0][0] if counts else "x"
