"""What the headings and labels around the boxes of a checklist mean: a phase, a priority, or that these are no tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace

from plait.core.fast_dataclass import dataclass
from plait.sources.markdown import Block, BlockKind, Checkbox, Markdown
from plait.sources.outline import PhaseBuilder, clean_heading, excludes_tasks, make_label, walk_outline
from plait.sources.source_model import Document
from plait.sources.vocabulary import parse_priority as word_priority

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


def heading_priority(text: str) -> int | None:
    """The priority that a heading or label names, if it is about nothing else: not in "High-level design"."""
    words = make_label(text)
    if _P.match(words):
        return word_priority(words[:2])
    found = _LEVEL.fullmatch(words)
    if found is None or (found["level"].isdigit() and not words.lower().startswith("prio")):
        return None
    if found["no"]:
        return word_priority("normal")
    return word_priority(f"P{found['level']}" if found["level"].isdigit() else found["level"])


@dataclass(frozen=True, slots=True)
class BoxContext:
    """What holds for the boxes below a heading, a label or an item."""

    headings: tuple[str, ...] = ()
    phase: str | None = None
    priority: int | None = None
    tasks: bool = True


@dataclass(slots=True)
class _Label:
    """A paragraph above a list. It holds until the next one, as soon as it had its list."""

    holds_tasks: bool
    priority: int | None
    used: bool = False


@dataclass
class ContextTracker:
    """Goes through a file and knows, for each item, the context that it is in."""

    document: Document
    _headings: dict[int, BoxContext] = field(default_factory=dict)
    _items: dict[int, BoxContext] = field(default_factory=dict)
    _labels: dict[int, _Label] = field(default_factory=dict)  # by the item that they lie in; 0 is none
    _keys: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.phases = PhaseBuilder(self.document)

    def walk_items(self, markdown: Markdown) -> Iterator[tuple[Block, Checkbox | None, BoxContext]]:
        for block, path in walk_outline(markdown):
            if block.kind is BlockKind.HEADING and path and path[-1] is block:
                self._labels.clear()
                above = self._headings[id(path[-2])] if len(path) > 1 else BoxContext()
                self._headings[id(block)] = self._enter_heading(block, above)
            elif block.kind is BlockKind.ITEM:
                box = block.checkbox
                yield (
                    block,
                    box,
                    self._enter_item(block, box, self._headings[id(path[-1])] if path else BoxContext()),
                )
            else:
                self._track_label(block)

    def _enter_heading(self, heading: Block, above: BoxContext) -> BoxContext:
        found = _PHASE.match(heading.text) if above.phase is None else None
        level = heading_priority(heading.text)
        return BoxContext(
            (*above.headings, clean_heading(heading.text)),
            self._open_phase(heading, found) if found is not None else above.phase,
            above.priority if level is None else level,
            above.tasks and not excludes_tasks(heading.text),
        )

    def _open_phase(self, heading: Block, found: re.Match[str]) -> str:
        """Headings of one name are one phase; inside a phase, others are not phases."""
        which = (found[1].lower(), found[2])
        if which not in self._keys:
            self._keys[which] = self.phases.add(found[2], found["title"] or "", heading)
        return self._keys[which]

    def _enter_item(self, block: Block, box: Checkbox | None, below: BoxContext) -> BoxContext:
        above = below if block.parent is None else self._items[id(block.parent)]
        label = self._labels.get(id(block.parent) if block.parent is not None else 0)
        if label is not None:
            label.used = True
            level = above.priority if label.priority is None else label.priority
            above = replace(above, priority=level, tasks=above.tasks and label.holds_tasks)
        if box is None:
            level = heading_priority(block.text)
            above = replace(
                above,
                priority=above.priority if level is None else level,
                tasks=above.tasks and not excludes_tasks(block.text),
            )
        self._items[id(block)] = above
        return above

    def _track_label(self, block: Block) -> None:
        where = id(block.parent) if block.parent is not None else 0
        label = self._labels.get(where)
        if block.kind is BlockKind.PARAGRAPH:
            level, tasks = heading_priority(block.text), not excludes_tasks(block.text)
            if level is not None or not tasks:
                self._labels[where] = _Label(tasks, level)
                return
        if label is not None and (label.used or block.kind is BlockKind.RULE):
            del self._labels[where]
