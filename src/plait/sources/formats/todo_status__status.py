"""What a status says, and how a file spells its statuses: `[IN PROGRESS]`, `In Progress`, `in-progress (Started: …)`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from enum import Enum, auto
from typing import TypeVar

from plait.core.fast_dataclass import dataclass
from plait.sources import vocabulary
from plait.sources.formats.todo_items import TICK_MARKS, TodoItem
from plait.sources.source_model import SourceStatus

T = TypeVar("T")

# How each status is said, the usual way first. What a file says more often than that is said in that file.
_STATUS_SPELLINGS = {
    SourceStatus.TODO: ("not started", "todo", "to do", "pending", "open"),
    SourceStatus.DOING: ("in progress",),
    SourceStatus.DONE: ("completed", "complete", "done", "finished", "closed"),
    SourceStatus.SKIPPED: ("abandoned", "cancelled", "canceled", "skipped"),
    SourceStatus.BLOCKED: ("blocked",),
    SourceStatus.FAILED: ("failed",),
    SourceStatus.PARTIAL: ("partial",),
}
WRITABLE_STATUSES = frozenset(_STATUS_SPELLINGS)
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
    """The status that a value tells; what is added behind it (`Blocked by Task 5`, `Complete - all pass`) is passed over."""
    value = _strip_checkbox(value[:_MAX_STATUS_LENGTH])
    bracketed = _BRACKETED.match(value)
    for part in (value, bracketed[1] if bracketed else "", _CUT.split(value, maxsplit=1)[0]):
        found = vocabulary.parse_status(part)
        if found is not None:
            return found
    return None


def _strip_checkbox(value: str) -> str:
    found = _BOX.match(value)
    return value[found.end() :] if found else value


class LetterCase(Enum):
    UPPER = auto()
    TITLE = auto()
    SENTENCE = auto()
    LOWER = auto()

    def convert(self, text: str) -> str:
        match self:
            case LetterCase.UPPER:
                return text.upper()
            case LetterCase.TITLE:
                return text.title()
            case LetterCase.SENTENCE:
                return text.capitalize()
            case LetterCase.LOWER:
                return text


@dataclass(frozen=True, slots=True)
class StatusSpelling:
    """How one status is written; None is what one word can't tell."""

    bracketed: bool
    case: LetterCase | None
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
        return LetterCase.UPPER
    if all(word.islower() for word in letters):
        return LetterCase.LOWER
    if len(letters) == 1:
        return None
    return LetterCase.TITLE if letters[1][0].isupper() else LetterCase.SENTENCE


class StatusSpeller:
    """Says statuses as a file says them; learns from all of its statuses."""

    def __init__(self, said: Iterable[str]) -> None:
        values = [value[:_MAX_STATUS_LENGTH] for value in said]
        spellings = [spelling for value in values if (spelling := StatusSpelling.detect(value))]
        self._bracketed = _most_common(spelling.bracketed for spelling in spellings)
        self._case = _most_common(spelling.case for spelling in spellings if spelling.case)
        self._joint = _most_common(spelling.separator for spelling in spellings if spelling.separator)
        self._words = Counter(" ".join(_LETTERS.findall(split_status(value)[0].lower())) for value in values)
        self._capital = any(spelling.case is None for spelling in spellings)

    def spell(self, status: SourceStatus, instead: str = "") -> str:
        """The token for a status, in the style of the one that it takes the place of, else in the file's."""
        own = StatusSpelling.detect(instead[:_MAX_STATUS_LENGTH])
        word = max(_STATUS_SPELLINGS[status], key=lambda word: self._words[word])
        if own is None:
            bracketed = self._bracketed is not False
            case = self._case or (LetterCase.TITLE if self._capital else LetterCase.UPPER)
        else:
            bracketed = own.bracketed
            case = own.case or (
                self._case if self._case in {LetterCase.TITLE, LetterCase.SENTENCE} else LetterCase.TITLE
            )
        joint = (own.separator if own else None) or self._joint or " "
        token = case.convert(word).replace(" ", joint)
        return f"[{token}]" if bracketed else token


def _most_common(values: Iterable[T]) -> T | None:
    common = Counter(values).most_common(1)
    return common[0][0] if common else None


def split_status(value: str) -> tuple[str, str]:
    """A status, and what is added to it."""
    bracketed = _BRACKETED.match(value[:_MAX_STATUS_LENGTH])
    if bracketed:
        return value[: bracketed.end()], value[bracketed.end() :]
    head = _ADDED.split(value[:_MAX_STATUS_LENGTH], maxsplit=1)[0].rstrip()
    return head, value[len(head) :]


def replace_status(value: str, token: str, status: SourceStatus, day: str) -> str:
    """A status value with another token; emphasis and what is added stay."""
    head, note = split_status(value)
    lead = head[: len(head) - len(head.lstrip(_EMPHASIS))]
    trail = head[len(head.rstrip(_EMPHASIS)) :] if lead else ""
    return f"{lead}{token}{trail}{_update_note(note, status, day)}"


def _update_note(note: str, status: SourceStatus, day: str) -> str:
    """Dates in a remark follow the status; a count of what is done goes when all is, and a tick when it is not."""
    if len(note) > _MAX_STATUS_LENGTH:
        return note
    if status is SourceStatus.DONE:
        note = _PROGRESS.sub("", note)
    else:
        note = _ENDED.sub("", note).translate(dict.fromkeys(map(ord, TICK_MARKS)))
    key = get_date_word(status)
    if key:
        note = re.sub(rf"(\b{key}\s*:\s*){_DATE_PATTERN}", rf"\g<1>{day}", note, flags=re.IGNORECASE)
    return _EMPTY.sub("", note).rstrip()


def get_date_word(status: SourceStatus) -> str:
    """The word under which a remark in parentheses dates a status."""
    return {SourceStatus.DOING: "Started", SourceStatus.DONE: "Completed"}.get(status, "")


def get_current_status(item: TodoItem) -> SourceStatus:
    """A tick on the title says done, whatever the status says; a status that nobody knows says not started."""
    if item.heading.is_ticked:
        return SourceStatus.DONE
    status = item.find(STATUS_FIELD)
    return SourceStatus.TODO if status is None else parse_status_value(status.text) or SourceStatus.TODO
