"""`plan`: `## Phase N: Title`, and below it tasks `- [ ] N.N Text`, with notes on the order in which they run.

Only a box at the margin with an id is a task. A box that is ticked is done, whatever status.json says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from plait.core.plan import Problem
from plait.core.task import Origin, Phase, Task
from plait.sources import checkboxes, checkboxes__boxes, problem_reports__single
from plait.sources.checkboxes import CheckboxFile, TaskBox
from plait.sources.formats import Confidence
from plait.sources.formats.plan import PlanOrder
from plait.sources.formats.plan_outline import PlanItem, PlanOutline, looks_like_plan, read_outline
from plait.sources.formats.plan_outline__text import parse_urgency
from plait.sources.formats.plan_status import write_status_json as apply_record
from plait.sources.formats.plan_status__status import RecordedStatus, read_status_json as read_status
from plait.sources.problem_reports import make_warning
from plait.sources.source_model import (
    Document,
    Reading,
    Rewrite,
    SourceEntry,
    SourceFiles,
    SourceStatus,
    StatusChange,
    StatusFileWriter,
)
from plait.sources.status_changes import select_file_changes
from plait.sources.task_paths__mentions import find_mentions
from plait.sources.text import to_printable

# A phase names at most so many earlier ones: each of those waits for the ones before it.
_MAX_EARLIER_PHASES = 100
_DEFAULT_PRIORITY = Task("").priority


def detect(source: SourceFiles) -> Confidence:
    document = problem_reports__single.find_checkbox_document(source)
    if document is None or "phase" not in document.text.lower() or not looks_like_plan(document.markdown):
        return Confidence.NO
    return Confidence.NAME if "plans" in document.path.split("/")[:-1] else Confidence.CONTENT


def companions(path: str) -> tuple[str, ...]:
    return (f"docs/plan-outputs/{Document(path, '').stem}/status.json",)


def read(source: SourceFiles) -> Reading:
    told, problems = _read_recorded(source)
    reading = problem_reports__single.read_single_file(source, partial(_read_document, told))
    return replace(reading, problems=(*reading.problems, *problems))


def writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    del changes  # both files tell of every task
    (status,) = companions(path)
    return [
        StatusFileWriter(path, partial(_write_checkboxes, path)),
        StatusFileWriter(status, partial(apply_record, path, status), creates=True),
    ]


def _read_recorded(source: SourceFiles) -> tuple[dict[str, RecordedStatus], list[Problem]]:
    (path,) = companions(source.path)
    status = source.companions.get(path)
    return ({}, []) if status is None else read_status(status)


def _read_document(told: dict[str, RecordedStatus], document: Document) -> Reading:
    seen = read_outline(document)
    ordered = PlanOrder(document, seen)
    entries = tuple(_build_entries(document, seen, ordered, told))
    problems = (*seen.problems, *ordered.problems, *_find_problems(document, seen))
    return Reading(entries, tuple(_build_phases(document, seen, ordered, entries)), problems)


def _build_entries(
    document: Document, seen: PlanOutline, ordered: PlanOrder, told: dict[str, RecordedStatus]
) -> Iterator[SourceEntry]:
    urgencies = {key: parse_urgency(heading.text) for key, heading in seen.phases.items()}
    for item in seen.items:
        body = document.markdown.source(item.start, item.stop).rstrip()
        urgent = (parse_urgency(item.words), urgencies[item.phase or ""], _DEFAULT_PRIORITY)
        task = Task(
            item.id,
            item.title,
            body,
            needs=ordered.needs(item.id),
            phase=item.phase,
            gating=item.verify is None or item.verify.is_gating,
            priority=next(value for value in urgent if value is not None),
            origin=Origin(document.path, item.start + 1),
        )
        yield _build_entry(task, item, ordered, told.get(item.id))


def _build_entry(task: Task, item: PlanItem, ordered: PlanOrder, told: RecordedStatus | None) -> SourceEntry:
    """A box that is ticked or crossed out is the last word on its task; any other leaves it to status.json."""
    mark, said = checkboxes__boxes.read_checkbox_status(item.box), f"[{item.box.character}]"
    if told is not None and not mark.is_closed:
        mark, said = told.status, told.status_text
    since, tries = (told.since, told.tries) if told else (None, 0)
    chain = ordered.chains.get(item.id)
    return SourceEntry(task, mark, said, find_mentions(task.body), chain=chain, since=since, tries=tries)


def _build_phases(
    document: Document, seen: PlanOutline, ordered: PlanOrder, entries: Sequence[SourceEntry]
) -> Iterator[Phase]:
    """Those that have tasks, in the order of the file."""
    gating = [entry for entry in entries if entry.task.gating]
    total = Counter(entry.task.phase for entry in gating)
    settled = Counter(entry.task.phase for entry in gating if entry.status.is_closed)
    used = {entry.task.phase for entry in entries}
    keys = [key for key in seen.phases if key in used]
    for place, key in enumerate(keys):
        heading = seen.phases[key]
        earlier = keys[max(0, place - _MAX_EARLIER_PHASES) : place]
        yield Phase(
            key,
            heading.title,
            after=tuple(other for other in earlier if not ordered.may_run_together(key, other)),
            total=total[key],
            settled=settled[key],
            opens_with=ordered.opening_tasks.get(key),
            at=Origin(document.path, heading.line + 1),
            reason=heading.text,
        )


def _find_problems(document: Document, seen: PlanOutline) -> Iterator[Problem]:
    if not seen.items:
        hint = 'Tasks are written "- [ ] 1.1 Text", at the margin and below a heading "## Phase 1: Title".'
        yield make_warning(document, 0, "there is no task in this plan", hint)
    for item in seen.items:
        if not item.title:
            yield make_warning(
                document, item.start, f"{item.id} does not say what is to be done", "Give it a text."
            )
        if (
            item.box.character != " "
            and checkboxes__boxes.read_checkbox_status(item.box) is SourceStatus.TODO
        ):
            message = f"{item.id} is marked [{item.box.character}], which says nothing here: it is taken as not done"
            yield make_warning(document, item.start, message, "Use [ ] or [x].")


def _parse_checkbox_file(text: str) -> CheckboxFile:
    document = Document("", text)
    items = read_outline(document).items
    spots = [
        TaskBox(item.block, checkboxes__boxes.read_checkbox_status(item.box), item.id, item.title)
        for item in items
    ]
    return CheckboxFile(
        document.markdown,
        spots,
        {SourceStatus.DONE: checkboxes__boxes.find_usual_tick(item.box.character for item in items)},
    )


def _write_checkboxes(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    """Tick what is done, and take the tick from what is not."""
    wanted = select_file_changes(path, changes)
    return (
        checkboxes.rewrite_checkboxes(_parse_checkbox_file(to_printable(text)), text, wanted)
        if wanted
        else Rewrite(text)
    )
