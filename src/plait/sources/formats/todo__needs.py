"""The edges of a numbered TODO: what `Dependencies` and `Blocking` say, as needs between the tasks of the file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from plait.core.plan import Problem
from plait.core.task import Need, Origin
from plait.sources.formats.todo_items import PlacedField, TodoItem
from plait.sources.formats.todo_references import TodoRange, parse_references
from plait.sources.formats.todo_status__status import get_current_status
from plait.sources.problem_reports import make_error, make_info, make_warning
from plait.sources.source_model import Document

_MAX_RANGE = 1000  # nobody means to name more tasks than this with one range
_MAX_EDGES = 500_000  # edges of one file: more are no list of tasks
_MAX_SAME_NUMBER = 10  # tasks of one number that a reference may mean
_MAX_FIELD_LENGTH = 20_000
_MAX_SHOWN_LENGTH = 100
_BLOCKS = re.compile(r"(?:un)?blocks?\b:?\s*", re.IGNORECASE)


class TodoNeeds:
    """All the needs of one file, by the id of the task that has them, and what is odd about them."""

    def __init__(self, document: Document, items: Iterable[TodoItem]) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._items = list(items)
        self._needs: defaultdict[str, dict[str, Need]] = defaultdict(dict)
        self._numbers: defaultdict[int, list[TodoItem]] = defaultdict(list)
        self._noted: set[int] = set()
        self._room = _MAX_EDGES
        for item in self._items:
            same = self._numbers[int(item.heading.number)]
            if len(same) < _MAX_SAME_NUMBER:
                same.append(item)
        # What a task says of itself comes first, so that it is the reason which is shown.
        for item in self._items:
            for placed, text in self._texts(item, "dependencies", "dependency", "depends on", "blocked by"):
                self._report_note(item, placed, text, soft=self._add_dependencies(item, placed, text))
        for item in self._items:
            for placed, text in self._texts(item, "blocking", "blocks"):
                self._report_note(item, placed, text, soft=self._add_blocking(item, placed, text))

    def of(self, item: TodoItem) -> tuple[Need, ...]:
        return tuple(self._needs[item.id].values())

    def _texts(self, item: TodoItem, *keys: str) -> Iterator[tuple[PlacedField, str]]:
        """What the first field of these names says, with the bullets beneath it if it says nothing on its own line."""
        placed = item.find(*keys)
        if placed is None:
            return
        text = "; ".join(item.read_values(placed))
        if len(text) > _MAX_FIELD_LENGTH:
            self._warn(
                placed,
                f"too long to be a list of tasks: only its first {_MAX_FIELD_LENGTH} characters are read",
            )
            text = text[:_MAX_FIELD_LENGTH].rpartition(",")[0]
        yield placed, text

    def _add_dependencies(self, item: TodoItem, placed: PlacedField, text: str) -> bool:
        """Edges from this task; whether the text also has something for people."""
        found = parse_references(text)
        for ref in found.refs:
            for number in self._expand_range(placed, ref):
                for on in self._find_named(item, placed, ref, number):
                    self._add(item.id, on, placed, text)
        return found.has_note

    def _add_blocking(self, item: TodoItem, placed: PlacedField, text: str) -> bool:
        """Edges to this task, from those of the file that it blocks."""
        found = parse_references(_BLOCKS.sub("", text, count=1) if _BLOCKS.match(text) else text)
        for ref in found.refs:
            for number in self._expand_range(placed, ref):
                for other in self._numbers.get(number, ()):
                    if other is not item:
                        self._add(other.id, item.id, placed, text)
        return found.has_note

    def _find_named(self, item: TodoItem, placed: PlacedField, ref: TodoRange, number: int) -> Iterator[str]:
        """The tasks that a number names. One that the text calls finished is waited for only if the file says otherwise."""
        there = self._numbers.get(number, ())
        if not there:
            if not ref.is_settled:
                yield str(number)
            return
        for other in there:
            if other is item:
                if ref.first == ref.last and len(there) == 1:
                    self._warn(placed, f"{item.id} is said to need itself")
            elif not (ref.is_settled and get_current_status(other).is_closed):
                yield other.id

    def _expand_range(self, placed: PlacedField, ref: TodoRange) -> Iterable[int]:
        if ref.last < ref.first:
            self._warn(placed, f"{ref.first}-{ref.last} runs backwards, and names no task")
        elif ref.last - ref.first >= _MAX_RANGE:
            self._warn(placed, f"{ref.first}-{ref.last} is too wide, and names no task")
        else:
            return range(ref.first, ref.last + 1)
        return ()

    def _report_note(self, item: TodoItem, placed: PlacedField, text: str, *, soft: bool) -> None:
        """At most one note for each task."""
        if soft and item.line not in self._noted:
            self._noted.add(item.line)
            message = f"read as a note, not as a dependency: {shorten(text)}"
            hint = "Write Task 12 for a task that must be done first."
            self.problems.append(make_info(self._document, placed.field.line, message, hint))

    def _add(self, task: str, on: str, placed: PlacedField, text: str) -> None:
        if on in self._needs[task]:
            return
        if self._room == 0:
            message = (
                f"the dependencies of this file name more than {_MAX_EDGES:,} tasks: the rest is passed over"
            )
            self.problems.append(
                make_error(self._document, placed.field.line, message, "Name fewer, or split the file.")
            )
        self._room -= 1
        if self._room >= 0:
            reason = f"{placed.field.key.capitalize()}: {shorten(text)}"
            at = Origin(self._document.path, placed.field.line + 1)
            self._needs[task][on] = Need(on, reason=reason, at=at)

    def _warn(self, placed: PlacedField, message: str) -> None:
        self.problems.append(
            make_warning(self._document, placed.field.line, message, "Write it as 63, 65-67.")
        )


def shorten(text: str) -> str:
    """A text as a message may hold it."""
    line = " ".join(text[: _MAX_SHOWN_LENGTH * 2].split())
    return line if len(line) <= _MAX_SHOWN_LENGTH else f"{line[: _MAX_SHOWN_LENGTH - 1].rstrip()}…"
