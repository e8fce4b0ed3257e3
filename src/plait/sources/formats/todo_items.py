"""The tasks of a numbered TODO as parts of its file: `### 73. Title`, its lines and its fields.

Reader and writer both use this, so that they find the same tasks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from itertools import takewhile

from plait.core.fast_dataclass import dataclass
from plait.sources.markdown import Block, BlockKind, BoldField, Markdown, find_bold_fields, make_label, make_title

TICK_MARKS = "\u2705\u2713\u2714\u2611"
_VARIATION_SELECTOR = "\ufe0f"  # shows the character before it in colour
_HEADING = re.compile(rf"[{TICK_MARKS}{_VARIATION_SELECTOR}\s]*([0-9]{{1,9}})\.(?:(\s+)(.*))?\Z", re.DOTALL)
_NOTED = re.compile(r"\*\*([^*:\n]{1,60})\*\*[ \t]*\([^()\n]{0,200}\)[ \t]*:[ \t]*(.*)\Z")
_FIELD_OPENING = re.compile(
    r"(\s*(?:[-*+]\s+)?)\*\*[^*:\n]{1,60}?\s*(:\s*\*\*|\*\*\s*(?:\([^()\n]{0,200}\)\s*)?:)([ \t]*)"
)
# A paragraph whose last line begins like this has its own list, whose bullets may mention fields without being any.
_LISTS = re.compile(r"\s*\*\*(?:acceptance|success) criteria\b", re.IGNORECASE)
_LEVEL = 3
_LISTING = re.compile(
    r"\b(?:order(?:ing)?|sequenc(?:e|ing)|roadmap|timeline|schedule|backlog|ideas?|future|next\s+steps|summary|overview)\b",
    re.IGNORECASE,
)
TASK_FIELDS = frozenset({
    "status", "started", "completed", "blocked", "abandoned", "blocking reason", "effort", "priority", "language", "blocking",
    "dependencies", "files affected",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class TodoHeading:
    """The parts of `73. Title`; `title` has no ticks around it. `ticked`: there was one."""

    number: str
    gap: str
    title: str
    is_ticked: bool


def parse_heading(text: str) -> TodoHeading | None:
    match = _HEADING.match(text)
    if match is None:
        return None
    rest = match[3] or ""
    start, stop = _strip_ticks(rest)
    title = text[: match.start(1)] + rest[:start] + rest[stop:]
    return TodoHeading(match[1], match[2] or "", rest[start:stop], any(tick in title for tick in TICK_MARKS))


def _strip_ticks(text: str) -> tuple[int, int]:
    """Return where a text starts and stops without the ticks and spaces around it."""
    start, stop = 0, len(text)
    while start < stop and _is_tick_or_space(text, start):
        start += 1
    while start < stop and _is_tick_or_space(text, stop - 1):
        stop -= 1
    return start, stop


def _is_tick_or_space(text: str, index: int) -> bool:
    sign = text[index]
    return (
        sign.isspace()
        or sign in TICK_MARKS
        or (sign == _VARIATION_SELECTOR and index > 0 and text[index - 1] in TICK_MARKS)
    )


@dataclass(frozen=True, slots=True)
class FieldStyle:
    """How a field is written: `bullet` with its indentation, `**Key**:` or `**Key:**`, spaces around the value."""

    bullet: str = ""
    colon: str = "**:"
    gap: str = " "
    tail: str = ""


@dataclass(frozen=True, slots=True)
class PlacedField:
    """A field, and the paragraph or bullet around it, whose lines end before `stop`.

    `text` is the part of its value on its own line, from `start` in the text.
    """

    field: BoldField
    block: Block
    stop: int
    text: str
    start: int
    style: FieldStyle


@dataclass(slots=True)
class TodoItem:
    """A task's lines, from `line` up to but not including `stop`; lines count from 0.

    `blocks` are those before the first heading inside it, below which fields are no longer the task's.
    """

    id: str
    heading: TodoHeading
    line: int
    section: Block | None
    stop: int = 0
    blocks: list[Block] = field(default_factory=list)
    fields: list[PlacedField] = field(default_factory=list)

    def find(self, *keys: str) -> PlacedField | None:
        """Return the first field with one of these names, or None."""
        return next((placed for placed in self.fields if placed.field.key in keys), None)

    def find_all(self, key: str) -> list[PlacedField]:
        return [placed for placed in self.fields if placed.field.key == key]

    @property
    def title(self) -> str:
        return make_title(self.heading.title)

    @property
    def has_own_fields(self) -> bool:
        return self.heading.is_ticked or any(placed.field.key in TASK_FIELDS for placed in self.fields)

    @property
    def is_listing(self) -> bool:
        """Whether the task's section only orders tasks or collects ideas."""
        return self.section is not None and _LISTING.search(make_label(self.section.text)) is not None

    def read_values(self, placed: PlacedField) -> list[str]:
        """Return a field's value; if it has none, the bullets inside its bullet or after its paragraph."""
        if placed.field.value:
            return [placed.field.value]
        if placed.block.kind is BlockKind.ITEM:
            inside = (block for block in self.blocks if block.parent is placed.block)
            return [block.text for block in inside if block.kind is BlockKind.ITEM]
        after = (block for block in self.blocks if block.start >= placed.stop and block.parent is None)
        bullets = takewhile(lambda block: block.kind is BlockKind.ITEM and not any(find_bold_fields(block)), after)
        return [block.text for block in bullets if placed.stop == placed.block.stop]


