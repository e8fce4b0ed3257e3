"""Markdown as blocks with line numbers, bold fields (`**Status**: open`), titles, headings and phases.

Only the block structure is parsed (markdown-it-py); text inside a line stays as it is written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from enum import Enum, auto
from functools import cache, cached_property
from typing import TYPE_CHECKING

from plait.core.fast_dataclass import dataclass
from plait.core.task import Phase
from plait.sources.source_model import Document, SourceEntry
from plait.sources.text import BOM, TextLines
from plait.sources.vocabulary import parse_priority

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
_CHECKBOX = re.compile(
    r"\[([^\]\[\n])\](?:[ \t]+(?=\\?\*[ \t]+\d))?(\\?\*)?(?:[ \t]+|(?=\n)|\Z)|\[([ xX])\](?=[^\s(\[:\]*\\])"
)


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

    @property
    def text_line(self) -> int:
        """The line on which the block's text starts."""
        return self.head if self.kind is BlockKind.ITEM else self.start

    @property
    def ancestors(self) -> Iterator[Block]:
        """The items around the block, the innermost first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent


@dataclass(frozen=True, slots=True)
class Checkbox:
    """A box `[x]` at the start of an item; `text` is what follows, with or without a space between. `star`: Kiro's mark
    of optional tasks, escaped or not.
    """

    character: str
    star: bool
    text: str


def parse_checkbox(text: str) -> Checkbox | None:
    match = _CHECKBOX.match(text)
    if match is None:
        return None
    return Checkbox(match[1] or match[3], bool(match[2]), text[match.end() :].strip())


class Markdown:
    """The blocks of a text in the order of their first lines. Front matter is no block; its lines are `front`."""

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
        match = next((match for match in _DEEP_LINE.finditer(text) if _drop_too_deep(match) == ""), None)
        return None if match is None else text.count("\n", 0, match.start())

    def headings(self, level: int) -> list[Block]:
        return [block for block in self.blocks if block.kind is BlockKind.HEADING and block.level == level]

    def source(self, start: int, stop: int) -> str:
        """Return these lines as they are written."""
        starts = self.lines.starts
        return self.lines.text[starts[start] : starts[min(stop, len(starts) - 1)]].removeprefix(BOM)


def _drop_too_deep(match: re.Match[str]) -> str:
    line = match[0]
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
    """Builds blocks from the parser's tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._items: list[Block] = []
        self._quotes = 0
        self._table: Block | None = None

    def __iter__(self) -> Iterator[Block]:
        for index, token in enumerate(self._tokens):
            match token.type:
                case "paragraph_open":
                    block = self._make_block(BlockKind.PARAGRAPH, token, self._tokens[index + 1].content)
                    # An item's first paragraph is the item's own text.
                    if block.parent is None or block.parent.head != block.start:
                        yield block
                case "list_item_open":
                    yield self._make_item(token, index)
                case "list_item_close":
                    self._items.pop()
                case "heading_open":
                    yield from self._make_heading(token, self._tokens[index + 1].content)
                case "blockquote_open" | "blockquote_close":
                    self._quotes += token.nesting
                case leaf if leaf in _LEAVES:
                    yield self._make_block(_LEAVES[leaf], token, token.content)
                case _:
                    yield from self._add_table_part(token)

    def _add_table_part(self, token: Token) -> Iterator[Block]:
        if token.type == "table_open":
            self._table = self._make_block(BlockKind.TABLE, token)
            yield self._table
        elif token.type == "table_close":
            self._table = None
        elif self._table is not None and token.type == "tr_open":
            self._table.rows.append([])
        elif self._table is not None and token.type == "inline":
            self._table.rows[-1].append(token.content.strip())

    def _make_block(self, kind: BlockKind, token: Token, text: str = "") -> Block:
        start, stop = token.map or (0, 0)
        parent = self._items[-1] if self._items else None
        return Block(kind, start, stop, text, parent=parent, quoted=self._quotes > 0)

    def _make_item(self, token: Token, index: int) -> Block:
        block = self._make_block(BlockKind.ITEM, token)
        block.level = len(self._items)
        block.ordered = token.markup in {".", ")"}
        if self._tokens[index + 1].type == "paragraph_open":
            text = self._tokens[index + 2]
            block.text, block.head = text.content, (text.map or (block.start,))[0]
            block.checkbox = parse_checkbox(block.text)
        self._items.append(block)
        return block

    def _make_heading(self, token: Token, text: str) -> Iterator[Block]:
        """Yield a heading, or a paragraph and a rule: that is what dashes below a field or below several lines mean."""
        if token.markup == "-" and (text.startswith("**") or "\n" in text):
            paragraph = self._make_block(BlockKind.PARAGRAPH, token, text)
            paragraph.stop -= 1
            yield paragraph
            rule = self._make_block(BlockKind.RULE, token)
            rule.start = paragraph.stop
            yield rule
            return
        block = self._make_block(BlockKind.HEADING, token, text)
        block.level = int(token.tag[1:])
        yield block


