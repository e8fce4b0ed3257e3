"""The edges of a numbered TODO: what `Dependencies` and `Blocking` say, as needs between the tasks of the file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from plait.core.plan import Problem
from plait.core.task import Need, Origin
from plait.sources.formats.todo.items import Item, Placed
from plait.sources.formats.todo.refs import Ref, references
from plait.sources.formats.todo.status import current
from plait.sources.model import Document
from plait.sources.report import error, info, warning

_WIDEST = 1000  # nobody means to name more tasks than this with one range
_MOST = 500_000  # edges of one file: more are no list of tasks
_MOST_ALIKE = 10  # tasks of one number that a reference may mean
_LONGEST = 20_000
_SHOWN = 100
_BLOCKS = re.compile(r"(?:un)?blocks?\b:?\s*", re.IGNORECASE)


class Needs:
    """All the needs of one file, by the id of the task that has them, and what is odd about them."""

    def __init__(self, document: Document, items: Iterable[Item]) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._items = list(items)
        self._needs: defaultdict[str, dict[str, Need]] = defaultdict(dict)
        self._numbers: defaultdict[int, list[Item]] = defaultdict(list)
        self._noted: set[int] = set()
        self._room = _MOST
        for item in self._items:
            same = self._numbers[int(item.heading.number)]
            if len(same) < _MOST_ALIKE:
                same.append(item)
        # What a task says of itself comes first, so that it is the reason which is shown.
        for item in self._items:
            for placed, text in self._texts(item, "dependencies", "dependency", "depends on", "blocked by"):
                self._note(item, placed, text, soft=self._asked(item, placed, text))
        for item in self._items:
            for placed, text in self._texts(item, "blocking", "blocks"):
                self._note(item, placed, text, soft=self._blocked(item, placed, text))

    def of(self, item: Item) -> tuple[Need, ...]:
        return tuple(self._needs[item.id].values())

    def _texts(self, item: Item, *keys: str) -> Iterator[tuple[Placed, str]]:
        """What the first field of these names says, with the bullets beneath it if it says nothing on its own line."""
        placed = item.first(*keys)
        if placed is None:
            return
        text = "; ".join(item.says(placed))
        if len(text) > _LONGEST:
            self._warn(
                placed, f"too long to be a list of tasks: only its first {_LONGEST} characters are read"
            )
            text = text[:_LONGEST].rpartition(",")[0]
        yield placed, text

    def _asked(self, item: Item, placed: Placed, text: str) -> bool:
        """Edges from this task; whether the text also has something for people."""
        found = references(text)
        for ref in found.refs:
            for number in self._range(placed, ref):
                for on in self._named(item, placed, ref, number):
                    self._add(item.id, on, placed, text)
        return found.soft

    def _blocked(self, item: Item, placed: Placed, text: str) -> bool:
        """Edges to this task, from those of the file that it blocks."""
        found = references(_BLOCKS.sub("", text, count=1) if _BLOCKS.match(text) else text)
        for ref in found.refs:
            for number in self._range(placed, ref):
                for other in self._numbers.get(number, ()):
                    if other is not item:
                        self._add(other.id, item.id, placed, text)
        return found.soft

    def _named(self, item: Item, placed: Placed, ref: Ref, number: int) -> Iterator[str]:
        """The tasks that a number names. One that the text calls finished is waited for only if the file says otherwise."""
        there = self._numbers.get(number, ())
        if not there:
            if not ref.settled:
                yield str(number)
            return
        for other in there:
            if other is item:
                if ref.first == ref.last and len(there) == 1:
                    self._warn(placed, f"{item.id} is said to need itself")
            elif not (ref.settled and current(other).closed):
                yield other.id

    def _range(self, placed: Placed, ref: Ref) -> Iterable[int]:
        if ref.last < ref.first:
            self._warn(placed, f"{ref.first}-{ref.last} runs backwards, and names no task")
        elif ref.last - ref.first >= _WIDEST:
            self._warn(placed, f"{ref.first}-{ref.last} is too wide, and names no task")
        else:
            return range(ref.first, ref.last + 1)
        return ()

    def _note(self, item: Item, placed: Placed, text: str, *, soft: bool) -> None:
        """At most one note for each task."""
        if soft and item.line not in self._noted:
            self._noted.add(item.line)
            message = f"read as a note, not as a dependency: {shown(text)}"
            hint = "Write Task 12 for a task that must be done first."
            self.problems.append(info(self._document, placed.field.line, message, hint))

    def _add(self, task: str, on: str, placed: Placed, text: str) -> None:
        if on in self._needs[task]:
            return
        if self._room == 0:
            message = f"the dependencies of this file name more than {_MOST:,} tasks: the rest is passed over"
            self.problems.append(
                error(self._document, placed.field.line, message, "Name fewer, or split the file.")
            )
        self._room -= 1
        if self._room >= 0:
            reason = f"{placed.field.key.capitalize()}: {shown(text)}"
            at = Origin(self._document.path, placed.field.line + 1)
            self._needs[task][on] = Need(on, reason=reason, at=at)

    def _warn(self, placed: Placed, message: str) -> None:
        self.problems.append(warning(self._document, placed.field.line, message, "Write it as 63, 65-67."))


def shown(text: str) -> str:
    """A text as a message may hold it."""
    line = " ".join(text[: _SHOWN * 2].split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1].rstrip()}…"
