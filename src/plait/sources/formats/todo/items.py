"""The tasks of a numbered TODO as pieces of its file: `### 73. Title`, the lines that are its own, and its fields.

Reader and writer both look through this, so what one finds the other finds too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from itertools import takewhile

from plait.core.frozen import dataclass
from plait.sources.fields import Field, fields
from plait.sources.markdown import Block, Kind, Markdown
from plait.sources.titles import headline

TICKS = "\u2705\u2713\u2714\u2611"

_COLOUR = "\ufe0f"  # says that the sign before it is to be shown in colour
_HEADING = re.compile(rf"[{TICKS}{_COLOUR}\s]*([0-9]{{1,9}})\.(?:(\s+)(.*))?\Z", re.DOTALL)
_NOTED = re.compile(r"\*\*([^*:\n]{1,60})\*\*[ \t]*\([^()\n]{0,200}\)[ \t]*:[ \t]*(.*)\Z")
_SPOT = re.compile(
    r"(\s*(?:[-*+]\s+)?)\*\*[^*:\n]{1,60}?\s*(:\s*\*\*|\*\*\s*(?:\([^()\n]{0,200}\)\s*)?:)([ \t]*)"
)
# A paragraph whose last line begins so has a list of its own, whose bullets may speak of fields without being any.
_LISTS = re.compile(r"\s*\*\*(?:acceptance|success) criteria\b", re.IGNORECASE)
_LEVEL = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """`73. Title` taken apart; `title` has no ticks around it. `ticked`: there was one."""

    number: str
    gap: str
    title: str
    ticked: bool


def heading(text: str) -> Heading | None:
    found = _HEADING.match(text)
    if found is None:
        return None
    rest = found[3] or ""
    start, stop = _unticked(rest)
    around = text[: found.start(1)] + rest[:start] + rest[stop:]
    return Heading(found[1], found[2] or "", rest[start:stop], any(tick in around for tick in TICKS))


def _unticked(text: str) -> tuple[int, int]:
    """Where a text starts and stops without the ticks and the spaces around it."""
    start, stop = 0, len(text)
    while start < stop and _around(text, start):
        start += 1
    while start < stop and _around(text, stop - 1):
        stop -= 1
    return start, stop


def _around(text: str, place: int) -> bool:
    sign = text[place]
    return sign.isspace() or sign in TICKS or (sign == _COLOUR and place > 0 and text[place - 1] in TICKS)


@dataclass(frozen=True, slots=True)
class Style:
    """How a field is written: `bullet` with its indentation, `**Key**:` or `**Key:**`, what stands around the value."""

    bullet: str = ""
    colon: str = "**:"
    gap: str = " "
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """A field, and the paragraph or the bullet that it stands in; lines from its own up to `stop` belong to it.

    `own` is the part of its value that is on its own line, from `start` in the text.
    """

    field: Field
    block: Block
    stop: int
    own: str
    start: int
    style: Style


@dataclass(slots=True)
class Item:
    """A task's lines, from `line` up to but not including `stop`; lines count from 0.

    `blocks` are those before the first heading inside it: what such a heading begins has fields of its own.
    """

    id: str
    heading: Heading
    line: int
    section: Block | None
    stop: int = 0
    blocks: list[Block] = field(default_factory=list)
    fields: list[Placed] = field(default_factory=list)

    def first(self, *keys: str) -> Placed | None:
        """The first field that has one of these names."""
        return next((placed for placed in self.fields if placed.field.key in keys), None)

    def every(self, key: str) -> list[Placed]:
        return [placed for placed in self.fields if placed.field.key == key]

    @property
    def title(self) -> str:
        return headline(self.heading.title)

    def says(self, placed: Placed) -> list[str]:
        """A field's value; without one, the bullets inside its own bullet, or those that follow its paragraph."""
        if placed.field.value:
            return [placed.field.value]
        if placed.block.kind is Kind.ITEM:
            inside = (block for block in self.blocks if block.parent is placed.block)
            return [block.text for block in inside if block.kind is Kind.ITEM]
        after = (block for block in self.blocks if block.start >= placed.stop and block.parent is None)
        bullets = takewhile(lambda block: block.kind is Kind.ITEM and not any(fields(block)), after)
        return [block.text for block in bullets if placed.stop == placed.block.stop]


