"""A folder of task files: one task in each `*.md`, and optionally a table of them in PHASES.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.task import Need, Phase
from plait.core.text import strip_task_prefix
from plait.sources import vocabulary
from plait.sources.formats import Confidence, Format, folder_task
from plait.sources.formats.folder_task import ParsedTaskFile, TaskNameIndex
from plait.sources.front_matter import FrontMatter
from plait.sources.markdown import Block, BlockKind, chain_phases
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.sources.task_files import get_sibling_path, has_task_heading, list_task_documents, report_no_tasks

_STATUS_COLUMNS = frozenset({"status", "blocks", "blocked by"})
_COLUMNS = _STATUS_COLUMNS | {"task", "description"}
_TICK = re.compile("[\u2705\u2714\u2713\u2611]")  # in the ways people draw it
_FINISHED = re.compile(r"\([^)]*\b(?:done|complete|completed|merged|finished)\b", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:[+&/]|<br\s*/?>)\s*")
_SYMBOLS = re.compile(r"[^\w\s.#-]+")
_WORDS = re.compile(r"[^\W_]+")
_MAX_CANDIDATES = 100  # so many files may share a number
_STOP_WORDS = frozenset({"a", "an", "and", "for", "from", "in", "of", "on", "or", "the", "to", "with"})


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table of tasks; `line` counts from 0."""

    cells: Mapping[str, str]
    line: int

    @property
    def name(self) -> str:
        return _clean_cell(self.cells["task"])


def _parse_rows(table: Block) -> list[TableRow]:
    """Return the rows of a table of tasks; none for any other table."""
    heads = [" ".join(_WORDS.findall(cell.lower())) for cell in table.rows[0]] if table.rows else []
    if "task" not in heads or not _STATUS_COLUMNS & set(heads):
        return []
    first = table.start + 2  # below the header and the line beneath it
    return [
        TableRow({head: cell for head, cell in zip(heads, cells, strict=False) if head in _COLUMNS}, line)
        for line, cells in enumerate(table.rows[1:], first)
        if len(cells) > heads.index("task")
    ]


class _PhasesTable:
    """What PHASES.md says about tasks, by id. `titles` tell apart tasks that share a number."""

    def __init__(self, document: Document, names: TaskNameIndex, titles: Mapping[str, str]) -> None:
        self.statuses: dict[str, tuple[SourceStatus, str]] = {}
        self.needs: dict[str, list[Need]] = {}
        self.problems: list[Problem] = []
        self._document = document
        self._names = names
        self._titles = titles
        for block in document.markdown.blocks:
            if block.kind is BlockKind.TABLE and not block.quoted:
                self._read_rows(_parse_rows(block))

    def _read_rows(self, rows: Sequence[TableRow]) -> None:
        tasks = [self._find_task(row) for row in rows]
        by_name: dict[str, dict[str, None]] = {}
        for row, task in zip(rows, tasks, strict=True):
            known = by_name.setdefault(row.name.casefold(), {})
            if task is not None:
                known[task] = None
        for row, task in zip(rows, tasks, strict=True):
            if task is not None:
                self._add_status(row, task)
                self._add_needs(row, task, by_name)
        self._report_unknown_rows([row for row, task in zip(rows, tasks, strict=True) if task is None])

    def _find_task(self, row: TableRow) -> str | None:
        """Find the task of a row: by its name, and by its description if several tasks have that name."""
        matches = self._names.find(row.name) if row.name else ()
        if len(matches) < 2:
            return matches[0] if matches else None
        words = _split_words(row.cells.get("description", ""))
        shared = {task: len(words & _split_words(self._titles.get(task, ""))) for task in matches[:_MAX_CANDIDATES]}
        best, second = sorted(shared.values(), reverse=True)[:2]
        if best > second and best * 2 >= len(words):
            return max(shared, key=lambda task: shared[task])
        self.problems.append(folder_task.report_ambiguous(self._document, row.line, row.cells["task"], matches))
        return None

    def _add_status(self, row: TableRow, task: str) -> None:
        value = row.cells.get("status", "")
        if task in self.statuses:
            message = f"there are two rows about {task}; the second one counts"
            self.problems.append(self._document.make_warning(row.line, message))
        status = _parse_cell_status(value)
        if status is not None:
            self.statuses[task] = (status, value)
        elif vocabulary.split_list(value):
            message = f"{value[:60]} is not a known status; {task} counts as not started"
            self.problems.append(self._document.make_warning(row.line, message, "Write TODO or DONE."))

    def _add_needs(self, row: TableRow, task: str, by_name: Mapping[str, Mapping[str, None]]) -> None:
        at = self._document.origin(row.line)
        for other, value in self._find_named(row, "blocked by", by_name):
            self.needs.setdefault(task, []).append(Need(other, reason=f"Blocked By: {value}", at=at))
        for other, value in self._find_named(row, "blocks", by_name):
            reason = f"{row.name[:60]} Blocks: {value}"
            self.needs.setdefault(other, []).append(Need(task, reason=reason, at=at))

    def _find_named(
        self, row: TableRow, column: str, by_name: Mapping[str, Mapping[str, None]]
    ) -> Iterator[tuple[str, str]]:
        """Yield the unfinished tasks that a cell names and that have a file, each with its text."""
        for piece in vocabulary.split_list(_JOINED.sub(", ", row.cells.get(column, ""))):
            name = _clean_cell(piece)
            if not name or _TICK.search(piece) or _FINISHED.search(piece):
                continue
            known = name.casefold() in by_name
            matches = tuple(by_name[name.casefold()]) if known else self._names.find(name)
            if len(matches) > 1:
                self.problems.append(folder_task.report_ambiguous(self._document, row.line, piece, matches))
            elif matches:
                yield matches[0], piece[:60]
            elif not known and " " in name:
                note = f"{column.title()}: {piece[:60]} is not a task; ignored"
                self.problems.append(self._document.make_info(row.line, note))
            elif not known and column == "blocked by":
                yield name, piece[:60]

    def _report_unknown_rows(self, rows: Sequence[TableRow]) -> None:
        """Report unfinished tasks without a file; ambiguous numbers are reported elsewhere."""
        open_rows = [
            row
            for row in rows
            if row.name
            and not self._names.find(row.name)
            and _parse_cell_status(row.cells.get("status", "")) not in {SourceStatus.DONE, SourceStatus.SKIPPED}
        ]
        if open_rows:
            names = ", ".join(row.name[:60] for row in open_rows[:20])
            note = f"there is no task file for {names}: dependencies on them are ignored"
            self.problems.append(self._document.make_info(open_rows[0].line, note))


