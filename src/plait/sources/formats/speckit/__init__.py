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
from plait.sources import single, ticking
from plait.sources.boxes import body, boxes, is_box, nested, status, usual_tick
from plait.sources.formats import Likeness
from plait.sources.formats.speckit.needs import Needs
from plait.sources.formats.speckit.tasks import Listed, listed, looks_listed, phase_name
from plait.sources.markdown import Block, Markdown
from plait.sources.mentions import mentions
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Writer
from plait.sources.outline import Phases
from plait.sources.report import repeated, warning
from plait.sources.ticking import Sheet, Spot
from plait.sources.titles import plain
from plait.sources.words import slug

_PLACE = re.compile(r"(?:^|/)specs/[^/]+/tasks\.md\Z")


def likeness(material: Material) -> Likeness:
    document = single.boxed(material)
    if document is None:
        return Likeness.NO
    tops = [box for block, box in boxes(document.markdown) if block.level == 0 and is_box(box)]
    tasks = sum(map(looks_listed, tops))
    if not tasks or 4 * tasks < len(tops):
        return Likeness.NO
    return Likeness.NAME if _PLACE.search(document.path) else Likeness.CONTENT


def companions(path: str) -> tuple[str, ...]:  # noqa: ARG001 - the file says it all
    return ()


def read(material: Material) -> Reading:
    return single.read(material, _read)


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    return ticking.writers(path, changes, _sheet)


def _read(document: Document) -> Reading:
    tasks = list(listed(document.markdown))
    if not tasks:
        hint = 'spec-kit writes tasks as "- [ ] T001 Text".'
        return Reading(problems=(warning(document, 0, "no box here has an id such as T001", hint),))
    phases = Phases(document, gate=1.0)
    keys = _keys(phases, tasks)
    order = {key: rank for rank, key in enumerate(dict.fromkeys(keys.values()))}
    ranks = [order[keys[id(task.heading)]] if task.heading is not None else None for task in tasks]
    needs = Needs(document, tasks, ranks)
    entries = tuple(_entries(document, tasks, keys, needs))
    named = ((task.block.head, task.written, task.id) for task in tasks)
    return Reading(entries, phases.of(entries), (*repeated(document, named), *needs.problems))


def _keys(phases: Phases, tasks: Sequence[Listed]) -> dict[int, str]:
    """The phase of each heading that has tasks. A heading inside a phase of the same name goes on with it."""
    keys: dict[int, str] = {}
    last: tuple[Block, str] | None = None
    for heading in {id(task.heading): task.heading for task in tasks}.values():
        if heading is None:
            continue
        name, title = phase_name(heading)
        if last is not None and heading.level > last[0].level and name == phase_name(last[0])[0]:
            keys[id(heading)] = last[1]
            continue
        keys[id(heading)] = phases.open(name or slug(plain(title), words=4), title, heading)
        last = heading, keys[id(heading)]
    return keys


def _entries(
    document: Document, tasks: Sequence[Listed], keys: dict[int, str], needs: Needs
) -> Iterator[Entry]:
    inside = nested([task.block for task in tasks])
    for place, task in enumerate(tasks):
        text = body(document.markdown, task.block, (tasks[n].block for n in inside[place]))
        made = Task(
            task.id,
            task.title,
            text,
            needs[place],
            phase=keys[id(task.heading)] if task.heading is not None else None,
            origin=Origin(document.path, task.block.head + 1),
        )
        yield Entry(made, status(task.box), mentions=mentions(text))


def _sheet(text: str) -> Sheet:
    markdown = Markdown(text)
    tasks = list(listed(markdown))
    spots = [Spot(task.block, status(task.box), task.id, task.title) for task in tasks]
    return Sheet(markdown, spots, {Mark.DONE: usual_tick(task.box.mark for task in tasks)})
