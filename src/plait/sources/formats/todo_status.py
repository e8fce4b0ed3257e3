"""Statuses in a numbered TODO: how the file spells them, and writing a new one with its date, reason and tick."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from plait.core.fast_dataclass import dataclass
from plait.sources import vocabulary
from plait.sources.formats.todo_items import TICK_MARKS, FieldStyle, PlacedField, TodoItem, find_items, parse_heading
from plait.sources.markdown import Markdown, defers_tasks
from plait.sources.source_model import SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, TaskIndex, changes_status, select_file_changes
from plait.sources.text import BOM, TextEdit, apply_edits, to_printable

T = TypeVar("T")
LetterCase = Callable[[str], str]

# Spellings of each status, the usual one first; a file's own most frequent one is preferred.
STATUS_SPELLINGS = {
    SourceStatus.TODO: ("not started", "todo", "to do", "pending", "open"),
    SourceStatus.DOING: ("in progress",),
    SourceStatus.DONE: ("completed", "complete", "done", "finished", "closed"),
    SourceStatus.SKIPPED: ("abandoned", "cancelled", "canceled", "skipped"),
    SourceStatus.BLOCKED: ("blocked",),
    SourceStatus.FAILED: ("failed",),
    SourceStatus.PARTIAL: ("partial",),
}

STATUS_FIELD = "status"
_MAX_STATUS_LENGTH = 300  # a status is a word or two; a paragraph behind the colon is not searched for one
_ADDED = re.compile(r"\(|\s[-\u2013\u2014]\s|[\u2013\u2014:,;.]")
_CUT = re.compile(rf"{_ADDED.pattern}|\s(?:by|on|since|at|as of|because)\s", re.IGNORECASE)
_BRACKETED = re.compile(r"[^\w\[(]*\[(\s*[A-Za-z]{2}[^\]]*)\]")
_BOX = re.compile(r"\[.\]\s+")
_EMPHASIS = "*_`"
_LETTERS = re.compile(r"[A-Za-z]+")
_JOINED = re.compile(r"[A-Za-z]([ _-])[A-Za-z]")
_DATE_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?"
_ENDED = re.compile(rf",?\s*\bCompleted\s*:\s*{_DATE_PATTERN}", re.IGNORECASE)
_PROGRESS = re.compile(r"\s*\(\s*[0-9]+(?:\s*/\s*[0-9]+|\s*%)[^()]*\)")
_EMPTY = re.compile(r"\(\s*,?\s*\)")


def parse_status_value(value: str) -> SourceStatus | None:
    """Return the status of a value; remarks after it (`Blocked by Task 5`, `Complete - all pass`) are ignored."""
    value = _strip_checkbox(value[:_MAX_STATUS_LENGTH])
    bracketed = _BRACKETED.match(value)
    for part in (value, bracketed[1] if bracketed else "", _CUT.split(value, maxsplit=1)[0]):
        status = vocabulary.parse_status(part)
        if status is not None:
            return status
    return None


def _strip_checkbox(value: str) -> str:
    match = _BOX.match(value)
    return value[match.end() :] if match else value


@dataclass(frozen=True, slots=True)
class StatusSpelling:
    """How one status is written; a part is None if a single word doesn't show it."""

    bracketed: bool
    case: LetterCase | None  # as a function that converts a word
    separator: str | None

    @classmethod
    def detect(cls, value: str) -> StatusSpelling | None:
        head = _CUT.split(_strip_checkbox(split_status(value)[0]), maxsplit=1)[0]
        letters = _LETTERS.findall(head)
        joint = _JOINED.search(head)
        if not letters:
            return None
        return cls("[" in head, _detect_case(letters), joint[1] if joint else None)


def _detect_case(letters: list[str]) -> LetterCase | None:
    if all(word.isupper() for word in letters):
        return str.upper
    if all(word.islower() for word in letters):
        return str.lower
    if len(letters) == 1:
        return None
    return str.title if letters[1][0].isupper() else str.capitalize


