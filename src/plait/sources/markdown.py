"""Markdown as blocks with line numbers, and bold fields (`**Status**: open`).

Only the block structure is parsed (markdown-it-py); text inside a line stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from enum import Enum, auto
from functools import cache, cached_property
from typing import TYPE_CHECKING

from plait.core.fast_dataclass import dataclass
from plait.sources.text import BOM, TextLines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


# The parser drops the rest of a file when lists nest deeper than its limit; so lines that could nest so
# deep (a list takes two columns at least, or a marker) are passed over first. Each level costs two frames of the stack.
_MAX_NESTING = 200
_MAX_INDENT = 128
_DEEP_LINE = re.compile(r"(?m)^(?:[ \t]{32,}|[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]*){24})[^\n]*")
_NEWLINES = re.compile(r"\r\n?")
_FRONT_MATTER_START = re.compile(r"---[ \t]*\Z")
_FRONT_MATTER_END = re.compile(r"(?:---|\.\.\.)[ \t]*\Z")
_CHECKBOX = re.compile(r"\[([^\]\[\n])\](\*?)(?:[ \t]+|(?=\n)|\Z)")


class BlockKind(Enum):
    HEADING = auto()
    ITEM = auto()
    PARAGRAPH = auto()
    FENCE = auto()  # fenced or indented code
    RULE = auto()
    TABLE = auto()
    HTML = auto()


_LEAVES = {
    "fence": BlockKind.FENCE,
    "code_block": BlockKind.FENCE,
    "hr": BlockKind.RULE,
    "html_block": BlockKind.HTML,
}


@dataclass(slots=True)
class Block:
    """A part of a file, from line `start` up to but not including line `stop`; lines count from 0.

    `text` is a heading's or paragraph's text, an item's first paragraph, a fence's content. `level` is a heading's,
    or the depth of an item (0 at the top). `parent` is the item around it. `quoted`: inside a block quote.
    """

    kind: BlockKind
    start: int
    stop: int
    text: str = ""
    level: int = 0
    parent: Block | None = None
    quoted: bool = False
    ordered: bool = False
    head: int = -1  # the line on which an item's text starts
    rows: list[list[str]] = field(default_factory=list)  # a table's cells, its header first
    checkbox: Checkbox | None = None  # an item's, if it starts with one


@dataclass(frozen=True, slots=True)
class Checkbox:
    """`[x]` at the start of an item; `text` is what follows. `star`: Kiro's mark of optional tasks."""

    character: str
    star: bool
    text: str


def parse_checkbox(text: str) -> Checkbox | None:
    found = _CHECKBOX.match(text)
    return None if found is None else Checkbox(found[1], bool(found[2]), text[found.end() :].strip())


class Markdown:
    """A text's blocks in the order of their first lines. Front matter is no block; its lines are `front`."""

    def __init__(self, text: str) -> None:
        self.lines = TextLines(text)

    @cached_property
    def front_matter(self) -> tuple[int, int] | None:
        """The lines between the two rules of the front matter, if the text begins with it."""
        lines = self.lines
        if not len(lines) or not _FRONT_MATTER_START.match(lines.strip_end(0)):
            return None
        for number in range(1, len(lines)):
            if _FRONT_MATTER_END.match(lines.strip_end(number)):
                return 1, number
        return None

    @cached_property
    def blocks(self) -> list[Block]:
        text = self.lines.text.removeprefix(BOM)
        if self.front_matter is not None:
            rest = self.lines.starts[self.front_matter[1] + 1]
            text = "\n" * (self.front_matter[1] + 1) + self.lines.text[rest:]
        text = _DEEP_LINE.sub(_drop_too_deep, _NEWLINES.sub("\n", text).replace("\0", "\ufffd"))
        tokens: list[Token] = []
        parser = _parser()
        parser.block.parse(text, parser, {}, tokens)
        return list(_BlockBuilder(tokens))

    @cached_property
    def too_deep_line(self) -> int | None:
        """The first line (from 0) that was ignored because it may be nested too deep."""
        text = _NEWLINES.sub("\n", self.lines.text)
        found = next((found for found in _DEEP_LINE.finditer(text) if _drop_too_deep(found) == ""), None)
        return None if found is None else text.count("\n", 0, found.start())

    def headings(self, level: int) -> list[Block]:
        return [block for block in self.blocks if block.kind is BlockKind.HEADING and block.level == level]

    def source(self, start: int, stop: int) -> str:
        """These lines as they are written."""
        starts = self.lines.starts
        return self.lines.text[starts[start] : starts[min(stop, len(starts) - 1)]].removeprefix(BOM)


