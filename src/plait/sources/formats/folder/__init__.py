"""A folder of task files: one task in each `*.md`, and perhaps a table of them in PHASES.md. No status is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plait.core.task import Origin, Phase
from plait.sources.formats import Likeness
from plait.sources.formats.folder.fields import header
from plait.sources.formats.folder.names import Names, ids, short
from plait.sources.formats.folder.table import Told, told
from plait.sources.formats.folder.task import Draft, draft, enabled, entry
from plait.sources.model import Change, Document, Entry, Material, Reading, Writer
from plait.sources.taskfiles.files import beside, included, nothing
from plait.sources.taskfiles.keys import Keys
from plait.sources.taskfiles.text import is_task_heading

PHASES = "PHASES.md"
_PHASE = re.compile(r"phase\s+\d", re.IGNORECASE)
_NUMBERED = re.compile(r"\d+[-_. ]\D")
_TELLING = ("needs", "touches", "exclusive", "slots", "allow_empty", "run", "retries", "depends_on")
_NUMBERS = re.compile(r"(\d+)")


def likeness(material: Material) -> Likeness:
    """Any folder with task files; of single files, those that look like one task."""
    documents = included(material)
    if material.folder:
        return Likeness.CONTENT if documents else Likeness.PERHAPS
    if any(_is_task(document) for document in documents[:20]):
        return Likeness.CONTENT
    return Likeness.PERHAPS if len(documents) > 1 else Likeness.NO


def _is_task(document: Document) -> bool:
    if not document.name.endswith(".md"):
        return False
    if any(_PHASE.match(block.text) for block in document.markdown.headings(2)):
        return False
    if _NUMBERED.match(document.stem) or short(document.stem) != document.stem or is_task_heading(document):
        return True
    keys = Keys(document)
    lines = header(document)
    return any(keys.has(name) for name in _TELLING) or bool(lines.needs or lines.files or lines.weight)


def companions(path: str) -> tuple[str, ...]:
    return (beside(path, PHASES),)


def read(material: Material) -> Reading:
    documents = included(material)
    if not documents:
        return Reading(problems=(nothing(material, "task files"),))
    drafts = [draft(document, named) for document, named in zip(documents, ids(documents), strict=True)]
    names = Names(draft.named for draft in drafts)
    table = _table(material, names, drafts)
    for each in drafts:
        for other, need in enabled(each, names):
            table.needs.setdefault(other, []).append(need)
    entries = [entry(each, names, table.needs.get(each.id, ()), table.marks.get(each.id)) for each in drafts]
    problems = [problem for each in drafts for problem in each.problems]
    return Reading(tuple(entries), tuple(_phases(drafts, entries)), (*problems, *table.problems))


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:  # noqa: ARG001
    """None: the journal knows how far a task is."""
    return []


def _table(material: Material, names: Names, drafts: Sequence[Draft]) -> Told:
    """What PHASES.md says, be it among the files or beside them."""
    near = (*material.documents, *material.companions.values())
    found = [document for document in near if document.name.lower() == PHASES.lower()]
    titles = {each.id: f"{each.title} {each.named.stem}" for each in drafts}
    return told(found[0], names, titles) if found else Told()


def _phases(drafts: Sequence[Draft], entries: Sequence[Entry]) -> Iterator[Phase]:
    """In their natural order, each after all that come before it."""
    places: dict[str, list[int]] = {}
    for place, each in enumerate(drafts):
        if each.phase is not None:
            places.setdefault(each.phase, []).append(place)
    before: tuple[str, ...] = ()
    for key in sorted(places, key=_natural):
        first = drafts[places[key][0]]
        yield Phase(
            key,
            key if not key[0].isdigit() else f"Phase {key}",
            after=before,
            total=len(places[key]),
            settled=sum(entries[place].mark.closed for place in places[key]),
            at=Origin(first.document.path, first.keys.line("phase") + 1),
            reason=f"phase: {key}",
        )
        before = (*before, key)


def _natural(key: str) -> list[tuple[bool, int, str]]:
    """Numbers by their size, and before words."""
    parts = [part for part in _NUMBERS.split(key.casefold()) if part]
    return [
        (not part.isdecimal(), len(part.lstrip("0")) if part.isdecimal() else 0, part.lstrip("0"))
        for part in parts
    ]