def find_items(markdown: Markdown) -> list[TodoItem]:
    """Return all tasks in the order of the file. Repeated numbers get unique ids: 73, 73.2, 73.3.

    In a file whose tasks have fields, a heading without any, in a section that is an order or a backlog, is no task.
    """
    items = find_numbered_headings(markdown)
    has_fields = any(item.has_own_fields for item in items)
    tasks = [item for item in items if not has_fields or item.has_own_fields or not item.is_listing]
    times: dict[str, int] = {}
    for item in tasks:
        times[item.heading.number] = times.get(item.heading.number, 0) + 1
        if times[item.heading.number] > 1:
            item.id = f"{item.heading.number}.{times[item.heading.number]}"
    return tasks


def find_numbered_headings(markdown: Markdown) -> list[TodoItem]:
    """Return the headings that may be tasks; their ids are their numbers."""
    items: list[TodoItem] = []
    current: TodoItem | None = None
    section: Block | None = None
    deeper = False
    for block in markdown.blocks:
        ends = _find_item_end(block)
        if ends is not None:
            if current is not None:
                current.stop = ends
            current, deeper = None, False
        if block.kind is BlockKind.HEADING and _is_top_level(block):
            if block.level < _LEVEL and ends == block.start:
                section = block
            heading = parse_heading(block.text) if block.level == _LEVEL else None
            if heading is not None:
                current = TodoItem(heading.number, heading, block.start, section, len(markdown.lines))
                items.append(current)
            deeper = deeper or block.level > _LEVEL
        elif current is not None and not deeper:
            current.blocks.extend(_split_margin_fields(markdown, block))
    for item in items:
        item.fields.extend(_find_fields(markdown, item))
    return items


def _split_margin_fields(markdown: Markdown, block: Block) -> Iterator[Block]:
    """Split unindented fields from the bullet above them, which markdown counts them to."""
    lines = block.text.split("\n") if block.kind is BlockKind.ITEM and "\n**" in block.text else ()
    at = next((n for n in range(1, len(lines)) if _is_margin_field(markdown, block.head + n)), None)
    if at is None or block.quoted:
        yield block
        return
    line = block.head + at
    yield replace(block, text="\n".join(lines[:at]), stop=line)
    yield Block(BlockKind.PARAGRAPH, line, block.head + len(lines), "\n".join(lines[at:]))


def _is_margin_field(markdown: Markdown, line: int) -> bool:
    text = markdown.lines.strip_end(line)
    return text.startswith("**") and _FIELD_OPENING.match(text) is not None


def _is_top_level(block: Block) -> bool:
    return block.parent is None and not block.quoted


def _find_item_end(block: Block) -> int | None:
    """Return the line at which this block ends a task, or None.

    A line with dashes below it is a text and a rule, unless it is the title of a section.
    """
    if not _is_top_level(block) or block.kind not in {BlockKind.HEADING, BlockKind.RULE} or block.level > _LEVEL:
        return None
    dashes = block.kind is BlockKind.HEADING and block.level == 2 and block.stop - block.start > 1
    return block.stop - 1 if dashes and "priority" not in block.text.lower() else block.start


def _find_fields(markdown: Markdown, item: TodoItem) -> Iterator[PlacedField]:
    lists = False
    for block in item.blocks:
        if block.parent is None and block.kind is not BlockKind.ITEM:
            lists = _LISTS.match(block.text.rpartition("\n")[2]) is not None
        if block.quoted or block.parent is not None or block.ordered or "**" not in block.text:
            continue
        if lists and block.kind is BlockKind.ITEM:
            continue
        fields = list(_parse_fields(block))
        if not fields:
            continue
        stops = [following.line for following in fields[1:]] + [_find_block_end(markdown, block)]
        for bold_field, stop in zip(fields, stops, strict=True):
            line = markdown.lines.strip_end(bold_field.line)
            opening = _FIELD_OPENING.match(line)
            if opening:
                own = line[opening.end() :].rstrip()
                style = FieldStyle(opening[1], opening[2], opening[3], line[opening.end() + len(own) :])
                yield PlacedField(
                    bold_field, block, stop, own, markdown.lines.starts[bold_field.line] + opening.end(), style
                )


def _parse_fields(block: Block) -> Iterator[BoldField]:
    """Yield the fields of a block; `**Files Affected** (3 modules):` is one too."""
    noted = _NOTED.match(block.text) if block.kind in {BlockKind.PARAGRAPH, BlockKind.ITEM} else None
    if noted is None:
        yield from find_bold_fields(block)
    else:
        yield BoldField(" ".join(noted[1].lower().split()), noted[2].strip(), block.text_line)


def _find_block_end(markdown: Markdown, block: Block) -> int:
    """Return the line after the block's last non-blank line."""
    stop = min(block.stop, len(markdown.lines))
    while stop > block.start + 1 and not markdown.lines.strip_end(stop - 1).strip():
        stop -= 1
    return stop
