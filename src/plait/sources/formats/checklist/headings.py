"""What the headings and labels around the boxes of a checklist mean: a phase, a priority, or that these are no tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace

from plait.core.frozen import dataclass
from plait.sources.markdown import Block, Box, Kind, Markdown
from plait.sources.model import Document
from plait.sources.outline import Phases, label, name, not_tasks, outline
from plait.sources.words import priority as word_priority

_PHASE = re.compile(
    r"\W*(?i:(phase|milestone|stage|step))\s+#?(\d{1,4}(?:\.\d{1,4})*|[IVX]{1,5}|[A-Z])\b(?:\W*(?P<title>\w.*))?",
    re.DOTALL,
)
_LEVEL = re.compile(
    r"(?:(?P<no>non?|not)\W+)?(?:prio(?:rity)?\W+)?(?P<level>critical|urgent|high|medium|normal|low|P?\d)"
    r"(?:\W+(?:prio(?:rity)?|severity|bugs?|issues?|tasks?|items?|fix(?:es)?|features?|todos?|work))*",
    re.IGNORECASE,
)
_P = re.compile(r"P\d\b", re.IGNORECASE)


def priority(text: str) -> int | None:
    """The priority that a heading or label names, if it is about nothing else: not in "High-level design"."""
    words = label(text)
    if _P.match(words):
        return word_priority(words[:2])
    found = _LEVEL.fullmatch(words)
    if found is None or (found["level"].isdigit() and not words.lower().startswith("prio")):
        return None
    if found["no"]:
        return word_priority("normal")
    return word_priority(f"P{found['level']}" if found["level"].isdigit() else found["level"])


@dataclass(frozen=True, slots=True)
class Context:
    """What holds for the boxes below a heading, a label or an item."""

    headings: tuple[str, ...] = ()
    phase: str | None = None
    priority: int | None = None
    tasks: bool = True


@dataclass(slots=True)
class _Label:
    """A paragraph above a list. It holds until the next one, as soon as it had its list."""

    tasks: bool
    priority: int | None
    used: bool = False


@dataclass
class Surroundings:
    """Goes through a file and knows, for each item, the context that it is in."""

    document: Document
    _headings: dict[int, Context] = field(default_factory=dict)
    _items: dict[int, Context] = field(default_factory=dict)
    _labels: dict[int, _Label] = field(default_factory=dict)  # by the item that they lie in; 0 is none
    _keys: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.phases = Phases(self.document)

    def items(self, markdown: Markdown) -> Iterator[tuple[Block, Box | None, Context]]:
        for block, path in outline(markdown):
            if block.kind is Kind.HEADING and path and path[-1] is block:
                self._labels.clear()
                above = self._headings[id(path[-2])] if len(path) > 1 else Context()
                self._headings[id(block)] = self._below(block, above)
            elif block.kind is Kind.ITEM:
                box = block.box
                yield block, box, self._item(block, box, self._headings[id(path[-1])] if path else Context())
            else:
                self._other(block)

    def _below(self, heading: Block, above: Context) -> Context:
        found = _PHASE.match(heading.text) if above.phase is None else None
        level = priority(heading.text)
        return Context(
            (*above.headings, name(heading.text)),
            self._phase(heading, found) if found is not None else above.phase,
            above.priority if level is None else level,
            above.tasks and not not_tasks(heading.text),
        )

    def _phase(self, heading: Block, found: re.Match[str]) -> str:
        """Headings of one name are one phase; inside a phase, others are not phases."""
        which = (found[1].lower(), found[2])
        if which not in self._keys:
            self._keys[which] = self.phases.open(found[2], found["title"] or "", heading)
        return self._keys[which]

    def _item(self, block: Block, box: Box | None, below: Context) -> Context:
        above = below if block.parent is None else self._items[id(block.parent)]
        label = self._labels.get(id(block.parent) if block.parent is not None else 0)
        if label is not None:
            label.used = True
            level = above.priority if label.priority is None else label.priority
            above = replace(above, priority=level, tasks=above.tasks and label.tasks)
        if box is None:
            level = priority(block.text)
            above = replace(
                above,
                priority=above.priority if level is None else level,
                tasks=above.tasks and not not_tasks(block.text),
            )
        self._items[id(block)] = above
        return above

    def _other(self, block: Block) -> None:
        where = id(block.parent) if block.parent is not None else 0
        label = self._labels.get(where)
        if block.kind is Kind.PARAGRAPH:
            level, tasks = priority(block.text), not not_tasks(block.text)
            if level is not None or not tasks:
                self._labels[where] = _Label(tasks, level)
                return
        if label is not None and (label.used or block.kind is Kind.RULE):
            del self._labels[where]