_FIELD = re.compile(r"\s*\*\*([^*:\n]{1,60}?)\s*(?::\s*\*\*|\*\*\s*:)[ \t]*(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BoldField:
    """A field such as `**Status**: open`; `key` is in lower case; `line` counts from 0."""

    key: str
    value: str
    line: int


def find_bold_fields(block: Block) -> Iterator[BoldField]:
    """Yield the fields of a paragraph, or an item's first one; a line without a key continues the value above."""
    if block.kind not in {BlockKind.ITEM, BlockKind.PARAGRAPH} or "**" not in block.text:
        return
    key, at = "", block.text_line
    parts: list[str] = []
    for number, line in enumerate(block.text.split("\n"), block.text_line):
        match = _FIELD.match(line)
        if match is None:
            parts.append(line.strip())
            continue
        if key:
            yield BoldField(key, " ".join(parts).strip(), at)
        key, parts, at = " ".join(match[1].lower().split()), [match[2].strip()], number
    if key:
        yield BoldField(key, " ".join(parts).strip(), at)


_MAX_TITLE_LENGTH = 120
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,500}\)")
# Text in back-ticks is code: `_x` and `*.py` stay as they are.
_MARKUP = re.compile(r"`([^`]*)`|\*\*|__|~~|`|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])")


def strip_markup(text: str) -> str:
    """Put a text on one line, without emphasis, back-ticks and the targets of links."""
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    return " ".join(_MARKUP.sub(lambda match: match[1] or "", text).split())