def items(markdown: Markdown) -> list[Item]:
    """All tasks in the order of the file. A number that is there again gets an id of its own: 73, 73.2, 73.3."""
    found: list[Item] = []
    times: dict[str, int] = {}
    current: Item | None = None
    section: Block | None = None
    deeper = False
    for block in markdown.blocks:
        ends = _ends(block)
        if ends is not None:
            if current is not None:
                current.stop = ends
            current, deeper = None, False
        if block.kind is Kind.HEADING and _top(block):
            if block.level < _LEVEL and ends == block.start:
                section = block
            said = heading(block.text) if block.level == _LEVEL else None
            if said is not None:
                times[said.number] = times.get(said.number, 0) + 1
                again = f".{times[said.number]}" if times[said.number] > 1 else ""
                current = Item(said.number + again, said, block.start, section, len(markdown.lines))
                found.append(current)
            deeper = deeper or block.level > _LEVEL
        elif current is not None and not deeper:
            current.blocks.extend(_apart(markdown, block))
    for item in found:
        item.fields.extend(_placed(markdown, item))
    return found


def _apart(markdown: Markdown, block: Block) -> Iterator[Block]:
    """A field at the margin right below a bullet is no part of that, though markdown says so."""
    lines = block.text.split("\n") if block.kind is Kind.ITEM and "\n**" in block.text else ()
    at = next((n for n in range(1, len(lines)) if _at_margin(markdown, block.head + n)), None)
    if at is None or block.quoted:
        yield block
        return
    line = block.head + at
    yield replace(block, text="\n".join(lines[:at]), stop=line)
    yield Block(Kind.PARAGRAPH, line, block.head + len(lines), "\n".join(lines[at:]))


def _at_margin(markdown: Markdown, line: int) -> bool:
    text = markdown.lines.bare(line)
    return text.startswith("**") and _SPOT.match(text) is not None


def _top(block: Block) -> bool:
    return block.parent is None and not block.quoted


def _ends(block: Block) -> int | None:
    """The line before which this block ends a task.

    A line of text with dashes under it is meant as text and a rule, unless it is the name of a section.
    """
    if not _top(block) or block.kind not in {Kind.HEADING, Kind.RULE} or block.level > _LEVEL:
        return None
    dashes = block.kind is Kind.HEADING and block.level == 2 and block.stop - block.start > 1
    return block.stop - 1 if dashes and "priority" not in block.text.lower() else block.start


def _placed(markdown: Markdown, item: Item) -> Iterator[Placed]:
    lists = False
    for block in item.blocks:
        if block.parent is None and block.kind is not Kind.ITEM:
            lists = _LISTS.match(block.text.rpartition("\n")[2]) is not None
        if block.quoted or block.parent is not None or block.ordered or "**" not in block.text:
            continue
        if lists and block.kind is Kind.ITEM:
            continue
        found = list(_fields(block))
        if not found:
            continue
        stops = [following.line for following in found[1:]] + [_stop(markdown, block)]
        for said, stop in zip(found, stops, strict=True):
            line = markdown.lines.bare(said.line)
            spot = _SPOT.match(line)
            if spot:
                own = line[spot.end() :].rstrip()
                style = Style(spot[1], spot[2], spot[3], line[spot.end() + len(own) :])
                yield Placed(said, block, stop, own, markdown.lines.starts[said.line] + spot.end(), style)


def _fields(block: Block) -> Iterator[Field]:
    """Those of the block; `**Files Affected** (3 modules):` is one too."""
    noted = _NOTED.match(block.text) if block.kind in {Kind.PARAGRAPH, Kind.ITEM} else None
    if noted is None:
        yield from fields(block)
    else:
        first = block.head if block.kind is Kind.ITEM else block.start
        yield Field(" ".join(noted[1].lower().split()), noted[2].strip(), first)


def _stop(markdown: Markdown, block: Block) -> int:
    """The line after the block's last one that is not blank."""
    stop = min(block.stop, len(markdown.lines))
    while stop > block.start + 1 and not markdown.lines.bare(stop - 1).strip():
        stop -= 1
    return stop
