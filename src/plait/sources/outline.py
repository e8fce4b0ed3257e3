"""Titles, headings and phases: the outline of a markdown file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.core.task import Origin, Phase
from plait.sources.markdown import Block, BlockKind, Markdown
from plait.sources.source_model import Document, SourceEntry

_MAX_TITLE_LENGTH = 120
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,500}\)")
# What stands in back-ticks is code: `_x` and `*.py` keep their signs.
_MARKUP = re.compile(r"`([^`]*)`|\*\*|__|~~|`|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])")


def strip_markup(text: str) -> str:
    """The text without emphasis, back-ticks and the targets of links, on one line."""
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    return " ".join(_MARKUP.sub(lambda found: found[1] or "", text).split())


def make_title(text: str) -> str:
    """A text as a title: plain, and cut after a word if it is long."""
    line = strip_markup(text)
    if len(line) <= _MAX_TITLE_LENGTH:
        return line
    cut = line.rfind(" ", _MAX_TITLE_LENGTH // 2, _MAX_TITLE_LENGTH)
    return f"{line[: cut if cut > 0 else _MAX_TITLE_LENGTH].rstrip()}\u2026"


@dataclass
class UniqueNames:
    """Names that are all different: the second `x` is `x-2`."""

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


# Every phase waits for all the earlier ones. Beyond this many it waits for the nearest, which wait for the others.
_MAX_EARLIER_PHASES = 200
_NUMBERING = re.compile(r"\A\d{1,4}(?:\.\d{1,4}){0,5}[.):]?\s+")
_SIGNS = re.compile(r"\A\W+|\s*\([^()]*\)\W*\Z|\W+\Z")

_NOT_TASKS = re.compile(
    r"(?:acceptance|success|exit|completion)\s+(?:criteria|criterion|tests?|checks?|metrics)"
    r"|definition\s+of\s+done|done\s+when|acceptance|verification|legend|key"
    r"|(?:verification|validation|acceptance|review)\s+checklist",
    re.IGNORECASE,
)

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
    """A heading's or label's name: plain, without numbering, signs and the colon at its end."""
    return _NUMBERING.sub("", strip_markup(text).strip(" :\t#*-\u2013\u2014."))


def excludes_tasks(text: str) -> bool:
    """Whether boxes under this heading or label are not tasks: acceptance criteria, or a legend."""
    return _NOT_TASKS.fullmatch(make_label(text)) is not None


def make_label(text: str) -> str:
    """A short name without symbols around it and remarks in parentheses; empty for a longer text."""
    return _SIGNS.sub("", clean_heading(text)) if len(text) <= _MAX_LABEL_LENGTH and "\n" not in text else ""


@dataclass
class PhaseBuilder:
    """The phases of a file, in the order of their headings. `gate` is the share that opens a phase, if fixed."""

    document: Document
    gate: float | None = None
    _headings: dict[str, tuple[str, Block]] = field(default_factory=dict)
    _keys: UniqueNames = field(default_factory=UniqueNames)

    def add(self, key: str, title: str, heading: Block) -> str:
        """A new phase; its key is changed if another phase has it already."""
        unique = self._keys(key)
        self._headings[unique] = (title, heading)
        return unique

    def build(self, entries: Iterable[SourceEntry]) -> tuple[Phase, ...]:
        """The phases that have tasks, counted over these entries; groups don't count."""
        total: Counter[str | None] = Counter()
        settled: Counter[str | None] = Counter()
        existing = set()
        for entry in entries:
            existing.add(entry.task.phase)
            if entry.task.gating and not entry.parts:
                total[entry.task.phase] += 1
                settled[entry.task.phase] += entry.status.is_closed
        keys = [key for key in self._headings if key in existing]
        return tuple(
            self._phase(key, tuple(keys[max(0, n - _MAX_EARLIER_PHASES) : n]), total[key], settled[key])
            for n, key in enumerate(keys)
        )

    def _phase(self, key: str, after: tuple[str, ...], total: int, settled: int) -> Phase:
        title, heading = self._headings[key]
        return Phase(
            key,
            make_title(title),
            after,
            total,
            settled,
            at=Origin(self.document.path, heading.start + 1),
            reason=make_title(heading.text),
            gate=self.gate,
        )