class StatusSpeller:
    """Spells statuses as the file does."""

    def __init__(self, statuses: Iterable[str]) -> None:
        values = [value[:_MAX_STATUS_LENGTH] for value in statuses]
        spellings = [spelling for value in values if (spelling := StatusSpelling.detect(value))]
        self._bracketed = _most_common(spelling.bracketed for spelling in spellings)
        self._case = _most_common(spelling.case for spelling in spellings if spelling.case)
        self._joint = _most_common(spelling.separator for spelling in spellings if spelling.separator)
        self._words = Counter(" ".join(_LETTERS.findall(split_status(value)[0].lower())) for value in values)
        self._capital = any(spelling.case is None for spelling in spellings)

    def spell(self, status: SourceStatus, instead: str = "") -> str:
        """Return the word for a status, in the style of the one it replaces, else in the file's."""
        own = StatusSpelling.detect(instead[:_MAX_STATUS_LENGTH])
        word = max(STATUS_SPELLINGS[status], key=lambda word: self._words[word])
        if own is None:
            bracketed = self._bracketed is not False
            case = self._case or (str.title if self._capital else str.upper)
        else:
            bracketed = own.bracketed
            case = own.case or (str.capitalize if self._case is str.capitalize else str.title)
        joint = (own.separator if own else None) or self._joint or " "
        token = case(word).replace(" ", joint)
        return f"[{token}]" if bracketed else token


def _most_common(values: Iterable[T]) -> T | None:
    common = Counter(values).most_common(1)
    return common[0][0] if common else None


def split_status(value: str) -> tuple[str, str]:
    """Split a value into the status and the remark after it."""
    bracketed = _BRACKETED.match(value[:_MAX_STATUS_LENGTH])
    if bracketed:
        return value[: bracketed.end()], value[bracketed.end() :]
    head = _ADDED.split(value[:_MAX_STATUS_LENGTH], maxsplit=1)[0].rstrip()
    return head, value[len(head) :]


def replace_status(value: str, token: str, status: SourceStatus, day: str) -> str:
    """Replace the status in a value; emphasis and remark stay."""
    head, note = split_status(value)
    lead = head[: len(head) - len(head.lstrip(_EMPHASIS))]
    trail = head[len(head.rstrip(_EMPHASIS)) :] if lead else ""
    return f"{lead}{token}{trail}{_update_note(note, status, day)}"


def _update_note(note: str, status: SourceStatus, day: str) -> str:
    """Update dates in a remark; drop a progress count when done, and a tick when not."""
    if len(note) > _MAX_STATUS_LENGTH:
        return note
    if status is SourceStatus.DONE:
        note = _PROGRESS.sub("", note)
    else:
        note = _ENDED.sub("", note).translate(dict.fromkeys(map(ord, TICK_MARKS)))
    key = {SourceStatus.DOING: "Started", SourceStatus.DONE: "Completed"}.get(status)
    if key:
        note = re.sub(rf"(\b{key}\s*:\s*){_DATE_PATTERN}", rf"\g<1>{day}", note, flags=re.IGNORECASE)
    return _EMPTY.sub("", note).rstrip()


def get_current_status(item: TodoItem) -> SourceStatus:
    """Return a task's status. A tick on the title means done, whatever the field; unknown means to do."""
    if item.heading.is_ticked:
        return SourceStatus.DONE
    status = item.find(STATUS_FIELD)
    if status is None:
        return SourceStatus.SKIPPED if item.section and defers_tasks(item.section.text) else SourceStatus.TODO
    return parse_status_value(status.text) or SourceStatus.TODO


# The field with the date of a status; a failure has none.
DATE_FIELDS = {
    SourceStatus.DOING: "Started",
    SourceStatus.DONE: "Completed",
    SourceStatus.BLOCKED: "Blocked",
    SourceStatus.SKIPPED: "Abandoned",
}

REASON_FIELD = "Blocking Reason"
STATUS_FIELDS = frozenset({STATUS_FIELD, REASON_FIELD.lower(), *(key.lower() for key in DATE_FIELDS.values())})
_TICK = " \u2705"
_HASHES = re.compile(rf"{BOM}?[ ]{{0,3}}###[ \t]*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?(?![\w-])")
_BULLET = re.compile(r"[-*+][ \t]+\Z")

