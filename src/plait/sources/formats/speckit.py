"""spec-kit: `- [ ] T012 [P] [US1] Text in src/x.py` under `## Phase N:` headings, which are barriers.

Inside a phase, a task without `[P]` follows all tasks above it, and those below follow it; tasks with `[P]` between
two of these run in parallel. Dependencies stated in prose (`depends on T012`, a section on dependencies) are added to
that. In a file with phases, tasks under another heading of that level are behind a barrier too. A task may also be a
heading (`#### T012: Text`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import product

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.task import Need, NeedKind, Task
from plait.sources import checkboxes, status_changes
from plait.sources.formats import Confidence
from plait.sources.formats.speckit_grammar import (
    ID,
    ListedTask,
    OrderStatement,
    find_tasks,
    has_task_headings,
    is_phase,
    looks_like_task,
    parse_orders,
    parse_phase,
    parse_refs,
    starts_with_verb,
)
from plait.sources.formats.speckit_headings import write_heading_statuses
from plait.sources.markdown import Block, BlockKind, PhaseBuilder, strip_markup, walk_outline
from plait.sources.references import TaskIds, TaskRange, make_key
from plait.sources.source_model import Document, Reading, SourceEntry, find_repeated_ids
from plait.sources.status_changes import Rewrite, StatusChange
from plait.sources.task_paths import find_mentions
from plait.sources.text import to_printable
from plait.sources.vocabulary import make_slug

_SECTION = re.compile(r"\b(?:dependenc(?:y|ies)|execution order|critical path)\b", re.IGNORECASE)
_NO_ORDER = re.compile(r"\b(?:parallel|examples?|strategy|mvp)\b", re.IGNORECASE)
_TASK = re.compile(r"\b(?:tasks?|id)\b", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:depend\w*|blocked|needs?|requires?|prereq\w*|after)\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:blocks|enables|unblocks|before)\b", re.IGNORECASE)
_MARKUP = re.compile(r"[*_`]")
_LIST = re.compile(
    rf"({ID})\s*:\s*({ID}(?:\s*(?:,|&|\+|-|\u2013|\band\b)\s*{ID})*)",
    re.IGNORECASE,
)
_MAX_ITEM_LENGTH = 400
_MAX_SECTION_LENGTH = 200_000  # characters in all; the rest of a longer section is ignored


def find_order_statements(document: Document, tasks: Sequence[ListedTask]) -> Iterator[OrderStatement]:
    """Yield all statements about order; their lines count from the file's first."""
    task_by_block = {id(task.block): task for task in tasks}
    for task in tasks:
        for aside in task.asides:
            yield from parse_orders(aside, task.block.text_line, subject=task.id)
    left = _MAX_SECTION_LENGTH
    for block, path in walk_outline(document.markdown):
        if id(block) in task_by_block or block.quoted or left < 0:
            continue
        around = (*block.ancestors, *reversed(path))
        owner = next((task_by_block[id(above)] for above in around if id(above) in task_by_block), None)
        if owner is not None:  # `- Depends on: T001` in the list below a task
            if block.kind in {BlockKind.ITEM, BlockKind.PARAGRAPH}:
                yield from _parse_owned(block, owner)
        elif _is_order_section(path):
            left -= len(block.text)
            yield from _parse_block(block)


def _parse_owned(block: Block, owner: ListedTask) -> Iterator[OrderStatement]:
    """Yield the statements in a task's own text. In that of a task that is a heading, each line may be a field:
    `**Dependencies**: T001`.
    """
    if owner.place is None:
        if starts_with_verb(block.text):
            yield from parse_orders(block.text, block.text_line, subject=owner.id)
        return
    for number, line in enumerate(block.text.split("\n"), block.text_line):
        if starts_with_verb(line):
            yield from parse_orders(line, number, subject=owner.id)


def _is_order_section(path: Sequence[Block]) -> bool:
    """Whether a section is about dependencies between tasks, not about installing some, and not in an example."""
    below = [heading.text for heading in path if heading.level > 1 and not is_phase(heading)]
    return any(map(_SECTION.search, below)) and not any(map(_NO_ORDER.search, below))


def _parse_block(block: Block) -> Iterator[OrderStatement]:
    match block.kind:
        case BlockKind.ITEM if block.head >= 0:
            text = _MARKUP.sub("", block.text) if len(block.text) <= _MAX_ITEM_LENGTH else ""
            match = _LIST.fullmatch(text)
            if match:  # `- T003: T001, T002`: a task, and what it needs
                yield OrderStatement(parse_refs(match[2]), parse_refs(match[1]), block.head, match[0])
            else:
                yield from parse_orders(block.text, block.head)
        case BlockKind.PARAGRAPH:
            yield from parse_orders(block.text, block.start)
        case BlockKind.FENCE:
            yield from parse_orders(block.text, block.start + 1, fenced=True)
        case BlockKind.TABLE:
            yield from _parse_table(block)
        case _:
            pass


