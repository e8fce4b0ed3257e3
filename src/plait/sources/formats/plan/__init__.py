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
from plait.sources import boxes, single, ticking
from plait.sources.formats import Likeness
from plait.sources.formats.plan.order import Ordered
from plait.sources.formats.plan.outline import Item, Outline, likely, outline
from plait.sources.formats.plan.record import apply as apply_record
from plait.sources.formats.plan.status import Told, read as read_status
from plait.sources.formats.plan.text import urgency
from plait.sources.found import own
from plait.sources.mentions import mentions
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Rewrite, Writer
from plait.sources.report import warning
from plait.sources.text import printable
from plait.sources.ticking import Sheet, Spot

# A phase names at most so many earlier ones: each of those waits for the ones before it.
_REACH = 100
_USUAL_PRIORITY = Task("").priority


def likeness(material: Material) -> Likeness:
    document = single.boxed(material)
    if document is None or "phase" not in document.text.lower() or not likely(document.markdown):
        return Likeness.NO
    return Likeness.NAME if "plans" in document.path.split("/")[:-1] else Likeness.CONTENT


def companions(path: str) -> tuple[str, ...]:
    return (f"docs/plan-outputs/{Document(path, '').stem}/status.json",)


def read(material: Material) -> Reading:
    told, problems = _told(material)
    reading = single.read(material, partial(_read, told))
    return replace(reading, problems=(*reading.problems, *problems))


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    del changes  # both files tell of every task
    (status,) = companions(path)
    return [
        Writer(path, partial(_tick, path)),
        Writer(status, partial(apply_record, path, status), creates=True),
    ]


def _told(material: Material) -> tuple[dict[str, Told], list[Problem]]:
    (path,) = companions(material.path)
    status = material.companions.get(path)
    return ({}, []) if status is None else read_status(status)


def _read(told: dict[str, Told], document: Document) -> Reading:
    seen = outline(document)
    ordered = Ordered(document, seen)
    entries = tuple(_entries(document, seen, ordered, told))
    problems = (*seen.problems, *ordered.problems, *_oddities(document, seen))
    return Reading(entries, tuple(_phases(document, seen, ordered, entries)), problems)


def _entries(document: Document, seen: Outline, ordered: Ordered, told: dict[str, Told]) -> Iterator[Entry]:
    urgencies = {key: urgency(heading.said) for key, heading in seen.phases.items()}
    for item in seen.items:
        body = document.markdown.source(item.start, item.stop).rstrip()
        urgent = (urgency(item.words), urgencies[item.phase or ""], _USUAL_PRIORITY)
        task = Task(
            item.id,
            item.title,
            body,
            needs=ordered.needs(item.id),
            phase=item.phase,
            gating=item.verify is None or item.verify.gating,
            priority=next(value for value in urgent if value is not None),
            origin=Origin(document.path, item.start + 1),
        )
        yield _entry(task, item, ordered, told.get(item.id))


def _entry(task: Task, item: Item, ordered: Ordered, told: Told | None) -> Entry:
    """A box that is ticked or crossed out is the last word on its task; any other leaves it to status.json."""
    mark, said = boxes.status(item.box), f"[{item.box.mark}]"
    if told is not None and not mark.closed:
        mark, said = told.mark, told.said
    since, tries = (told.since, told.tries) if told else (None, 0)
    chain = ordered.chains.get(item.id)
    return Entry(task, mark, said, mentions(task.body), chain=chain, since=since, tries=tries)


def _phases(document: Document, seen: Outline, ordered: Ordered, entries: Sequence[Entry]) -> Iterator[Phase]:
    """Those that have tasks, in the order of the file."""
    gating = [entry for entry in entries if entry.task.gating]
    total = Counter(entry.task.phase for entry in gating)
    settled = Counter(entry.task.phase for entry in gating if entry.mark.closed)
    used = {entry.task.phase for entry in entries}
    keys = [key for key in seen.phases if key in used]
    for place, key in enumerate(keys):
        heading = seen.phases[key]
        earlier = keys[max(0, place - _REACH) : place]
        yield Phase(
            key,
            heading.title,
            after=tuple(other for other in earlier if not ordered.together(key, other)),
            total=total[key],
            settled=settled[key],
            opens_with=ordered.openings.get(key),
            at=Origin(document.path, heading.line + 1),
            reason=heading.said,
        )


def _oddities(document: Document, seen: Outline) -> Iterator[Problem]:
    if not seen.items:
        hint = 'Tasks are written "- [ ] 1.1 Text", at the margin and below a heading "## Phase 1: Title".'
        yield warning(document, 0, "there is no task in this plan", hint)
    for item in seen.items:
        if not item.title:
            yield warning(
                document, item.start, f"{item.id} does not say what is to be done", "Give it a text."
            )
        if item.box.mark != " " and boxes.status(item.box) is Mark.TODO:
            message = (
                f"{item.id} is marked [{item.box.mark}], which says nothing here: it is taken as not done"
            )
            yield warning(document, item.start, message, "Use [ ] or [x].")


def _sheet(text: str) -> Sheet:
    document = Document("", text)
    items = outline(document).items
    spots = [Spot(item.block, boxes.status(item.box), item.id, item.title) for item in items]
    return Sheet(document.markdown, spots, {Mark.DONE: boxes.usual_tick(item.box.mark for item in items)})


def _tick(path: str, text: str, changes: Sequence[Change]) -> Rewrite:
    """Tick what is done, and take the tick from what is not."""
    wanted = own(path, changes)
    return ticking.rewrite(_sheet(printable(text)), text, wanted) if wanted else Rewrite(text)
