"""Checklists: any file with boxes. Every box is a task, also one inside another, which needs it as a part of itself.

Ids are made from titles, so that other tasks can come, go and be ticked. Tasks of the same title take the name of their
heading in front, then of the box that they lie in; what is the same even then is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.task import Need, Origin, Task
from plait.sources import checkboxes, problem_reports__single
from plait.sources.checkboxes import OPEN_CHARACTER, CheckboxFile, TaskBox
from plait.sources.checkboxes__boxes import (
    IN_PROGRESS_CHARACTERS,
    SKIPPED_CHARACTER,
    TICK_CHARACTERS,
    find_checkboxes,
    find_nested,
    find_usual_tick,
    is_checkbox,
    read_checkbox_status,
    read_checkbox_text,
    read_item_body,
)
from plait.sources.formats import Confidence
from plait.sources.formats.checklist__headings import BoxContext, ContextTracker
from plait.sources.markdown import Block, BlockKind, Checkbox
from plait.sources.outline__titles import UniqueNames, make_title, strip_markup
from plait.sources.problem_reports import make_warning
from plait.sources.source_model import (
    Document,
    Reading,
    SourceEntry,
    SourceFiles,
    SourceStatus,
    StatusChange,
    StatusFileWriter,
)
from plait.sources.task_paths__mentions import find_mentions
from plait.sources.vocabulary import make_slug

_DEFAULT_PRIORITY = 1


def detect(source: SourceFiles) -> Confidence:
    document = problem_reports__single.find_checkbox_document(source)
    if document is None:
        return Confidence.NO
    some = any(
        box.character == OPEN_CHARACTER or box.character in TICK_CHARACTERS
        for _, box in find_checkboxes(document.markdown)
    )
    return Confidence.PERHAPS if some else Confidence.NO


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001 - the file says it all
    return ()


def read(source: SourceFiles) -> Reading:
    return problem_reports__single.read_single_file(source, _read_document)


def writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    return checkboxes.make_checkbox_writers(path, changes, _parse_checkbox_file)


@dataclass(frozen=True, slots=True)
class _BoxTask:
    block: Block
    box: Checkbox
    text: str
    context: BoxContext


def _find_tasks(document: Document, around: ContextTracker) -> Iterator[_BoxTask]:
    markdown = document.markdown
    for block, box, context in around.walk_items(markdown):
        if box is not None and context.tasks and is_checkbox(box) and not block.quoted:
            yield _BoxTask(block, box, read_checkbox_text(markdown, block, box), context)


def _make_ids(tasks: Sequence[_BoxTask], inside: Sequence[Sequence[int]]) -> list[str]:
    own = [make_slug(strip_markup(task.text)) for task in tasks]
    counts = Counter(own)
    doubles = [n for n, name in enumerate(own) if counts[name] > 1]
    names = list(own)
    for n in doubles:
        headings = tasks[n].context.headings
        names[n] = f"{make_slug(headings[-1], words=4)}-{own[n]}" if headings else own[n]
    counts = Counter(names)
    above = {part: n for n, parts in enumerate(inside) for part in parts}
    for n in doubles:
        if counts[names[n]] > 1 and n in above:
            names[n] = f"{own[above[n]]}-{own[n]}"
    unique = UniqueNames()
    among = set(doubles)
    for n in [*(n for n in range(len(tasks)) if n not in among), *doubles]:
        names[n] = unique(names[n])
    return names


def _read_document(document: Document) -> Reading:
    around = ContextTracker(document)
    found = list(_find_tasks(document, around))
    tasks = [task for task in found if task.text]
    problems = [_report_empty_box(document, task) for task in found if not task.text]
    if not found:
        problems.append(_report_no_tasks(document))
    entries = tuple(_build_entries(document, tasks))
    return Reading(entries, around.phases.build(entries), tuple(problems))


def _report_empty_box(document: Document, task: _BoxTask) -> Problem:
    message = "this box has no text, so it is not a task"
    return make_warning(document, task.block.head, message, "Write what is to be done after it.")


def _report_no_tasks(document: Document) -> Problem:
    hint = 'Write tasks as "- [ ] text".'
    if any(True for _ in find_checkboxes(document.markdown)):
        return make_warning(
            document, 0, "all boxes here are acceptance criteria or a legend: there are no tasks"
        )
    if any(block.kind is BlockKind.ITEM for block in document.markdown.blocks):
        return make_warning(document, 0, "plain bullets are not tasks, and there are no boxes here", hint)
    return make_warning(document, 0, "there are no boxes here, so there are no tasks", hint)


def _build_entries(document: Document, tasks: Sequence[_BoxTask]) -> Iterator[SourceEntry]:
    inside = find_nested([task.block for task in tasks])
    ids = _make_ids(tasks, inside)
    for n, (task, parts) in enumerate(zip(tasks, inside, strict=True)):
        own = read_item_body(document.markdown, task.block, (tasks[part].block for part in parts))
        text = read_item_body(document.markdown, task.block) if parts else own
        priority = task.context.priority
        made = Task(
            ids[n],
            make_title(task.text),
            f"Under: {' > '.join(task.context.headings)}\n\n{text}" if task.context.headings else text,
            tuple(_make_part_need(document, ids[part], tasks[part]) for part in parts),
            phase=task.context.phase,
            priority=_DEFAULT_PRIORITY if priority is None else priority,
            allow_empty=bool(parts),  # its parts may be all of it
            origin=Origin(document.path, task.block.head + 1),
        )
        yield SourceEntry(made, read_checkbox_status(task.box), mentions=find_mentions(own))


def _make_part_need(document: Document, on: str, task: _BoxTask) -> Need:
    return Need(on, reason="its part", at=Origin(document.path, task.block.head + 1))


def _parse_checkbox_file(text: str) -> CheckboxFile:
    document = Document("", text)
    tasks = [task for task in _find_tasks(document, ContextTracker(document)) if task.text]
    ids = _make_ids(tasks, find_nested([task.block for task in tasks]))
    spots = [
        TaskBox(task.block, read_checkbox_status(task.box), name, make_title(task.text))
        for task, name in zip(tasks, ids, strict=True)
    ]
    marks = Counter(task.box.character for task in tasks)
    signs = {SourceStatus.DONE: find_usual_tick(marks.elements()), SourceStatus.SKIPPED: SKIPPED_CHARACTER}
    under_way = max(IN_PROGRESS_CHARACTERS, key=lambda mark: marks[mark])
    if marks[under_way]:
        signs[SourceStatus.DOING] = under_way
    return CheckboxFile(document.markdown, spots, signs)