def _parse_table(block: Block) -> Iterator[OrderStatement]:
    """Yield the statements of a table: one column has tasks, others what each needs or blocks."""
    header, *rows = block.rows
    task_column = next((n for n, cell in enumerate(header) if _TASK.search(cell)), 0)
    after = [n for n, cell in enumerate(header) if n != task_column and _AFTER.search(cell)]
    before = [n for n, cell in enumerate(header) if n != task_column and n not in after and _BEFORE.search(cell)]
    for number, row in enumerate(rows, block.start + 2):
        tasks = parse_refs(row[task_column]) if task_column < len(row) else ()
        for column in (*after, *before):
            others = parse_refs(row[column]) if tasks and column < len(row) else ()
            if others:
                shown = f"{header[column]}: {row[column]}"
                earlier, later = (others, tasks) if column in after else (tasks, others)
                yield OrderStatement(earlier, later, number, shown)


_MAX_EDGES = 50_000  # edges that statements may make: a range of hundreds before a range of hundreds is a mistake


@dataclass
class SpecKitNeeds:
    """The needs of each task, by index. `ranks` numbers each task's phase, from 0; None: it is in no phase."""

    document: Document
    tasks: Sequence[ListedTask]
    ranks: Sequence[int | None]
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._needs: list[dict[str, Need]] = [{} for _ in self.tasks]
        self._ids = TaskIds(task.id for task in self.tasks)
        self._index_by_id = {task.id: index for index, task in enumerate(self.tasks)}
        self._points = list(_count_points(self.tasks, self.ranks))
        edges = 0
        for statement in find_order_statements(self.document, self.tasks):
            edges += self._add_statement(statement)
            if edges > _MAX_EDGES:
                message = "the statements about order from here on are not read: there are too many"
                self.problems.append(self.document.make_warning(statement.line, message, "Let phases say it."))
                break
        for later, earlier, why in _iter_written_order(self.tasks, self.ranks):
            self._add(later, self.tasks[earlier].id, NeedKind.CHAIN, why, self.tasks[later].block.text_line)

    def __getitem__(self, index: int) -> tuple[Need, ...]:
        return tuple(self._needs[index].values())

    def _add(self, index: int, on: str, kind: NeedKind, why: str, line: int) -> None:
        if on != self.tasks[index].id:
            need = Need(on, kind, why, self.document.origin(line))
            self._needs[index].setdefault(on, need)

    def _add_statement(self, statement: OrderStatement) -> int:
        """Add the edges of a statement; return how many there are."""
        earlier, later = (
            [name for ref in side for name in self._find_named(ref)] for side in (statement.earlier, statement.later)
        )
        count = len(earlier) * len(later)
        for on, name in product(earlier, later) if count <= _MAX_EDGES else ():
            index = self._index_by_id.get(name)
            if index is None:
                message = f"{name} should come after {on}, but no task here has that id"
                self.problems.append(self.document.make_info(statement.line, message))
            elif not self._contradicts(index, on):
                self._add(index, on, NeedKind.NEED, statement.text, statement.line)
            else:
                message = (
                    f'"{statement.text}" has {name} after {on}, which is written further down: the written order counts'
                )
                hint = f"Move {on} above {name}, or take that out."
                self.problems.append(self.document.make_warning(statement.line, message, hint))
        return count

    def _find_named(self, ref: TaskRange) -> list[str]:
        """Return the ids that a reference means. Ranges cover only existing tasks, and may be written backwards; a
        single task need not exist.
        """
        if not ref.last:
            return self._ids.find(ref) or [f"T{ref.first[1:]}"]  # T031 may be called T031-MIN
        first, last = sorted((ref.first, ref.last), key=make_key)
        return self._ids.find(TaskRange(first, last))

    def _contradicts(self, index: int, on: str) -> bool:
        """Whether the file's own order puts `on` after this task: in a later phase, or past a task without [P]."""
        other = self._index_by_id.get(on)
        if other is None or other == index:
            return False
        rank, other_rank = self.ranks[index], self.ranks[other]
        if rank != other_rank:
            return rank is not None and other_rank is not None and other_rank > rank
        between = self._points[other] - self._points[index] + (not self.tasks[other].parallel)
        return other > index and between > 0


def _count_points(tasks: Sequence[ListedTask], ranks: Sequence[int | None]) -> Iterator[int]:
    """Yield for each task the number of tasks without [P] above it in its phase."""
    counts: dict[int | None, int] = {}
    for task, rank in zip(tasks, ranks, strict=True):
        yield counts.get(rank, 0)
        counts[rank] = counts.get(rank, 0) + (not task.parallel)


