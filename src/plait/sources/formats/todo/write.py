"""Statuses back into a numbered TODO: the status token, the dates and the reason, and the tick on the title."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.sources.formats.todo.items import Item, Placed, Style, heading, items
from plait.sources.formats.todo.status import STATUS, TOLD, Speller, current, mark as mark_of, replaced
from plait.sources.found import Places, gone, own
from plait.sources.markdown import Markdown
from plait.sources.model import Change, Mark, Rewrite
from plait.sources.text import BOM, Edit, apply, printable

# The line that tells when a task got its status; a failure has none.
DATES = {Mark.DOING: "Started", Mark.DONE: "Completed", Mark.BLOCKED: "Blocked", Mark.SKIPPED: "Abandoned"}
REASON = "Blocking Reason"
OWNED = frozenset({STATUS, REASON.lower(), *(key.lower() for key in DATES.values())})

_TICK = " \u2705"
_HASHES = re.compile(rf"{BOM}?[ ]{{0,3}}###[ \t]*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?(?![\w-])")
_BULLET = re.compile(r"[-*+][ \t]+\Z")
# Fields that stand together at the top of a task; a Description is a paragraph of its own.
_TOP = OWNED.union(
    (
        "effort",
        "priority",
        "language",
        "blocking",
        "dependencies",
        "depends on",
        "type",
        "task type",
        "created",
    )
)
_LONGEST = 300


def rewrite(path: str, text: str, changes: Sequence[Change]) -> Rewrite:
    """All changes of one moment in one go. A task that says already what is asked for keeps every byte."""
    asked = own(path, changes)
    if not asked:
        return Rewrite(text)
    pen = _Pen(text)
    problems = []
    places: dict[int, tuple[Item, Change]] = {}
    for change in asked:
        item = pen.places.find(change)
        if item is None:
            problems.append(gone(change))
        else:
            places[item.line] = (item, change)
    edits = [edit for item, change in places.values() for edit in pen.edits(item, change)]
    return Rewrite(apply(text, edits), tuple(problems))


class _Pen:
    """Knows how a file is written. Places are found in the text as it can be shown; what is kept comes from the raw one."""

    def __init__(self, text: str) -> None:
        markdown = Markdown(printable(text))
        self._text = text
        self._lines = markdown.lines
        found = items(markdown)
        statuses = [status for item in found if (status := item.first(STATUS))]
        self._speller = Speller(status.own for status in statuses)
        styles = Counter(
            status.style for status in statuses if status.style.bullet.strip() or not status.style.bullet
        )
        self._style = styles.most_common(1)[0][0] if styles else Style()
        self.places = Places(found, lambda item: item.id, lambda item: item.title)

    def edits(self, item: Item, change: Change) -> Iterator[Edit]:
        now, mark = current(item), change.mark
        if mark not in TOLD or mark is now or (mark is Mark.DOING and now is Mark.DONE):
            return
        yield from self._tick(item, mark)
        yield from self._settle(item, mark)
        status = item.first(STATUS)
        day = change.at.date().isoformat()
        told = _told(change, day)
        if status is None:
            if mark is not Mark.TODO:
                yield from self._update(item, told)
                yield self._put(item, [("Status", self._speller.say(mark)), *_missing(item, told)])
            return
        value = self._raw(status)
        if mark_of(status.own) is not mark:
            value = replaced(value, self._speller.say(mark, status.own), mark, day)
            yield self._set(status, value)
        yield from self._update(item, told)
        new = [_line(status.style, *line) for line in _missing(item, told) if not _noted(value, *line)]
        if new:
            above = status if mark is Mark.DOING else _last_told(item, status)
            yield self._after(above.stop - 1, new)

    def _tick(self, item: Item, mark: Mark) -> Iterator[Edit]:
        """` ✅` at the end of a title that is done now; none anywhere around one that is not."""
        start, stop = self._lines.starts[item.line], self._lines.starts[item.line + 1]
        line = self._text[start:stop].rstrip()
        open_ = line.rstrip("#")
        line = open_.rstrip() if open_ != line and open_[-1:].isspace() else line
        hashes = _HASHES.match(line)
        said = heading(line[hashes.end() :]) if hashes else None
        if hashes is None or said is None:
            return
        if mark is Mark.DONE and not said.ticked:
            yield Edit(start + len(line), start + len(line), _TICK)
        elif mark is not Mark.DONE and said.ticked:
            title = f"{said.number}.{said.gap}{said.title}" if said.title else f"{said.number}."
            yield Edit(start + hashes.end(), start + len(line), title)

    def _update(self, item: Item, told: list[tuple[str, str]]) -> Iterator[Edit]:
        """Lines that are there get the new value; what people wrote behind a date stays."""
        for key, value in told:
            there = item.first(key.lower())
            if there is not None:
                old = self._raw(there)
                date = _DATE.match(old)
                yield self._set(there, value + old[date.end() :] if date and key != REASON else value)

    def _settle(self, item: Item, mark: Mark) -> Iterator[Edit]:
        """What was in the way of a task that is done now is not any more; a reason of several lines is a person's."""
        reason = item.first(REASON.lower())
        if mark is Mark.DONE and reason is not None and reason.stop == reason.field.line + 1:
            starts = self._lines.starts
            yield Edit(starts[reason.field.line], starts[reason.stop], "")

    def _put(self, item: Item, told: list[tuple[str, str]]) -> Edit:
        """A status where there was none: above the first field, else under the heading, as the file usually does."""
        first = item.fields[0] if item.fields else None
        if first is not None and first.field.key in _TOP:
            at = self._lines.starts[first.field.line]
            eol = self._lines.end(first.field.line) or self._lines.eol
            return Edit(at, at, "".join(f"{_line(first.style, *line)}{eol}" for line in told))
        below = (self._lines.bare(number) for number in range(item.line + 1, item.stop))
        following = next((line for line in below if line.strip()), "")
        style = self._style
        # An indented line below would become part of a bullet.
        if following[:1].isspace() or not _BULLET.match(style.bullet):
            style = replace(style, bullet="")
        new = [_line(style, *line) for line in told]
        if item.line + 1 < len(self._lines) and self._lines.bare(item.line + 1).strip():
            new.append("")
        return self._after(item.line, new)

    def _after(self, number: int, new: list[str]) -> Edit:
        """Whole lines behind a line, ended as it is; a last line without an end stays without one."""
        end = self._lines.end(number)
        at = self._lines.starts[number + 1]
        text = "".join(line + end for line in new) if end else "".join(self._lines.eol + line for line in new)
        return Edit(at, at, text)

    def _raw(self, placed: Placed) -> str:
        return self._text[placed.start : placed.start + len(placed.own)]

    def _set(self, placed: Placed, value: str) -> Edit:
        space = "" if placed.style.gap else " "
        return Edit(placed.start, placed.start + len(placed.own), f"{space}{value}")


