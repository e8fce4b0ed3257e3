"""Statuses back into a numbered TODO: the status token, the dates and the reason, and the tick on the title."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.sources.formats.todo_items import FieldStyle, PlacedField, TodoItem, find_items, parse_heading
from plait.sources.formats.todo_status__status import (
    STATUS_FIELD,
    WRITABLE_STATUSES,
    StatusSpeller,
    get_current_status,
    parse_status_value as mark_of,
    replace_status,
)
from plait.sources.markdown import Markdown
from plait.sources.source_model import Rewrite, SourceStatus, StatusChange
from plait.sources.status_changes import TaskIndex, report_missing_task, select_file_changes
from plait.sources.text import BOM, TextEdit, apply_edits, to_printable

# The line that tells when a task got its status; a failure has none.
DATE_FIELDS = {
    SourceStatus.DOING: "Started",
    SourceStatus.DONE: "Completed",
    SourceStatus.BLOCKED: "Blocked",
    SourceStatus.SKIPPED: "Abandoned",
}
REASON_FIELD = "Blocking Reason"
STATUS_FIELDS = frozenset(
    {STATUS_FIELD, REASON_FIELD.lower(), *(key.lower() for key in DATE_FIELDS.values())}
)

_TICK = " \u2705"
_HASHES = re.compile(rf"{BOM}?[ ]{{0,3}}###[ \t]*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?(?![\w-])")
_BULLET = re.compile(r"[-*+][ \t]+\Z")
# Fields that stand together at the top of a task; a Description is a paragraph of its own.
_TOP_FIELDS = STATUS_FIELDS.union(
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
_MAX_REASON_LENGTH = 300


def write_todo_statuses(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    """All changes of one moment in one go. A task that says already what is asked for keeps every byte."""
    asked = select_file_changes(path, changes)
    if not asked:
        return Rewrite(text)
    pen = _TodoEditor(text)
    problems = []
    places: dict[int, tuple[TodoItem, StatusChange]] = {}
    for change in asked:
        item = pen.places.find(change)
        if item is None:
            problems.append(report_missing_task(change))
        else:
            places[item.line] = (item, change)
    edits = [edit for item, change in places.values() for edit in pen.make_edits(item, change)]
    return Rewrite(apply_edits(text, edits), tuple(problems))


class _TodoEditor:
    """Knows how a file is written. Places are found in the text as it can be shown; what is kept comes from the raw one."""

    def __init__(self, text: str) -> None:
        markdown = Markdown(to_printable(text))
        self._text = text
        self._lines = markdown.lines
        found = find_items(markdown)
        statuses = [status for item in found if (status := item.find(STATUS_FIELD))]
        self._speller = StatusSpeller(status.text for status in statuses)
        styles = Counter(
            status.style for status in statuses if status.style.bullet.strip() or not status.style.bullet
        )
        self._style = styles.most_common(1)[0][0] if styles else FieldStyle()
        self.places = TaskIndex(found, lambda item: item.id, lambda item: item.title)

    def make_edits(self, item: TodoItem, change: StatusChange) -> Iterator[TextEdit]:
        now, mark = get_current_status(item), change.status
        if (
            mark not in WRITABLE_STATUSES
            or mark is now
            or (mark is SourceStatus.DOING and now is SourceStatus.DONE)
        ):
            return
        yield from self._edit_tick(item, mark)
        yield from self._remove_reason(item, mark)
        status = item.find(STATUS_FIELD)
        day = change.at.date().isoformat()
        told = _status_lines(change, day)
        if status is None:
            if mark is not SourceStatus.TODO:
                yield from self._update_fields(item, told)
                yield self._insert_status(
                    item, [("Status", self._speller.spell(mark)), *_missing_fields(item, told)]
                )
            return
        value = self._raw_value(status)
        if mark_of(status.text) is not mark:
            value = replace_status(value, self._speller.spell(mark, status.text), mark, day)
            yield self._set_value(status, value)
        yield from self._update_fields(item, told)
        new = [
            _format_field(status.style, *line)
            for line in _missing_fields(item, told)
            if not _is_noted(value, *line)
        ]
        if new:
            above = status if mark is SourceStatus.DOING else _last_status_field(item, status)
            yield self._insert_lines(above.stop - 1, new)

    def _edit_tick(self, item: TodoItem, status: SourceStatus) -> Iterator[TextEdit]:
        """` ✅` at the end of a title that is done now; none anywhere around one that is not."""
        start, stop = self._lines.starts[item.line], self._lines.starts[item.line + 1]
        line = self._text[start:stop].rstrip()
        open_ = line.rstrip("#")
        line = open_.rstrip() if open_ != line and open_[-1:].isspace() else line
        hashes = _HASHES.match(line)
        said = parse_heading(line[hashes.end() :]) if hashes else None
        if hashes is None or said is None:
            return
        if status is SourceStatus.DONE and not said.is_ticked:
            yield TextEdit(start + len(line), start + len(line), _TICK)
        elif status is not SourceStatus.DONE and said.is_ticked:
            title = f"{said.number}.{said.gap}{said.title}" if said.title else f"{said.number}."
            yield TextEdit(start + hashes.end(), start + len(line), title)

    def _update_fields(self, item: TodoItem, told: list[tuple[str, str]]) -> Iterator[TextEdit]:
        """Lines that are there get the new value; what people wrote behind a date stays."""
        for key, value in told:
            there = item.find(key.lower())
            if there is not None:
                old = self._raw_value(there)
                date = _DATE.match(old)
                yield self._set_value(
                    there, value + old[date.end() :] if date and key != REASON_FIELD else value
                )

    def _remove_reason(self, item: TodoItem, status: SourceStatus) -> Iterator[TextEdit]:
        """What was in the way of a task that is done now is not any more; a reason of several lines is a person's."""
        reason = item.find(REASON_FIELD.lower())
        if status is SourceStatus.DONE and reason is not None and reason.stop == reason.field.line + 1:
            starts = self._lines.starts
            yield TextEdit(starts[reason.field.line], starts[reason.stop], "")

    def _insert_status(self, item: TodoItem, told: list[tuple[str, str]]) -> TextEdit:
        """A status where there was none: above the first field, else under the heading, as the file usually does."""
        first = item.fields[0] if item.fields else None
        if first is not None and first.field.key in _TOP_FIELDS:
            at = self._lines.starts[first.field.line]
            eol = self._lines.line_end(first.field.line) or self._lines.eol
            return TextEdit(at, at, "".join(f"{_format_field(first.style, *line)}{eol}" for line in told))
        below = (self._lines.strip_end(number) for number in range(item.line + 1, item.stop))
        following = next((line for line in below if line.strip()), "")
        style = self._style
        # An indented line below would become part of a bullet.
        if following[:1].isspace() or not _BULLET.match(style.bullet):
            style = replace(style, bullet="")
        new = [_format_field(style, *line) for line in told]
        if item.line + 1 < len(self._lines) and self._lines.strip_end(item.line + 1).strip():
            new.append("")
        return self._insert_lines(item.line, new)

    def _insert_lines(self, number: int, new: list[str]) -> TextEdit:
        """Whole lines behind a line, ended as it is; a last line without an end stays without one."""
        end = self._lines.line_end(number)
        at = self._lines.starts[number + 1]
        text = "".join(line + end for line in new) if end else "".join(self._lines.eol + line for line in new)
        return TextEdit(at, at, text)

    def _raw_value(self, placed: PlacedField) -> str:
        return self._text[placed.start : placed.start + len(placed.text)]

    def _set_value(self, placed: PlacedField, value: str) -> TextEdit:
        space = "" if placed.style.gap else " "
        return TextEdit(placed.start, placed.start + len(placed.text), f"{space}{value}")


