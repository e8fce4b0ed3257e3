"""The status in a file's front matter, written back in the same place, case and quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.sources import vocabulary
from plait.sources.front_matter import FrontMatter
from plait.sources.source_model import Document, SourceStatus, make_warning
from plait.sources.status_changes import (
    Rewrite,
    StatusChange,
    StatusFileWriter,
    TaskIndex,
    changes_status,
    list_changed_files,
    select_file_changes,
)
from plait.sources.task_files import get_folder
from plait.sources.text import TextEdit, apply_edits, to_printable

_KEY = "status"


@dataclass(frozen=True, slots=True)
class StatusKey:
    """How a format with one task per file writes statuses, and identifies a file's task.

    `time_key` names a key that holds the time of the status, if the file has it.
    """

    todo: str
    doing: str
    done: str
    id_of: Callable[[Document], str]
    title_of: Callable[[Document], str]
    time_key: str | None = None

    def word_for(self, status: SourceStatus) -> str:
        return {SourceStatus.DOING: self.doing, SourceStatus.DONE: self.done}.get(status, self.todo)

    def writers(self, path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
        """One for each file of the source that these changes are about."""
        return [
            StatusFileWriter(file, partial(self.write, file)) for file in list_changed_files(get_folder(path), changes)
        ]

    def write(self, path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
        """The one task of this file with its new status."""
        problems: list[Problem] = []
        for change in select_file_changes(path, changes):
            document = Document(path, to_printable(text))
            matched, missing = TaskIndex([document], self.id_of, self.title_of).match([change])
            problems += missing
            if not matched:
                continue
            edits = _make_edits(document, change, self)
            written = None if edits is None else apply_edits(text, edits)
            if written is None or not _changes_only_status(document, Document(path, to_printable(written)), self):
                message = f"the status of {change.id} ({change.status}) has no place in the front matter"
                hint = "Put a plain line status: into it. The status is kept in plait's own records."
                problems.append(make_warning(document, 0, message, hint))
            else:
                text = written
        return Rewrite(text, tuple(problems))


def read_status_key(document: Document, keys: FrontMatter, required: str) -> tuple[SourceStatus, str]:
    """Read the status and its text; an unknown status is reported and counts as not started.

    Without readable front matter a task can't be run; `required` names the keys that it should have.
    """
    if not keys.is_present:
        message = "no front matter: this task can't be run"
        keys.problems.append(make_warning(document, 0, message, f"Give it {required}."))
    if keys.is_broken or not keys.is_present:
        return SourceStatus.UNREADABLE, ""
    value = keys.text(_KEY) or ""
    mark = vocabulary.parse_status(value)
    if mark is None and value:
        message = f"{value[:60]} is not a known status; the task counts as not started"
        keys.problems.append(make_warning(document, keys.line(_KEY), message))
    if not keys.has(_KEY):
        message = "no status; the task counts as not started, and no status can be written"
        keys.problems.append(make_warning(document, keys.line(_KEY), message, "Put a line status: into it."))
    return mark or SourceStatus.TODO, value


def _make_edits(document: Document, change: StatusChange, style: StatusKey) -> list[TextEdit] | None:
    """None if there is no place to write to."""
    values = FrontMatter(document).values
    value = values.get(_KEY)
    if value is None or value.span is None:
        return None
    mark = _status_to_write(vocabulary.parse_status(value.text), change.status)
    if mark is None:
        return []
    edits = [_replace_value(document.text, value.span, _match_style(style.word_for(mark), value.text))]
    stamp = values.get(style.time_key) if style.time_key else None
    if stamp is not None and stamp.span is not None:
        edits.append(_replace_value(document.text, stamp.span, vocabulary.format_time(change.at)))
    return edits


def _status_to_write(now: SourceStatus | None, asked: SourceStatus) -> SourceStatus | None:
    """The status to write, None to keep the old one. These files know neither failed nor blocked: both are to do."""
    if not changes_status(now, asked):
        return None
    match asked:
        case SourceStatus.DONE | SourceStatus.DOING:
            return asked
        case SourceStatus.TODO:
            return None if now is None else SourceStatus.TODO
        case SourceStatus.FAILED | SourceStatus.BLOCKED:
            return SourceStatus.TODO if now in {SourceStatus.DOING, SourceStatus.DONE} else None
        case SourceStatus.PARTIAL | SourceStatus.SKIPPED:
            return SourceStatus.TODO if now is SourceStatus.DOING else None
        case SourceStatus.STUCK | SourceStatus.UNREADABLE:
            return None


def _replace_value(text: str, span: tuple[int, int], new: str) -> TextEdit:
    start, stop = span
    if start == stop:
        return TextEdit(start, stop, new if text[start - 1 : start] == " " else f" {new}")
    quote = text[start] if text[start] in "'\"" else ""
    return TextEdit(start, stop, f"{quote}{new}{quote}")


def _match_style(word: str, like: str) -> str:
    """A status as this file writes its own: its case, and what it puts between words."""
    between = re.search(r"\w([-_])\w", like)
    if between:
        word = re.sub(r"[ -]", between[1], word)
    if like.islower():
        return word.lower()
    return word.upper() if like.isupper() else word.title() if like else word


def _changes_only_status(before: Document, after: Document, style: StatusKey) -> bool:
    """Nothing but the status and its time reads differently."""
    first, second = FrontMatter(before).values, FrontMatter(after).values
    own_keys = {_KEY, style.time_key}
    return first.keys() == second.keys() and all(
        (first[key].text, first[key].items, first[key].pairs)
        == (second[key].text, second[key].items, second[key].pairs)
        for key in first
        if key not in own_keys
    )
