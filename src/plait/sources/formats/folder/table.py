"""The table in a folder's PHASES.md: `| Task | Description | Status | Blocks | Blocked By |`. Others are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from plait.core.frozen import dataclass
from plait.core.plan import Problem
from plait.core.task import Need, Origin
from plait.sources import words
from plait.sources.formats.folder.names import Names, plain
from plait.sources.formats.folder.task import several
from plait.sources.markdown import Block, Kind
from plait.sources.model import Document, Mark
from plait.sources.report import info, warning

_TELLING = frozenset({"status", "blocks", "blocked by"})
_COLUMNS = _TELLING | {"task", "description"}
_TICK = re.compile("[\u2705\u2714\u2713\u2611]")  # in the ways people draw it
_FINISHED = re.compile(r"\([^)]*\b(?:done|complete|completed|merged|finished)\b", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:[+&/]|<br\s*/?>)\s*")
_SYMBOLS = re.compile(r"[^\w\s.#-]+")
_WORDS = re.compile(r"[^\W_]+")
_MANY = 100  # so many files may share a number
_SMALL = frozenset({"a", "an", "and", "for", "from", "in", "of", "on", "or", "the", "to", "with"})


@dataclass(frozen=True, slots=True)
class Row:
    """`line` counts from 0."""

    cells: Mapping[str, str]
    line: int

    @property
    def name(self) -> str:
        return _plain(self.cells["task"])


@dataclass(slots=True)
class Told:
    """What the table says, by the ids of the tasks."""

    marks: dict[str, tuple[Mark, str]] = field(default_factory=dict)
    needs: dict[str, list[Need]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def told(document: Document, names: Names, titles: Mapping[str, str]) -> Told:
    """`titles` are the words by which a task is known, by id, for numbers that several files share."""
    reader = _Reader(document, names, titles)
    for block in document.markdown.blocks:
        if block.kind is Kind.TABLE and not block.quoted:
            reader.table(_rows(block))
    return reader.told


def _rows(table: Block) -> list[Row]:
    """The rows of a table that tells of tasks; none of any other table."""
    heads = [" ".join(_WORDS.findall(cell.lower())) for cell in table.rows[0]] if table.rows else []
    if "task" not in heads or not _TELLING & set(heads):
        return []
    first = table.start + 2  # below the header and the line beneath it
    return [
        Row({head: cell for head, cell in zip(heads, cells, strict=False) if head in _COLUMNS}, line)
        for line, cells in enumerate(table.rows[1:], first)
        if len(cells) > heads.index("task")
    ]


class _Reader:
    def __init__(self, document: Document, names: Names, titles: Mapping[str, str]) -> None:
        self.told = Told()
        self._document = document
        self._names = names
        self._titles = titles

    def table(self, rows: Sequence[Row]) -> None:
        meant = [self._meant(row) for row in rows]
        by_name: dict[str, dict[str, None]] = {}
        for row, task in zip(rows, meant, strict=True):
            known = by_name.setdefault(row.name.casefold(), {})
            if task is not None:
                known[task] = None
        for row, task in zip(rows, meant, strict=True):
            if task is not None:
                self._mark(row, task)
                self._edges(row, task, by_name)
        self._note_strangers([row for row, task in zip(rows, meant, strict=True) if task is None])

    def _meant(self, row: Row) -> str | None:
        """The task of a row: by its name, and by its description where several have that name."""
        found = self._names.find(row.name) if row.name else ()
        if len(found) < 2:
            return found[0] if found else None
        said = _words(row.cells.get("description", ""))
        shared = {task: len(said & _words(self._titles.get(task, ""))) for task in found[:_MANY]}
        best, second = sorted(shared.values(), reverse=True)[:2]
        if best > second and best * 2 >= len(said):
            return max(shared, key=lambda task: shared[task])
        self.told.problems.append(several(self._document, row.line, row.cells["task"], found))
        return None

    def _mark(self, row: Row, task: str) -> None:
        said = row.cells.get("status", "")
        if task in self.told.marks:
            message = f"there are two rows about {task}; the second one counts"
            self.told.problems.append(warning(self._document, row.line, message))
        mark = _mark(said)
        if mark is not None:
            self.told.marks[task] = (mark, said)
        elif words.items(said):
            message = f"{said[:60]} is not a status that is known; {task} counts as not started"
            self.told.problems.append(warning(self._document, row.line, message, "Write TODO or DONE."))

    def _edges(self, row: Row, task: str, by_name: Mapping[str, Mapping[str, None]]) -> None:
        at = Origin(self._document.path, row.line + 1)
        for other, said in self._named(row, "blocked by", by_name):
            self.told.needs.setdefault(task, []).append(Need(other, reason=f"Blocked By: {said}", at=at))
        for other, said in self._named(row, "blocks", by_name):
            reason = f"{row.name[:60]} Blocks: {said}"
            self.told.needs.setdefault(other, []).append(Need(task, reason=reason, at=at))

    def _named(
        self, row: Row, column: str, by_name: Mapping[str, Mapping[str, None]]
    ) -> Iterator[tuple[str, str]]:
        """The tasks that a cell names, with the words that do; what is finished or has no file is not among them."""
        for piece in words.items(_JOINED.sub(", ", row.cells.get(column, ""))):
            name = _plain(piece)
            if not name or _TICK.search(piece) or _FINISHED.search(piece):
                continue
            known = name.casefold() in by_name
            found = tuple(by_name[name.casefold()]) if known else self._names.find(name)
            if len(found) > 1:
                self.told.problems.append(several(self._document, row.line, piece, found))
            elif found:
                yield found[0], piece[:60]
            elif not known and " " in name:
                note = f"{column.title()}: {piece[:60]} names no task, so nothing waits because of it"
                self.told.problems.append(info(self._document, row.line, note))
            elif not known and column == "blocked by":
                yield name, piece[:60]

    def _note_strangers(self, rows: Sequence[Row]) -> None:
        """Rows of tasks that are not done and have no file; a number that several files share is told elsewhere."""
        open_rows = [
            row
            for row in rows
            if row.name and not self._names.find(row.name) and not _closed(row.cells.get("status", ""))
        ]
        if open_rows:
            names = ", ".join(row.name[:60] for row in open_rows[:20])
            note = f"there is no task file for {names}: nothing waits for what has none"
            self.told.problems.append(info(self._document, open_rows[0].line, note))


def _mark(said: str) -> Mark | None:
    """The words count; a tick alone is enough."""
    return words.mark(said) or (Mark.DONE if _TICK.search(said) and not _words(said) else None)


def _closed(said: str) -> bool:
    mark = _mark(said)
    return mark is not None and mark.closed


def _plain(said: str) -> str:
    return " ".join(_SYMBOLS.sub(" ", plain(said)).split())


def _words(said: str) -> set[str]:
    return set(_WORDS.findall(said.casefold())) - _SMALL
