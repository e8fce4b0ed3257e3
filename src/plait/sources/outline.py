"""Titles, headings and phases: the outline of a markdown file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from plait.core.fast_dataclass import dataclass
from plait.core.task import Phase
from plait.sources.markdown import Block, BlockKind, Markdown
from plait.sources.source_model import Document, SourceEntry

_MAX_TITLE_LENGTH = 120
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,500}\)")
# Text in back-ticks is code: `_x` and `*.py` stay as they are.
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
    _phases: list[Phase] = field(default_factory=list)
    _keys: UniqueNames = field(default_factory=UniqueNames)

    def add(self, key: str, title: str, heading: Block) -> str:
        """A new phase; its key is changed if another phase has it already."""
        unique, at = self._keys(key), self.document.origin(heading.start)
        reason = make_title(heading.text)
        self._phases.append(Phase(unique, make_title(title), at=at, reason=reason, gate=self.gate))
        return unique

    def build(self, entries: Sequence[SourceEntry]) -> tuple[Phase, ...]:
        return tuple(chain_phases(self._phases, entries, _MAX_EARLIER_PHASES))


def chain_phases(
    phases: Iterable[Phase], entries: Sequence[SourceEntry], most_earlier: int | None = None
) -> Iterator[Phase]:
    """The phases that have tasks, each after the earlier ones, counted over these entries; groups don't count.

    With `most_earlier`, a phase names only so many earlier ones: those wait for the others.
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