def _drop_too_deep(found: re.Match[str]) -> str:
    line = found[0]
    if line.isspace():
        return line
    wide = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
    return "" if wide >= _MAX_INDENT or not line.startswith((" " * 32, "\t" * 8)) else line


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # it is large, and not every text is parsed

    # References mean nothing to a task, and many of them in one paragraph cost the square of their number.
    return MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table").disable("reference")


class _BlockBuilder:
    """Blocks from the parser's tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._items: list[Block] = []
        self._quotes = 0
        self._table: Block | None = None

    def __iter__(self) -> Iterator[Block]:
        for place, token in enumerate(self._tokens):
            match token.type:
                case "paragraph_open":
                    block = self._block(BlockKind.PARAGRAPH, token, self._tokens[place + 1].content)
                    # An item's first paragraph is the item's own text.
                    if block.parent is None or block.parent.head != block.start:
                        yield block
                case "list_item_open":
                    yield self._item(token, place)
                case "list_item_close":
                    self._items.pop()
                case "heading_open":
                    yield from self._heading(token, self._tokens[place + 1].content)
                case "blockquote_open" | "blockquote_close":
                    self._quotes += token.nesting
                case leaf if leaf in _LEAVES:
                    yield self._block(_LEAVES[leaf], token, token.content)
                case _:
                    yield from self._table_part(token)

    def _table_part(self, token: Token) -> Iterator[Block]:
        if token.type == "table_open":
            self._table = self._block(BlockKind.TABLE, token)
            yield self._table
        elif token.type == "table_close":
            self._table = None
        elif self._table is not None and token.type == "tr_open":
            self._table.rows.append([])
        elif self._table is not None and token.type == "inline":
            self._table.rows[-1].append(token.content.strip())

    def _block(self, kind: BlockKind, token: Token, text: str = "") -> Block:
        start, stop = token.map or (0, 0)
        parent = self._items[-1] if self._items else None
        return Block(kind, start, stop, text, parent=parent, quoted=self._quotes > 0)

    def _item(self, token: Token, place: int) -> Block:
        block = self._block(BlockKind.ITEM, token)
        block.level = len(self._items)
        block.ordered = token.markup in {".", ")"}
        if self._tokens[place + 1].type == "paragraph_open":
            text = self._tokens[place + 2]
            block.text, block.head = text.content, (text.map or (block.start,))[0]
            block.checkbox = parse_checkbox(block.text)
        self._items.append(block)
        return block

    def _heading(self, token: Token, text: str) -> Iterator[Block]:
        """A line of dashes under a field or under several lines is meant as a rule, not as a heading."""
        if token.markup == "-" and (text.startswith("**") or "\n" in text):
            paragraph = self._block(BlockKind.PARAGRAPH, token, text)
            paragraph.stop -= 1
            yield paragraph
            rule = self._block(BlockKind.RULE, token)
            rule.start = paragraph.stop
            yield rule
            return
        block = self._block(BlockKind.HEADING, token, text)
        block.level = int(token.tag[1:])
        yield block


_FIELD = re.compile(r"\s*\*\*([^*:\n]{1,60}?)\s*(?::\s*\*\*|\*\*\s*:)[ \t]*(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BoldField:
    """`key` is in lower case; `line` counts from 0."""

    key: str
    value: str
    line: int


def find_bold_fields(block: Block) -> Iterator[BoldField]:
    """The fields of a paragraph, or of an item's first paragraph; a line without a key continues the value above it."""
    if block.kind is BlockKind.ITEM:
        first = block.head
    elif block.kind is BlockKind.PARAGRAPH:
        first = block.start
    else:
        return
    if "**" not in block.text:
        return
    key, at = "", first
    parts: list[str] = []
    for number, line in enumerate(block.text.split("\n"), first):
        found = _FIELD.match(line)
        if found is None:
            parts.append(line.strip())
            continue
        if key:
            yield BoldField(key, " ".join(parts).strip(), at)
        key, parts, at = " ".join(found[1].lower().split()), [found[2].strip()], number
    if key:
        yield BoldField(key, " ".join(parts).strip(), at)
