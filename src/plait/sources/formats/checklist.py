"""Checklists: any file with boxes. Every box is a task; a nested one is a dependency of the box around it.

Ids are made from titles, so that other tasks can come, go and be ticked. Tasks of the same title are prefixed with
their heading, then with the box around them, then numbered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.task import Need, Task
from plait.sources import checkboxes
from plait.sources.formats import Confidence
from plait.sources.markdown import (
    Block,
    BlockKind,
    Checkbox,
    Markdown,
    PhaseBuilder,
    UniqueNames,
    clean_heading,
    defers_tasks,
    excludes_tasks,
    make_title,
    parse_heading_priority,
    strip_markup,
    walk_outline,
)
from plait.sources.source_model import Document, Reading, SourceEntry, SourceStatus
from plait.sources.task_paths import find_mentions
from plait.sources.vocabulary import make_slug

_PHASE = re.compile(
    r"\W*(?i:(phase|milestone|stage|step))\s+#?(\d{1,4}(?:\.\d{1,4})*|[IVX]{1,5}|[A-Z])\b(?:\W*(?P<title>\w.*))?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class BoxContext:
    """What applies to the boxes below a heading, a label or an item."""

    headings: tuple[str, ...] = ()
    phase: str | None = None
    priority: int | None = None
    tasks: bool = True
    deferred: bool = False

    def narrow(self, text: str) -> BoxContext:
        """Return the context below a heading, a label or an item with this text."""
        priority = parse_heading_priority(text)
        return replace(
            self,
            priority=self.priority if priority is None else priority,
            tasks=self.tasks and not excludes_tasks(text),
            deferred=self.deferred or defers_tasks(text),
        )


@dataclass(slots=True)
class _Label:
    """A paragraph above a list. Once a list has followed it, it applies until the next paragraph."""

    text: str
    used: bool = False


@dataclass
class ContextTracker:
    """Finds the context of each item of a file."""

    document: Document
    _headings: dict[int, BoxContext] = field(default_factory=dict)
    _items: dict[int, BoxContext] = field(default_factory=dict)
    _labels: dict[int, _Label] = field(default_factory=dict)  # by the item that they lie in; 0 is none
    _keys: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.phases = PhaseBuilder(self.document)

    def walk_items(self, markdown: Markdown) -> Iterator[tuple[Block, BoxContext]]:
        for block, path in walk_outline(markdown):
            if block.kind is BlockKind.HEADING and path and path[-1] is block:
                self._labels.clear()
                above = self._headings[id(path[-2])] if len(path) > 1 else BoxContext()
                self._headings[id(block)] = self._enter_heading(block, above)
            elif block.kind is BlockKind.ITEM:
                yield block, self._enter_item(block, self._headings[id(path[-1])] if path else BoxContext())
            else:
                self._track_label(block)

    def _enter_heading(self, heading: Block, above: BoxContext) -> BoxContext:
        match = _PHASE.match(heading.text) if above.phase is None else None
        return replace(
            above.narrow(heading.text),
            headings=(*above.headings, clean_heading(heading.text)),
            phase=self._open_phase(heading, match) if match is not None else above.phase,
        )

    def _open_phase(self, heading: Block, match: re.Match[str]) -> str:
        """Return the key of a heading's phase; headings of one name share it, nested ones open none."""
        phase_key = (match[1].lower(), match[2])
        if phase_key not in self._keys:
            self._keys[phase_key] = self.phases.add(match[2], match["title"] or "", heading)
        return self._keys[phase_key]

    def _enter_item(self, block: Block, below: BoxContext) -> BoxContext:
        above = below if block.parent is None else self._items[id(block.parent)]
        label = self._labels.get(id(block.parent) if block.parent is not None else 0)
        if label is not None:
            label.used = True
            above = above.narrow(label.text)
        self._items[id(block)] = above if block.checkbox is not None else above.narrow(block.text)
        return self._items[id(block)]

    def _track_label(self, block: Block) -> None:
        where = id(block.parent) if block.parent is not None else 0
        label = self._labels.get(where)
        says_something = parse_heading_priority(block.text) is not None or excludes_tasks(block.text)
        says_something = says_something or defers_tasks(block.text)
        if block.kind is BlockKind.PARAGRAPH and says_something:
            self._labels[where] = _Label(block.text)
        elif label is not None and (label.used or block.kind is BlockKind.RULE):
            del self._labels[where]


_DEFAULT_PRIORITY = 1


