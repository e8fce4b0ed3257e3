"""spec-kit: `- [ ] T012 [P] [US1] Text in src/x.py` under `## Phase N:` headings, which are barriers.

Inside a phase a task without `[P]` is a point in the order: it follows every task above it, and those below follow it.
Tasks with `[P]` between two such points run beside one another. What the file says in words (`depends on T012`, a section
on dependencies) comes on top of that. In a file with phases, tasks under another heading of their level are behind a
barrier too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plait.core.task import Origin, Task
from plait.sources import checkboxes, problem_reports__single
from plait.sources.checkboxes import CheckboxFile, TaskBox
from plait.sources.checkboxes__boxes import (
    find_checkboxes,
    find_nested,
    find_usual_tick,
    is_checkbox,
    read_checkbox_status,
    read_item_body,
)
from plait.sources.formats import Confidence
from plait.sources.formats.speckit import SpecKitNeeds
from plait.sources.formats.speckit_grammar__tasks import (
    ListedTask,
    find_listed_tasks,
    looks_like_task,
    parse_phase,
)
from plait.sources.markdown import Block, Markdown
from plait.sources.outline import PhaseBuilder
from plait.sources.outline__titles import strip_markup
from plait.sources.problem_reports import find_repeated_ids, make_warning
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

_SPECKIT_PATH = re.compile(r"(?:^|/)specs/[^/]+/tasks\.md\Z")


def detect(source: SourceFiles) -> Confidence:
    document = problem_reports__single.find_checkbox_document(source)
    if document is None:
        return Confidence.NO
    tops = [box for block, box in find_checkboxes(document.markdown) if block.level == 0 and is_checkbox(box)]
    tasks = sum(map(looks_like_task, tops))
    if not tasks or 4 * tasks < len(tops):
        return Confidence.NO
    return Confidence.NAME if _SPECKIT_PATH.search(document.path) else Confidence.CONTENT


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001 - the file says it all
    return ()


def read(source: SourceFiles) -> Reading:
    return problem_reports__single.read_single_file(source, _read_document)


def writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    return checkboxes.make_checkbox_writers(path, changes, _parse_checkbox_file)


def _read_document(document: Document) -> Reading:
    tasks = list(find_listed_tasks(document.markdown))
    if not tasks:
        hint = 'spec-kit writes tasks as "- [ ] T001 Text".'
        return Reading(problems=(make_warning(document, 0, "no box here has an id such as T001", hint),))
    phases = PhaseBuilder(document, gate=1.0)
    keys = _assign_phases(phases, tasks)
    order = {key: rank for rank, key in enumerate(dict.fromkeys(keys.values()))}
    ranks = [order[keys[id(task.heading)]] if task.heading is not None else None for task in tasks]
    needs = SpecKitNeeds(document, tasks, ranks)
    entries = tuple(_build_entries(document, tasks, keys, needs))
    named = ((task.block.head, task.written_id, task.id) for task in tasks)
    return Reading(entries, phases.build(entries), (*find_repeated_ids(document, named), *needs.problems))


def _assign_phases(phases: PhaseBuilder, tasks: Sequence[ListedTask]) -> dict[int, str]:
    """The phase of each heading that has tasks. A heading inside a phase of the same name goes on with it."""
    keys: dict[int, str] = {}
    last: tuple[Block, str] | None = None
    for heading in {id(task.heading): task.heading for task in tasks}.values():
        if heading is None:
            continue
        name, title = parse_phase(heading)
        if last is not None and heading.level > last[0].level and name == parse_phase(last[0])[0]:
            keys[id(heading)] = last[1]
            continue
        keys[id(heading)] = phases.add(name or make_slug(strip_markup(title), words=4), title, heading)
        last = heading, keys[id(heading)]
    return keys


def _build_entries(
    document: Document, tasks: Sequence[ListedTask], keys: dict[int, str], needs: SpecKitNeeds
) -> Iterator[SourceEntry]:
    inside = find_nested([task.block for task in tasks])
    for place, task in enumerate(tasks):
        text = read_item_body(document.markdown, task.block, (tasks[n].block for n in inside[place]))
        made = Task(
            task.id,
            task.title,
            text,
            needs[place],
            phase=keys[id(task.heading)] if task.heading is not None else None,
            origin=Origin(document.path, task.block.head + 1),
        )
        yield SourceEntry(made, read_checkbox_status(task.box), mentions=find_mentions(text))


def _parse_checkbox_file(text: str) -> CheckboxFile:
    markdown = Markdown(text)
    tasks = list(find_listed_tasks(markdown))
    spots = [TaskBox(task.block, read_checkbox_status(task.box), task.id, task.title) for task in tasks]
    return CheckboxFile(
        markdown, spots, {SourceStatus.DONE: find_usual_tick(task.box.character for task in tasks)}
    )