def _parse_cell_status(value: str) -> SourceStatus | None:
    """Return the status that the words of a cell name; a tick alone means done."""
    return vocabulary.parse_status(value) or (
        SourceStatus.DONE if _TICK.search(value) and not _split_words(value) else None
    )


def _clean_cell(value: str) -> str:
    return " ".join(_SYMBOLS.sub(" ", folder_task.clean_reference(value)).split())


def _split_words(value: str) -> set[str]:
    return set(_WORDS.findall(value.casefold())) - _STOP_WORDS


PHASES_FILE = "PHASES.md"
_PHASE = re.compile(r"phase\s+\d", re.IGNORECASE)
_NUMBERED = re.compile(r"\d+[-_. ]\D")
_TYPICAL_KEYS = ("needs", "touches", "exclusive", "slots", "allow_empty", "run", "retries", "depends_on")
_NUMBERS = re.compile(r"(\d+)")


def detect(source: SourceFiles) -> Confidence:
    """Recognise any folder with task files, and single files that look like one task."""
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
    keys = FrontMatter(document)
    lines = folder_task.read_bold_header(document)
    return any(keys.has(name) for name in _TYPICAL_KEYS) or bool(lines.needs or lines.files or lines.weight)


def companions(path: str) -> tuple[str, ...]:
    return (get_sibling_path(path, PHASES_FILE),)


def read(source: SourceFiles) -> Reading:
    documents = list_task_documents(source)
    if not documents:
        return Reading(problems=(report_no_tasks(source, "task files"),))
    drafts = [
        folder_task.parse_task_file(document, named)
        for document, named in zip(documents, folder_task.assign_ids(documents), strict=True)
    ]
    names = TaskNameIndex(draft.names for draft in drafts)
    all_documents = (*source.documents, *source.companions.values())
    phases = next(
        (file for file in all_documents if file.name.lower() == PHASES_FILE.lower()), Document(PHASES_FILE, "")
    )
    table = _PhasesTable(phases, names, {draft.id: f"{draft.title} {draft.names.stem}" for draft in drafts})
    for draft in drafts:
        for other, need in folder_task.find_enabled(draft, names):
            table.needs.setdefault(other, []).append(need)
    entries = [
        folder_task.build_entry(draft, names, table.needs.get(draft.id, ()), table.statuses.get(draft.id))
        for draft in drafts
    ]
    problems = [problem for draft in drafts for problem in draft.problems]
    return Reading(tuple(entries), tuple(_build_phases(drafts, entries)), (*problems, *table.problems))


def _build_phases(drafts: Sequence[ParsedTaskFile], entries: Sequence[SourceEntry]) -> Iterator[Phase]:
    """Yield the phases in their natural order, each after all that come before it."""
    first: dict[str, ParsedTaskFile] = {}
    for draft in drafts:
        if draft.phase is not None:
            first.setdefault(draft.phase, draft)
    phases = (
        Phase(
            key,
            key if not key[0].isdigit() else f"Phase {key}",
            at=first[key].document.origin(first[key].keys.line("phase")),
            reason=f"phase: {key}",
        )
        for key in sorted(first, key=_natural_sort_key)
    )
    return chain_phases(phases, entries)


def _natural_sort_key(key: str) -> list[tuple[bool, int, str]]:
    """Sort numbers by value, and before words."""
    parts = [part for part in _NUMBERS.split(key.casefold()) if part]
    return [
        (not part.isdecimal(), len(part.lstrip("0")) if part.isdecimal() else 0, part.lstrip("0")) for part in parts
    ]


# No status is written: the journal has it.
FORMAT = Format(
    detect,
    read,
    companions=companions,
    keys={
        "title": ("title",),
        "needs": folder_task.NEEDS_KEYS,
        "touches": folder_task.TOUCHES_KEYS,
        "phase": ("phase",),
        "priority": ("priority",),
        "weight": ("weight", "complexity"),
        "agent": ("agent",),
        "model": ("model",),
        "verify": ("verify",),
        "run": ("run",),
    },
    title_in_heading=True,
)
