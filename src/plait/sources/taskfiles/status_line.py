"""The status in a file's front matter: read as words, and written as words in the same place, case and quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from plait.core.frozen import dataclass
from plait.core.plan import Problem
from plait.sources import words
from plait.sources.found import files, find, gone, own
from plait.sources.model import Change, Document, Mark, Rewrite, Writer
from plait.sources.report import warning
from plait.sources.taskfiles.files import folder_of
from plait.sources.taskfiles.keys import Keys
from plait.sources.text import Edit, apply, printable

_KEY = "status"


@dataclass(frozen=True, slots=True)
class StatusLine:
    """How a format with one task in each file writes statuses, and how it knows a file's task again.

    `stamp` is a key that, where there is one, tells when the status was written.
    """

    todo: str
    doing: str
    done: str
    id_of: Callable[[Document], str]
    title_of: Callable[[Document], str]
    stamp: str | None = None

    def word(self, mark: Mark) -> str:
        return {Mark.DOING: self.doing, Mark.DONE: self.done}.get(mark, self.todo)

    def writers(self, path: str, changes: Sequence[Change]) -> list[Writer]:
        """One for each file of the source that these changes are about."""
        return [Writer(file, partial(self.write, file)) for file in files(folder_of(path), changes)]

    def write(self, path: str, text: str, changes: Sequence[Change]) -> Rewrite:
        """The one task of this file with its new status."""
        problems: list[Problem] = []
        for change in own(path, changes):
            document = Document(path, printable(text))
            if find(change, [document], self.id_of, self.title_of) is None:
                problems.append(gone(change))
                continue
            edits = _edits(document, change, self)
            written = None if edits is None else apply(text, edits)
            if written is None or not _kept(document, Document(path, printable(written)), self):
                message = f"the status of {change.id} ({change.mark}) has no place in the front matter"
                hint = "Put a plain line status: into it. The status is kept in plait's own records."
                problems.append(warning(document, 0, message, hint))
            else:
                text = written
        return Rewrite(text, tuple(problems))


def read(document: Document, keys: Keys) -> tuple[Mark, str]:
    """How far a task is, and in which words; words that mean nothing here are told, and count as not started."""
    said = keys.text(_KEY) or ""
    mark = words.mark(said)
    if mark is None and said:
        message = f"{said[:60]} is not a status that is known here; the task counts as not started"
        keys.problems.append(warning(document, keys.line(_KEY), message))
    if not keys.has(_KEY):
        message = "there is no status; the task counts as not started, and no status can be written"
        keys.problems.append(warning(document, keys.line(_KEY), message, "Put a line status: into it."))
    return mark or Mark.TODO, said


def _edits(document: Document, change: Change, style: StatusLine) -> list[Edit] | None:
    """None if there is no place to write to."""
    values = Keys(document).values
    value = values.get(_KEY)
    if value is None or value.span is None:
        return None
    mark = _wanted(words.mark(value.text), change.mark)
    if mark is None:
        return []
    edits = [_put(document.text, value.span, _styled(style.word(mark), value.text))]
    stamp = values.get(style.stamp) if style.stamp else None
    if stamp is not None and stamp.span is not None:
        edits.append(_put(document.text, stamp.span, moment(change.at)))
    return edits


def _wanted(now: Mark | None, asked: Mark) -> Mark | None:
    """What to write; None to leave it as it is. These files tell neither failed nor blocked: that is to do again."""
    if now is asked:
        return None
    match asked:
        case Mark.DONE:
            return Mark.DONE
        case Mark.DOING:
            return None if now is Mark.DONE else Mark.DOING
        case Mark.TODO:
            return None if now is None else Mark.TODO
        case Mark.FAILED | Mark.BLOCKED:
            return Mark.TODO if now in {Mark.DOING, Mark.DONE} else None
        case Mark.PARTIAL | Mark.SKIPPED:
            return Mark.TODO if now is Mark.DOING else None
        case Mark.STUCK | Mark.UNREADABLE:
            return None


def _put(text: str, span: tuple[int, int], new: str) -> Edit:
    start, stop = span
    if start == stop:
        return Edit(start, stop, new if text[start - 1 : start] == " " else f" {new}")
    quote = text[start] if text[start] in "'\"" else ""
    return Edit(start, stop, f"{quote}{new}{quote}")


def _styled(word: str, like: str) -> str:
    """A status as this file writes its own: its case, and what it puts between words."""
    between = re.search(r"\w([-_])\w", like)
    if between:
        word = re.sub(r"[ -]", between[1], word)
    if like.islower():
        return word.lower()
    return word.upper() if like.isupper() else word.title() if like else word


def moment(at: datetime) -> str:
    """A time as it is written into files: `2026-03-14T09:26:53Z`."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _kept(before: Document, after: Document, style: StatusLine) -> bool:
    """Nothing but the status and its time reads differently."""
    first, second = Keys(before).values, Keys(after).values
    own_keys = {_KEY, style.stamp}
    return first.keys() == second.keys() and all(
        (first[key].text, first[key].items, first[key].pairs)
        == (second[key].text, second[key].items, second[key].pairs)
        for key in first
        if key not in own_keys
    )