def _told(change: Change, day: str) -> list[tuple[str, str]]:
    """What the lines behind a status say."""
    told = []
    if change.mark in DATES:
        told.append((DATES[change.mark], day))
    reason = " ".join(printable(change.reason).split())
    if reason and change.mark in {Mark.BLOCKED, Mark.FAILED}:
        told.append((REASON, f"{reason[:_LONGEST].rstrip()}…" if len(reason) > _LONGEST else reason))
    return told


def _last_told(item: Item, status: Placed) -> Placed:
    """The last of the dates right below a status, else the status itself; a reason stands below them."""
    last, stop = status, status.stop
    for placed in item.fields:
        if placed.field.line == stop and placed.field.key in OWNED:
            stop = placed.stop
            last = last if placed.field.key == REASON.lower() else placed
    return last


def _missing(item: Item, told: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in told if item.first(key.lower()) is None]


def _noted(value: str, key: str, day: str) -> bool:
    """Whether the status says it already, in parentheses behind it."""
    return f"{key}: {day}".lower() in " ".join(value.split()).lower()


def _line(style: Style, key: str, value: str) -> str:
    colon = "**:" if "(" in style.colon else style.colon
    tail = style.tail if style.tail.strip(" ") == "" else ""
    return f"{style.bullet}**{key}{colon}{style.gap or ' '}{value}{tail}"