def _detect(document: Document) -> Confidence:
    has_tasks = any(
        box.character == checkboxes.OPEN_CHARACTER or box.character in checkboxes.TICK_CHARACTERS
        for _, box in checkboxes.find_checkboxes(document.markdown)
    )
    return Confidence.PERHAPS if has_tasks else Confidence.NO


@dataclass(frozen=True, slots=True)
class _BoxTask:
    block: Block
    box: Checkbox
    text: str
    context: BoxContext


def _find_tasks(document: Document, tracker: ContextTracker) -> Iterator[_BoxTask]:
    markdown = document.markdown
    for block, context in tracker.walk_items(markdown):
        box = block.checkbox
        if box is not None and context.tasks and checkboxes.is_checkbox(box) and not block.quoted:
            yield _BoxTask(block, box, checkboxes.read_checkbox_text(markdown, block, box), context)


def _make_ids(tasks: Sequence[_BoxTask], inside: Sequence[Sequence[int]]) -> list[str]:
    slugs = [make_slug(strip_markup(task.text)) for task in tasks]
    counts = Counter(slugs)
    doubles = [n for n, name in enumerate(slugs) if counts[name] > 1]
    names = list(slugs)
    for n in doubles:
        headings = tasks[n].context.headings
        names[n] = f"{make_slug(headings[-1], max_words=4)}-{slugs[n]}" if headings else slugs[n]
    counts = Counter(names)
    above = {part: n for n, parts in enumerate(inside) for part in parts}
    for n in doubles:
        if counts[names[n]] > 1 and n in above:
            names[n] = f"{slugs[above[n]]}-{slugs[n]}"
    unique = UniqueNames()
    among = set(doubles)
    for n in [*(n for n in range(len(tasks)) if n not in among), *doubles]:
        names[n] = unique(names[n])
    return names


def _read_document(document: Document) -> Reading:
    tracker = ContextTracker(document)
    found = list(_find_tasks(document, tracker))
    tasks = [task for task in found if task.text]
    hint = "Write what is to be done after it."
    problems = [
        document.make_warning(task.block.head, "this box has no text, so it is not a task", hint)
        for task in found
        if not task.text
    ]
    if not found:
        problems.append(_report_no_tasks(document))
    entries = tuple(_build_entries(document, tasks))
    return Reading(entries, tracker.phases.build(entries), tuple(problems))


def _report_no_tasks(document: Document) -> Problem:
    hint = 'Write tasks as "- [ ] text".'
    if any(True for _ in checkboxes.find_checkboxes(document.markdown)):
        return document.make_warning(0, "all boxes here are acceptance criteria or a legend: there are no tasks")
    if any(block.kind is BlockKind.ITEM for block in document.markdown.blocks):
        return document.make_warning(0, "plain bullets are not tasks, and there are no boxes here", hint)
    return document.make_warning(0, "there are no boxes here, so there are no tasks", hint)


def _build_entries(document: Document, tasks: Sequence[_BoxTask]) -> Iterator[SourceEntry]:
    inside = checkboxes.find_nested([task.block for task in tasks])
    ids = _make_ids(tasks, inside)
    for n, (task, parts) in enumerate(zip(tasks, inside, strict=True)):
        body = checkboxes.read_item_body(document.markdown, task.block, (tasks[part].block for part in parts))
        text = checkboxes.read_item_body(document.markdown, task.block) if parts else body
        priority = task.context.priority
        core_task = Task(
            ids[n],
            make_title(task.text),
            f"Under: {' > '.join(task.context.headings)}\n\n{text}" if task.context.headings else text,
            tuple(Need(ids[part], reason="its part", at=document.origin(tasks[part].block.head)) for part in parts),
            phase=task.context.phase,
            priority=_DEFAULT_PRIORITY if priority is None else priority,
            allow_empty=bool(parts),  # its parts may be all of it
            origin=document.origin(task.block.head),
        )
        status = checkboxes.read_checkbox_status(task.box)
        if task.context.deferred and status is SourceStatus.TODO:
            status = SourceStatus.SKIPPED
        yield SourceEntry(core_task, status, mentions=find_mentions(body))


def _choose_characters(used: Counter[str]) -> dict[SourceStatus, str]:
    """Return the characters for skipped tasks and, only if the file marks tasks in progress, for those."""
    in_progress = max(checkboxes.IN_PROGRESS_CHARACTERS, key=used.__getitem__)
    extra = {SourceStatus.DOING: in_progress} if used[in_progress] else {}
    return {SourceStatus.SKIPPED: checkboxes.SKIPPED_CHARACTER, **extra}


FORMAT = checkboxes.make_checkbox_format(_detect, _read_document, _choose_characters)