def _iter_written_order(tasks: Sequence[ListedTask], ranks: Sequence[int | None]) -> Iterator[tuple[int, int, str]]:
    """Yield the written order in as few edges as possible.

    A task without [P] follows the run of tasks with [P] above it, or the last one without; one with [P] follows the
    last one without.
    """
    points: dict[int | None, list[int]] = {}
    runs: dict[int | None, list[int]] = {}
    for index, (task, rank) in enumerate(zip(tasks, ranks, strict=True)):
        point, run = points.get(rank, []), runs.setdefault(rank, [])
        if task.parallel:
            yield from ((index, other, "written below a task without [P]") for other in point)
            run.append(index)
        else:
            yield from ((index, other, "written order: it has no [P]") for other in run or point)
            points[rank], runs[rank] = [index], []


_TASKS_FILE = re.compile(r"(?:^|/)[^/]*tasks?\.md\Z", re.IGNORECASE)
_SPECKIT_PATH = re.compile(r"(?:^|/)specs/[^/]+/tasks\.md\Z")


def _detect(document: Document) -> Confidence:
    tops = [
        box
        for block, box in checkboxes.find_checkboxes(document.markdown)
        if block.level == 0 and checkboxes.is_checkbox(box)
    ]
    tasks = sum(map(looks_like_task, tops))
    if tasks and len(tops) <= 4 * tasks:
        return Confidence.NAME if _SPECKIT_PATH.search(document.path) else Confidence.CONTENT
    # Anything else with such headings, a list of threats say, isn't called tasks.
    is_list = _TASKS_FILE.search(document.path) is not None and has_task_headings(document.markdown)
    return (
        Confidence.NO if not is_list else Confidence.NAME if _SPECKIT_PATH.search(document.path) else Confidence.CONTENT
    )


def _read_document(document: Document) -> Reading:
    tasks = find_tasks(document.markdown)
    if not tasks:
        hint = 'spec-kit writes tasks as "- [ ] T001 Text".'
        return Reading(problems=(document.make_warning(0, "no box or heading here has an id such as T001", hint),))
    phases = PhaseBuilder(document, gate=1.0)
    keys = _assign_phases(phases, tasks)
    rank_by_key = {key: rank for rank, key in enumerate(dict.fromkeys(keys.values()))}
    ranks = [rank_by_key[keys[id(task.heading)]] if task.heading is not None else None for task in tasks]
    needs = SpecKitNeeds(document, tasks, ranks)
    entries = tuple(_build_entries(document, tasks, keys, needs))
    named = ((task.block.text_line, task.written_id, task.id) for task in tasks)
    return Reading(entries, phases.build(entries), (*find_repeated_ids(document, named), *needs.problems))


def _assign_phases(phases: PhaseBuilder, tasks: Sequence[ListedTask]) -> dict[int, str]:
    """Return the phase of each heading with tasks. A heading inside a phase of the same name continues it."""
    keys: dict[int, str] = {}
    last: tuple[Block, str] | None = None
    for heading in {id(task.heading): task.heading for task in tasks}.values():
        if heading is None:
            continue
        name, title = parse_phase(heading)
        if last is not None and heading.level > last[0].level and name == parse_phase(last[0])[0]:
            keys[id(heading)] = last[1]
            continue
        keys[id(heading)] = phases.add(name or make_slug(strip_markup(title), max_words=4), title, heading)
        last = heading, keys[id(heading)]
    return keys


def _build_entries(
    document: Document, tasks: Sequence[ListedTask], keys: dict[int, str], needs: SpecKitNeeds
) -> Iterator[SourceEntry]:
    bodies = checkboxes.read_item_bodies(document.markdown, [task.block for task in tasks])
    for index, (task, item) in enumerate(zip(tasks, bodies, strict=True)):
        place = task.place
        body = item if place is None else document.markdown.source(place.block.start, place.stop).strip()
        core_task = Task(
            task.id,
            task.title,
            body,
            needs[index],
            phase=keys[id(task.heading)] if task.heading is not None else None,
            origin=document.origin(task.block.text_line),
        )
        yield SourceEntry(core_task, task.status, mentions=find_mentions(body))


def _write_statuses(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    """Write the statuses of listed tasks into their boxes, those of headings into these or their fields."""
    changes = status_changes.select_file_changes(path, changes)
    document = Document(path, to_printable(text))
    headed = [task for task in find_tasks(document.markdown) if task.place is not None] if changes else []
    ids = {task.id for task in headed}
    in_headings = [change for change in changes if change.id in ids]
    written = write_heading_statuses(document.markdown, text, headed, in_headings) if in_headings else Rewrite(text)
    in_boxes = [change for change in changes if change.id not in ids]
    boxes = checkboxes.write_checkboxes(_read_boxes, lambda _used: {}, path, written.text, in_boxes)
    return Rewrite(boxes.text, (*written.problems, *boxes.problems))


def _read_boxes(document: Document) -> Reading:
    headings = {task.id for task in find_tasks(document.markdown) if task.place is not None}
    reading = _read_document(document)
    return replace(reading, entries=tuple(entry for entry in reading.entries if entry.task.id not in headings))


FORMAT = replace(
    checkboxes.make_checkbox_format(_detect, _read_document, needs_box=False),
    writers=partial(status_changes.write_each_file, _write_statuses),
)
