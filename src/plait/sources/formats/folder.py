"""The table in a folder's PHASES.md: `| Task | Description | Status | Blocks | Blocked By |`. Others are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.task import Need, Origin
from plait.sources import vocabulary
from plait.sources.formats.folder_task import report_ambiguous
from plait.sources.formats.folder_task__names import TaskNameIndex, clean_reference
from plait.sources.markdown import Block, BlockKind
from plait.sources.problem_reports import make_info, make_warning
from plait.sources.source_model import Document, SourceStatus

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
    """`line` counts from 0."""

    cells: Mapping[str, str]
    line: int

    @property
    def name(self) -> str:
        return _clean_cell(self.cells["task"])


@dataclass(slots=True)
class TableContent:
    """What the table says, by the ids of the tasks."""

    statuses: dict[str, tuple[SourceStatus, str]] = field(default_factory=dict)
    needs: dict[str, list[Need]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_table(document: Document, names: TaskNameIndex, titles: Mapping[str, str]) -> TableContent:
    """`titles` are the words by which a task is known, by id, for numbers that several files share."""
    reader = _TableReader(document, names, titles)
    for block in document.markdown.blocks:
        if block.kind is BlockKind.TABLE and not block.quoted:
            reader.read_rows(_parse_rows(block))
    return reader.content


def _parse_rows(table: Block) -> list[TableRow]:
    """The rows of a table that tells of tasks; none of any other table."""
    heads = [" ".join(_WORDS.findall(cell.lower())) for cell in table.rows[0]] if table.rows else []
    if "task" not in heads or not _STATUS_COLUMNS & set(heads):
        return []
    first = table.start + 2  # below the header and the line beneath it
    return [
        TableRow({head: cell for head, cell in zip(heads, cells, strict=False) if head in _COLUMNS}, line)
        for line, cells in enumerate(table.rows[1:], first)
        if len(cells) > heads.index("task")
    ]


class _TableReader:
    def __init__(self, document: Document, names: TaskNameIndex, titles: Mapping[str, str]) -> None:
        self.content = TableContent()
        self._document = document
        self._names = names
        self._titles = titles

    def read_rows(self, rows: Sequence[TableRow]) -> None:
        meant = [self._find_task(row) for row in rows]
        by_name: dict[str, dict[str, None]] = {}
        for row, task in zip(rows, meant, strict=True):
            known = by_name.setdefault(row.name.casefold(), {})
            if task is not None:
                known[task] = None
        for row, task in zip(rows, meant, strict=True):
            if task is not None:
                self._add_status(row, task)
                self._add_needs(row, task, by_name)
        self._report_unknown_rows([row for row, task in zip(rows, meant, strict=True) if task is None])

    def _find_task(self, row: TableRow) -> str | None:
        """The task of a row: by its name, and by its description where several have that name."""
        found = self._names.find(row.name) if row.name else ()
        if len(found) < 2:
            return found[0] if found else None
        said = _split_words(row.cells.get("description", ""))
        shared = {
            task: len(said & _split_words(self._titles.get(task, ""))) for task in found[:_MAX_CANDIDATES]
        }
        best, second = sorted(shared.values(), reverse=True)[:2]
        if best > second and best * 2 >= len(said):
            return max(shared, key=lambda task: shared[task])
        self.content.problems.append(report_ambiguous(self._document, row.line, row.cells["task"], found))
        return None

    def _add_status(self, row: TableRow, task: str) -> None:
        said = row.cells.get("status", "")
        if task in self.content.statuses:
            message = f"there are two rows about {task}; the second one counts"
            self.content.problems.append(make_warning(self._document, row.line, message))
        mark = _parse_cell_status(said)
        if mark is not None:
            self.content.statuses[task] = (mark, said)
        elif vocabulary.split_list(said):
            message = f"{said[:60]} is not a status that is known; {task} counts as not started"
            self.content.problems.append(
                make_warning(self._document, row.line, message, "Write TODO or DONE.")
            )

    def _add_needs(self, row: TableRow, task: str, by_name: Mapping[str, Mapping[str, None]]) -> None:
        at = Origin(self._document.path, row.line + 1)
        for other, said in self._find_named(row, "blocked by", by_name):
            self.content.needs.setdefault(task, []).append(Need(other, reason=f"Blocked By: {said}", at=at))
        for other, said in self._find_named(row, "blocks", by_name):
            reason = f"{row.name[:60]} Blocks: {said}"
            self.content.needs.setdefault(other, []).append(Need(task, reason=reason, at=at))

    def _find_named(
        self, row: TableRow, column: str, by_name: Mapping[str, Mapping[str, None]]
    ) -> Iterator[tuple[str, str]]:
        """The tasks that a cell names, with the words that do; what is finished or has no file is not among them."""
        for piece in vocabulary.split_list(_JOINED.sub(", ", row.cells.get(column, ""))):
            name = _clean_cell(piece)
            if not name or _TICK.search(piece) or _FINISHED.search(piece):
                continue
            known = name.casefold() in by_name
            found = tuple(by_name[name.casefold()]) if known else self._names.find(name)
            if len(found) > 1:
                self.content.problems.append(report_ambiguous(self._document, row.line, piece, found))
            elif found:
                yield found[0], piece[:60]
            elif not known and " " in name:
                note = f"{column.title()}: {piece[:60]} names no task, so nothing waits because of it"
                self.content.problems.append(make_info(self._document, row.line, note))
            elif not known and column == "blocked by":
                yield name, piece[:60]

    def _report_unknown_rows(self, rows: Sequence[TableRow]) -> None:
        """Rows of tasks that are not done and have no file; a number that several files share is told elsewhere."""
        open_rows = [
            row
            for row in rows
            if row.name and not self._names.find(row.name) and not _is_closed(row.cells.get("status", ""))
        ]
        if open_rows:
            names = ", ".join(row.name[:60] for row in open_rows[:20])
            note = f"there is no task file for {names}: nothing waits for what has none"
            self.content.problems.append(make_info(self._document, open_rows[0].line, note))


def _parse_cell_status(value: str) -> SourceStatus | None:
    """The words count; a tick alone is enough."""
    return vocabulary.parse_status(value) or (
        SourceStatus.DONE if _TICK.search(value) and not _split_words(value) else None
    )


def _is_closed(value: str) -> bool:
    mark = _parse_cell_status(value)
    return mark is not None and mark.is_closed


def _clean_cell(value: str) -> str:
    return " ".join(_SYMBOLS.sub(" ", clean_reference(value)).split())


def _split_words(value: str) -> set[str]:
    return set(_WORDS.findall(value.casefold())) - _STOP_WORDS
