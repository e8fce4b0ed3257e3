"""A folder of task files: one task in each `*.md`, and perhaps a table of them in PHASES.md. No status is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from plait.core.task import Origin, Phase
from plait.sources.formats import Confidence
from plait.sources.formats.folder import TableContent, read_table
from plait.sources.formats.folder_task import ParsedTaskFile, build_entry, find_enabled, parse_task_file
from plait.sources.formats.folder_task__fields import read_bold_header
from plait.sources.formats.folder_task__names import TaskNameIndex, assign_ids, strip_task_prefix
from plait.sources.front_matter import FrontMatterKeys
from plait.sources.source_model import (
    Document,
    Reading,
    SourceEntry,
    SourceFiles,
    StatusChange,
    StatusFileWriter,
)
from plait.sources.task_files import get_sibling_path, list_task_documents, report_no_tasks
from plait.sources.task_files__text import has_task_heading

PHASES_FILE = "PHASES.md"
_PHASE = re.compile(r"phase\s+\d", re.IGNORECASE)
_NUMBERED = re.compile(r"\d+[-_. ]\D")
_TYPICAL_KEYS = ("needs", "touches", "exclusive", "slots", "allow_empty", "run", "retries", "depends_on")
_NUMBERS = re.compile(r"(\d+)")


def detect(source: SourceFiles) -> Confidence:
    """Any folder with task files; of single files, those that look like one task."""
    documents = list_task_documents(source)
    if source.folder:
        return Confidence.CONTENT if documents else Confidence.PERHAPS
    if any(_looks_like_task(document) for document in documents[:20]):
        return Confidence.CONTENT
    return Confidence.PERHAPS if len(documents) > 1 else Confidence.NO


def _looks_like_task(document: Document) -> bool:
    if not document.name.endswith(".md"):
        return False
    if any(_PHASE.match(block.text) for block in document.markdown.headings(2)):
        return False
    if (
        _NUMBERED.match(document.stem)
        or strip_task_prefix(document.stem) != document.stem
        or has_task_heading(document)
    ):
        return True
    keys = FrontMatterKeys(document)
    lines = read_bold_header(document)
    return any(keys.has(name) for name in _TYPICAL_KEYS) or bool(lines.needs or lines.files or lines.weight)


def companions(path: str) -> tuple[str, ...]:
    return (get_sibling_path(path, PHASES_FILE),)


def read(source: SourceFiles) -> Reading:
    documents = list_task_documents(source)
    if not documents:
        return Reading(problems=(report_no_tasks(source, "task files"),))
    drafts = [
        parse_task_file(document, named)
        for document, named in zip(documents, assign_ids(documents), strict=True)
    ]
    names = TaskNameIndex(draft.names for draft in drafts)
    table = _read_phases_file(source, names, drafts)
    for each in drafts:
        for other, need in find_enabled(each, names):
            table.needs.setdefault(other, []).append(need)
    entries = [
        build_entry(each, names, table.needs.get(each.id, ()), table.statuses.get(each.id)) for each in drafts
    ]
    problems = [problem for each in drafts for problem in each.problems]
    return Reading(tuple(entries), tuple(_build_phases(drafts, entries)), (*problems, *table.problems))


def writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:  # noqa: ARG001
    """None: the journal knows how far a task is."""
    return []


def _read_phases_file(
    source: SourceFiles, names: TaskNameIndex, drafts: Sequence[ParsedTaskFile]
) -> TableContent:
    """What PHASES.md says, be it among the files or beside them."""
    near = (*source.documents, *source.companions.values())
    found = [document for document in near if document.name.lower() == PHASES_FILE.lower()]
    titles = {each.id: f"{each.title} {each.names.stem}" for each in drafts}
    return read_table(found[0], names, titles) if found else TableContent()


def _build_phases(drafts: Sequence[ParsedTaskFile], entries: Sequence[SourceEntry]) -> Iterator[Phase]:
    """In their natural order, each after all that come before it."""
    places: dict[str, list[int]] = {}
    for place, each in enumerate(drafts):
        if each.phase is not None:
            places.setdefault(each.phase, []).append(place)
    before: tuple[str, ...] = ()
    for key in sorted(places, key=_natural_sort_key):
        first = drafts[places[key][0]]
        yield Phase(
            key,
            key if not key[0].isdigit() else f"Phase {key}",
            after=before,
            total=len(places[key]),
            settled=sum(entries[place].status.is_closed for place in places[key]),
            at=Origin(first.document.path, first.keys.line("phase") + 1),
            reason=f"phase: {key}",
        )
        before = (*before, key)


def _natural_sort_key(key: str) -> list[tuple[bool, int, str]]:
    """Numbers by their size, and before words."""
    parts = [part for part in _NUMBERS.split(key.casefold()) if part]
    return [
        (not part.isdecimal(), len(part.lstrip("0")) if part.isdecimal() else 0, part.lstrip("0"))
        for part in parts
    ]