def make_title(text: str) -> str:
    """Make a title of a text: plain, and cut after a word if it is long."""
    line = strip_markup(text)
    if len(line) <= _MAX_TITLE_LENGTH:
        return line
    cut = line.rfind(" ", _MAX_TITLE_LENGTH // 2, _MAX_TITLE_LENGTH)
    return f"{line[: cut if cut > 0 else _MAX_TITLE_LENGTH].rstrip()}\u2026"


@dataclass
class UniqueNames:
    """Makes names unique: the second `x` becomes `x-2`."""

    _used: dict[str, int] = field(default_factory=dict)

    def __call__(self, name: str) -> str:
        n = self._used.get(name, 0) + 1
        unique = name if n == 1 else f"{name}-{n}"
        while n > 1 and unique in self._used:
            n += 1
            unique = f"{name}-{n}"
        self._used[name] = n
        self._used.setdefault(unique, 1)
        return unique


_MAX_EARLIER_PHASES = 200
_NUMBERING = re.compile(r"\A\d{1,4}(?:\.\d{1,4}){0,5}[.):]?\s+")
_SIGNS = re.compile(r"\A\W+|\s*\([^()]*\)\W*\Z|\W+\Z")

_NOT_TASKS = re.compile(
    r"(?:acceptance|success|exit|completion)\s+(?:criteria|criterion|tests?|checks?|metrics)"
    r"|(?:[\w.-]+\s+){0,4}(?:acceptance|success|exit|completion)\s+(?:criteria|metrics)"
    r"(?:\s*(?:[:\u2013\u2014-]|for\b|of\b).*)?"
    r"|(?:[\w.-]+\s+){0,3}definition\s+of\s+done(?:\s+for\b.*)?|done\s+when|acceptance|verification|legend|key"
    r"|(?:verification|validation|acceptance|review)\s+checklist",
    re.IGNORECASE,
)
_DEFERRED = re.compile(
    r"(?:(?:explicitly|intentionally|currently)\s+)?(?:deferred|postponed|parked|on\s+hold|ice\s?box|some\s?day(?:\W+maybe)?|won.?t\s+(?:do|fix)|wontfix"
    r"|not\s+doing|not\s+planned|out\s+of\s+scope|cancell?ed|abandoned|rejected|dropped)"
    r"(?:\s+(?:items?|tasks?|work|todos?|features?|ideas?|issues?))?(?:\s*(?:[:\u2013\u2014-]|to\b|until\b|for\b).*)?",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    r"(?:(?P<no>non?|not)\W+)?(?:prio(?:rity)?\W+)?(?P<level>critical|urgent|high|medium|normal|low|P?\d)"
    r"(?:\W+(?:prio(?:rity)?|severity|bugs?|issues?|tasks?|items?|fix(?:es)?|features?|todos?|work))*",
    re.IGNORECASE,
)
_P = re.compile(r"P\d\b", re.IGNORECASE)
_NUMBERED_PRIORITY = re.compile(r"prio(?:rity)?\W{0,3}P?(\d)(?:\s*[:.()\u2013\u2014-]|\Z)", re.IGNORECASE)

_MAX_LABEL_LENGTH = 80


def walk_outline(markdown: Markdown) -> Iterator[tuple[Block, tuple[Block, ...]]]:
    """Yield every block with the headings above it, outermost first; a heading's own path includes itself.

    A heading inside a quote or a list has no blocks below it.
    """
    path: tuple[Block, ...] = ()
    for block in markdown.blocks:
        if block.kind is BlockKind.HEADING and block.parent is None and not block.quoted:
            path = (*(above for above in path if above.level < block.level), block)
        yield block, path


def clean_heading(text: str) -> str:
    """Return the name in a heading or label: plain, without numbering, signs and the colon at its end."""
    return _NUMBERING.sub("", strip_markup(text).strip(" :\t#*-\u2013\u2014."))


def excludes_tasks(text: str) -> bool:
    """Whether boxes under this heading or label are no tasks, but acceptance criteria or a legend."""
    return _NOT_TASKS.fullmatch(make_label(text)) is not None


def defers_tasks(text: str) -> bool:
    """Whether this heading or label says that what is below it is left for later, or for never."""
    return _DEFERRED.fullmatch(make_label(text)) is not None


def parse_heading_priority(text: str) -> int | None:
    """Return the priority that a heading or label names, if it is about nothing else: not in "High-level design".

    `Priority 1 — Search` names one too.
    """
    label = make_label(text)
    if _P.match(label):
        return parse_priority(label[:2])
    numbered = _NUMBERED_PRIORITY.match(label)
    if numbered is not None:
        return parse_priority(f"P{numbered[1]}")
    match = _LEVEL.fullmatch(label)
    if match is None or (match["level"].isdigit() and not label.lower().startswith("prio")):
        return None
    if match["no"]:
        return parse_priority("normal")
    return parse_priority(f"P{match['level']}" if match["level"].isdigit() else match["level"])


def make_label(text: str) -> str:
    """Return a short name without symbols around it and remarks in parentheses; empty for a longer text."""
    return _SIGNS.sub("", clean_heading(text)) if len(text) <= _MAX_LABEL_LENGTH and "\n" not in text else ""


@dataclass
class PhaseBuilder:
    """Builds the phases of a file, in the order of their headings. `gate` is the share that opens a phase, if fixed."""

    document: Document
    gate: float | None = None
    _phases: list[Phase] = field(default_factory=list)
    _keys: UniqueNames = field(default_factory=UniqueNames)

    def add(self, key: str, title: str, heading: Block) -> str:
        """Add a phase and return its key, which is changed if another phase has it already."""
        unique, at = self._keys(key), self.document.origin(heading.start)
        reason = make_title(heading.text)
        self._phases.append(Phase(unique, make_title(title), at=at, reason=reason, gate=self.gate))
        return unique

    def build(self, entries: Sequence[SourceEntry]) -> tuple[Phase, ...]:
        return tuple(chain_phases(self._phases, entries, _MAX_EARLIER_PHASES))


def chain_phases(
    phases: Iterable[Phase], entries: Sequence[SourceEntry], most_earlier: int | None = None
) -> Iterator[Phase]:
    """Yield the phases that have tasks, each after the earlier ones, counted over these entries; groups don't count.

    With `most_earlier`, a phase names only that many earlier ones: those wait for the others.
    """
    used = {entry.task.phase for entry in entries}
    counted = [entry for entry in entries if entry.task.gating and not entry.parts]
    total = Counter(entry.task.phase for entry in counted)
    settled = Counter(entry.task.phase for entry in counted if entry.status.is_closed)
    earlier: list[str] = []
    for phase in phases:
        if phase.key in used:
            after = tuple(earlier[-most_earlier:] if most_earlier else earlier)
            yield replace(phase, after=after, total=total[phase.key], settled=settled[phase.key])
            earlier.append(phase.key)
