"""Statuses as they were: a text that somebody has edited, without what the edit says of how far tasks are.

A status is spelled in many ways, and some come with dates. So several ways back are tried, and one is taken if what it
gives says of each task what the base said, and is otherwise the new text: both become the same when the same statuses are
written into them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from plait.core.frozen import dataclass
from plait.sources.diff import shared
from plait.sources.formats import TAGGED, load
from plait.sources.found import Places
from plait.sources.model import Change, Document, Entry, Mark, Material, Options
from plait.sources.text import Lines, printable

# Files of which every byte tells statuses, by format.
STATUS_FILES = {"plan": "status.json", "jobs": "_jobstatus.json"}

_ONCE = datetime(1970, 1, 1, tzinfo=UTC)
# Written one after another, so that spelling and dates are the same whatever was there before.
_LEVELLINGS = (
    (Mark.TODO, Mark.DOING, Mark.DONE),
    (Mark.TODO, Mark.DOING, Mark.BLOCKED, Mark.DONE),
    (Mark.TODO, Mark.DOING, Mark.SKIPPED, Mark.DONE),
)
_TOKEN = re.compile(r"\w+|\s|[^\w\s]")

Span = tuple[int, int, Sequence[str]]


def restored(format: str, path: str, base: str, new: str) -> str:  # noqa: A002 - the glossary's word
    """The new text with every task's status as the base had it; tasks that the base does not know keep theirs.

    A text in which no task is found comes back as it is.
    """
    if base == new or STATUS_FILES.get(format) == Document(path, "").name:
        return base
    for tag in _tags(format, base):
        new = _Source(format, path, tag).restored(base, new)
    return new


def _tags(format: str, text: str) -> list[str]:  # noqa: A002
    if format not in TAGGED:
        return [""]
    from plait.sources.formats.taskmaster.tree import lists  # noqa: PLC0415 - for files of this format only
    from plait.sources.jsontext import MalformedError, parse  # noqa: PLC0415

    try:
        return list(lists(parse(printable(text))))
    except MalformedError:
        return []


@dataclass(frozen=True, slots=True)
class _Source:
    """One file of a source, or one of its lists."""

    format: str
    path: str
    tag: str

    def restored(self, base: str, new: str) -> str:
        after = self._entries(new)
        there = _places(after)
        known = [entry for entry in self._entries(base) if there.find(self._change(entry)) is not None]
        if not known:
            return new
        for marks in _LEVELLINGS:
            flat, level = self._level(base, known, marks), self._level(new, known, marks)
            for way in (base, *_merged(flat, base, level)):
                if self._level(way, known, marks) == level and self._alike(way, known, after):
                    return way
        moved = [entry for entry in known if _mark(there.find(self._change(entry))) is not entry.mark]
        return self._put(self._put(new, moved, Mark.TODO), moved)  # in the writer's own spelling

    def _alike(self, text: str, known: Sequence[Entry], after: Sequence[Entry]) -> bool:
        """Whether each task that the base knows is as far as there, and every other one as the new text says."""
        entries = self._entries(text)
        there = _places(entries)
        for entry in known:
            if _mark(there.find(self._change(entry))) is not entry.mark:
                return False
        ours = {entry.task.id for entry in known}
        others = {entry.task.id: entry.mark for entry in after if entry.task.id not in ours}
        return all(others.get(entry.task.id, entry.mark) is entry.mark for entry in entries)

    def _entries(self, text: str) -> tuple[Entry, ...]:
        options = Options(tag=self.tag) if self.format in TAGGED else Options()
        document = Document(self.path, printable(text))
        return load(self.format).read(Material(self.path, (document,), options=options)).entries

    def _level(self, text: str, known: Sequence[Entry], marks: Sequence[Mark]) -> str:
        """The text with the same status for each of these tasks, in the writer's own spelling."""
        for mark in marks:
            text = self._put(text, known, mark)
        return text

    def _put(self, text: str, known: Sequence[Entry], mark: Mark | None = None) -> str:
        """Without a mark: each task's own."""
        changes = [self._change(entry, mark) for entry in known]
        for writer in load(self.format).writers(self.path, changes):
            if writer.path == self.path:
                return writer.apply(text, changes).text
        return text

    def _change(self, entry: Entry, mark: Mark | None = None) -> Change:
        at = entry.since if entry.since is not None and mark is None else _ONCE
        return Change(entry.task.id, mark or entry.mark, at, self.path, entry.task.title, tag=self.tag)


def _places(entries: Sequence[Entry]) -> Places[Entry]:
    return Places(entries, lambda each: each.task.id, lambda each: each.task.title)


def _mark(entry: Entry | None) -> Mark | None:
    return None if entry is None else entry.mark


def _merged(flat: str, base: str, edited: str) -> Iterator[str]:
    """The base with the other edits of the new text: by lines, else by words."""
    for parts in (_lines, _TOKEN.findall):
        both = _both(parts(flat), parts(base), parts(edited))
        if both is not None:
            yield "".join(both)


def _lines(text: str) -> list[str]:
    return Lines(text).all


def _both(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """What both sides did to the base; None if they did something to the same place."""
    spans = sorted([*_spans(base, ours), *_spans(base, theirs)], key=lambda span: span[:2])
    merged: list[str] = []
    done = 0
    last = (-1, -1)
    for start, stop, put in spans:
        if start < done or (start, stop) == last:
            return None
        merged += base[done:start]
        merged += put
        done, last = stop, (start, stop)
    return [*merged, *base[done:]]


def _spans(base: Sequence[str], side: Sequence[str]) -> Iterator[Span]:
    """Where a side differs from the base, and what it has there."""
    place = here = 0
    for i, j in [*shared(base, side), (len(base), len(side))]:
        if i > place or j > here:
            yield place, i, side[here:j]
        place, here = i + 1, j + 1