def _status_lines(change: StatusChange, day: str) -> list[tuple[str, str]]:
    """What the lines behind a status say."""
    told = []
    if change.status in DATE_FIELDS:
        told.append((DATE_FIELDS[change.status], day))
    reason = " ".join(to_printable(change.reason).split())
    if reason and change.status in {SourceStatus.BLOCKED, SourceStatus.FAILED}:
        told.append(
            (
                REASON_FIELD,
                f"{reason[:_MAX_REASON_LENGTH].rstrip()}…" if len(reason) > _MAX_REASON_LENGTH else reason,
            )
        )
    return told


def _last_status_field(item: TodoItem, status: PlacedField) -> PlacedField:
    """The last of the dates right below a status, else the status itself; a reason stands below them."""
    last, stop = status, status.stop
    for placed in item.fields:
        if placed.field.line == stop and placed.field.key in STATUS_FIELDS:
            stop = placed.stop
            last = last if placed.field.key == REASON_FIELD.lower() else placed
    return last


def _missing_fields(item: TodoItem, told: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in told if item.find(key.lower()) is None]


def _is_noted(value: str, key: str, day: str) -> bool:
    """Whether the status says it already, in parentheses behind it."""
    return f"{key}: {day}".lower() in " ".join(value.split()).lower()


def _format_field(style: FieldStyle, key: str, value: str) -> str:
    colon = "**:" if "(" in style.colon else style.colon
    tail = style.tail if style.tail.strip(" ") == "" else ""
    return f"{style.bullet}**{key}{colon}{style.gap or ' '}{value}{tail}"