# Fields that are together at the top of a task; a Description is a separate paragraph.
_TOP_FIELDS = STATUS_FIELDS.union(
    ("effort", "priority", "language", "blocking", "dependencies", "depends on", "type", "task type", "created")
)

_MAX_REASON_LENGTH = 300


def write_todo_statuses(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    """Apply all changes. A task that has its status already keeps every byte."""
    own_changes = select_file_changes(path, changes)
    if not own_changes:
        return Rewrite(text)
    editor = _TodoEditor(text)
    matched, problems = editor.tasks.match(own_changes)
    edits = [edit for item, change in matched for edit in editor.make_edits(item, change)]
    return Rewrite(apply_edits(text, edits), problems)


class _TodoEditor:
    """Edits a file in its own style. Positions are found in the printable text; what stays comes from the raw one."""

    def __init__(self, text: str) -> None:
        markdown = Markdown(to_printable(text))
        self._text = text
        self._lines = markdown.lines
        items = find_items(markdown)
        statuses = [status for item in items if (status := item.find(STATUS_FIELD))]
        self._speller = StatusSpeller(status.text for status in statuses)
        styles = Counter(status.style for status in statuses if status.style.bullet.strip() or not status.style.bullet)
        self._style = styles.most_common(1)[0][0] if styles else FieldStyle()
        self.tasks = TaskIndex(items, lambda item: item.id, lambda item: item.title)

    def make_edits(self, item: TodoItem, change: StatusChange) -> Iterator[TextEdit]:
        now, wanted = get_current_status(item), change.status
        if wanted not in STATUS_SPELLINGS or not changes_status(now, wanted):
            return
        yield from self._edit_tick(item, wanted)
        yield from self._remove_reason(item, wanted)
        status = item.find(STATUS_FIELD)
        day = change.at.date().isoformat()
        new_fields = _list_status_fields(change, day)
        if status is None:
            if wanted is not SourceStatus.TODO:
                yield from self._update_fields(item, new_fields)
                yield self._insert_status(
                    item, [("Status", self._speller.spell(wanted)), *_list_missing_fields(item, new_fields)]
                )
            return
        value = self._read_raw_value(status)
        if parse_status_value(status.text) is not wanted:
            value = replace_status(value, self._speller.spell(wanted, status.text), wanted, day)
            yield self._set_value(status, value)
        yield from self._update_fields(item, new_fields)
        new = [
            _format_field(status.style, *line)
            for line in _list_missing_fields(item, new_fields)
            if not _is_noted(value, line[0])
        ]
        if new:
            above = status if wanted is SourceStatus.DOING else _find_last_status_field(item, status)
            yield self._insert_lines(above.stop - 1, new)

    def _edit_tick(self, item: TodoItem, status: SourceStatus) -> Iterator[TextEdit]:
        """Add ` ✅` to the title of a finished task; remove it from any other."""
        start, stop = self._lines.starts[item.line], self._lines.starts[item.line + 1]
        line = self._text[start:stop].rstrip()
        open_ = line.rstrip("#")
        line = open_.rstrip() if open_ != line and open_[-1:].isspace() else line
        hashes = _HASHES.match(line)
        heading = parse_heading(line[hashes.end() :]) if hashes else None
        if hashes is None or heading is None:
            return
        if status is SourceStatus.DONE and not heading.is_ticked:
            yield TextEdit(start + len(line), start + len(line), _TICK)
        elif status is not SourceStatus.DONE and heading.is_ticked:
            title = f"{heading.number}.{heading.gap}{heading.title}" if heading.title else f"{heading.number}."
            yield TextEdit(start + hashes.end(), start + len(line), title)

    def _update_fields(self, item: TodoItem, new_fields: list[tuple[str, str]]) -> Iterator[TextEdit]:
        """Update existing lines with the new value; text after a date stays."""
        for key, value in new_fields:
            existing = item.find(key.lower())
            if existing is not None:
                old = self._read_raw_value(existing)
                date = _DATE.match(old)
                yield self._set_value(existing, value + old[date.end() :] if date and key != REASON_FIELD else value)

    def _remove_reason(self, item: TodoItem, status: SourceStatus) -> Iterator[TextEdit]:
        """Remove the reason of a task that is done now, unless it has several lines: then a person wrote it."""
        reason = item.find(REASON_FIELD.lower())
        if status is SourceStatus.DONE and reason is not None and reason.stop == reason.field.line + 1:
            starts = self._lines.starts
            yield TextEdit(starts[reason.field.line], starts[reason.stop], "")

    def _insert_status(self, item: TodoItem, new_fields: list[tuple[str, str]]) -> TextEdit:
        """Insert a status: above the first field, else under the heading, as the file usually does."""
        first = item.fields[0] if item.fields else None
        if first is not None and first.field.key in _TOP_FIELDS:
            at = self._lines.starts[first.field.line]
            eol = self._lines.line_end(first.field.line) or self._lines.eol
            return TextEdit(at, at, "".join(f"{_format_field(first.style, *line)}{eol}" for line in new_fields))
        below = (self._lines.strip_end(number) for number in range(item.line + 1, item.stop))
        following = next((line for line in below if line.strip()), "")
        style = self._style
        # An indented line below would become part of a bullet.
        if following[:1].isspace() or not _BULLET.match(style.bullet):
            style = replace(style, bullet="")
        new = [_format_field(style, *line) for line in new_fields]
        if item.line + 1 < len(self._lines) and self._lines.strip_end(item.line + 1).strip():
            new.append("")
        return self._insert_lines(item.line, new)

    def _insert_lines(self, number: int, new: list[str]) -> TextEdit:
        """Insert whole lines after a line, with its line end; a last line without an end stays without one."""
        end = self._lines.line_end(number)
        at = self._lines.starts[number + 1]
        text = "".join(line + end for line in new) if end else "".join(self._lines.eol + line for line in new)
        return TextEdit(at, at, text)

    def _read_raw_value(self, placed: PlacedField) -> str:
        return self._text[placed.start : placed.start + len(placed.text)]

    def _set_value(self, placed: PlacedField, value: str) -> TextEdit:
        space = "" if placed.style.gap else " "
        return TextEdit(placed.start, placed.start + len(placed.text), f"{space}{value}")


def _list_status_fields(change: StatusChange, day: str) -> list[tuple[str, str]]:
    """Return the fields that follow a status: its dates and its reason."""
    new_fields = []
    if change.started is not None and change.status in {SourceStatus.DONE, SourceStatus.FAILED}:
        new_fields.append((DATE_FIELDS[SourceStatus.DOING], change.started.date().isoformat()))
    if change.status in DATE_FIELDS:
        new_fields.append((DATE_FIELDS[change.status], day))
    reason = " ".join(to_printable(change.reason).split())
    if reason and change.status in {SourceStatus.BLOCKED, SourceStatus.FAILED}:
        new_fields.append(
            (REASON_FIELD, f"{reason[:_MAX_REASON_LENGTH].rstrip()}…" if len(reason) > _MAX_REASON_LENGTH else reason)
        )
    return new_fields


def _find_last_status_field(item: TodoItem, status: PlacedField) -> PlacedField:
    """Return the last of the dates right below a status, else the status itself; a reason comes after them."""
    last, stop = status, status.stop
    for placed in item.fields:
        if placed.field.line == stop and placed.field.key in STATUS_FIELDS:
            stop = placed.stop
            last = last if placed.field.key == REASON_FIELD.lower() else placed
    return last


def _list_missing_fields(item: TodoItem, new_fields: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in new_fields if item.find(key.lower()) is None]


def _is_noted(value: str, key: str) -> bool:
    """Whether the status already has this date in parentheses."""
    return re.search(rf"\b{key}\s*:\s*{_DATE_PATTERN}", value, re.IGNORECASE) is not None


def _format_field(style: FieldStyle, key: str, value: str) -> str:
    colon = "**:" if "(" in style.colon else style.colon
    tail = style.tail if style.tail.strip(" ") == "" else ""
    return f"{style.bullet}**{key}{colon}{style.gap or ' '}{value}{tail}"
