"""What a status says, and how a file spells its statuses: `[IN PROGRESS]`, `In Progress`, `in-progress (Started: …)`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from enum import Enum, auto
from typing import TypeVar

from plait.core.frozen import dataclass
from plait.sources import words
from plait.sources.formats.todo.items import TICKS, Item
from plait.sources.model import Mark

T = TypeVar("T")

# How each status is said, the usual way first. What a file says more often than that is said in that file.
_SAID = {
    Mark.TODO: ("not started", "todo", "to do", "pending", "open"),
    Mark.DOING: ("in progress",),
    Mark.DONE: ("completed", "complete", "done", "finished", "closed"),
    Mark.SKIPPED: ("abandoned", "cancelled", "canceled", "skipped"),
    Mark.BLOCKED: ("blocked",),
    Mark.FAILED: ("failed",),
    Mark.PARTIAL: ("partial",),
}
TOLD = frozenset(_SAID)
STATUS = "status"

_LIMIT = 300  # a status is a word or two; a paragraph behind the colon is not searched for one
_ADDED = re.compile(r"\(|\s[-\u2013\u2014]\s|[\u2013\u2014:,;.]")
_CUT = re.compile(rf"{_ADDED.pattern}|\s(?:by|on|since|at|as of|because)\s", re.IGNORECASE)
_BRACKETED = re.compile(r"[^\w\[(]*\[(\s*[A-Za-z]{2}[^\]]*)\]")
_BOX = re.compile(r"\[.\]\s+")
_EMPHASIS = "*_`"
_LETTERS = re.compile(r"[A-Za-z]+")
_JOINED = re.compile(r"[A-Za-z]([ _-])[A-Za-z]")
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.]+(?:Z|[+-][0-9:]+)?)?"
_ENDED = re.compile(rf",?\s*\bCompleted\s*:\s*{_DATE}", re.IGNORECASE)
_PROGRESS = re.compile(r"\s*\(\s*[0-9]+(?:\s*/\s*[0-9]+|\s*%)[^()]*\)")
_EMPTY = re.compile(r"\(\s*,?\s*\)")


def mark(said: str) -> Mark | None:
    """The status that a value tells; what is added behind it (`Blocked by Task 5`, `Complete - all pass`) is passed over."""
    said = _unboxed(said[:_LIMIT])
    bracketed = _BRACKETED.match(said)
    for part in (said, bracketed[1] if bracketed else "", _CUT.split(said, maxsplit=1)[0]):
        found = words.mark(part)
        if found is not None:
            return found
    return None


def _unboxed(said: str) -> str:
    found = _BOX.match(said)
    return said[found.end() :] if found else said


class Case(Enum):
    UPPER = auto()
    TITLE = auto()
    SENTENCE = auto()
    LOWER = auto()

    def put(self, text: str) -> str:
        match self:
            case Case.UPPER:
                return text.upper()
            case Case.TITLE:
                return text.title()
            case Case.SENTENCE:
                return text.capitalize()
            case Case.LOWER:
                return text


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one status is written; None is what one word can't tell."""

    bracketed: bool
    case: Case | None
    joint: str | None

    @classmethod
    def of(cls, said: str) -> Spelling | None:
        head = _CUT.split(_unboxed(split(said)[0]), maxsplit=1)[0]
        letters = _LETTERS.findall(head)
        joint = _JOINED.search(head)
        if not letters:
            return None
        return cls("[" in head, _case(letters), joint[1] if joint else None)


def _case(letters: list[str]) -> Case | None:
    if all(word.isupper() for word in letters):
        return Case.UPPER
    if all(word.islower() for word in letters):
        return Case.LOWER
    if len(letters) == 1:
        return None
    return Case.TITLE if letters[1][0].isupper() else Case.SENTENCE


class Speller:
    """Says statuses as a file says them; learns from all of its statuses."""

    def __init__(self, said: Iterable[str]) -> None:
        values = [value[:_LIMIT] for value in said]
        spellings = [spelling for value in values if (spelling := Spelling.of(value))]
        self._bracketed = _most(spelling.bracketed for spelling in spellings)
        self._case = _most(spelling.case for spelling in spellings if spelling.case)
        self._joint = _most(spelling.joint for spelling in spellings if spelling.joint)
        self._words = Counter(" ".join(_LETTERS.findall(split(value)[0].lower())) for value in values)
        self._capital = any(spelling.case is None for spelling in spellings)

    def say(self, mark: Mark, instead: str = "") -> str:
        """The token for a status, in the style of the one that it takes the place of, else in the file's."""
        own = Spelling.of(instead[:_LIMIT])
        word = max(_SAID[mark], key=lambda word: self._words[word])
        if own is None:
            bracketed = self._bracketed is not False
            case = self._case or (Case.TITLE if self._capital else Case.UPPER)
        else:
            bracketed = own.bracketed
            case = own.case or (self._case if self._case in {Case.TITLE, Case.SENTENCE} else Case.TITLE)
        joint = (own.joint if own else None) or self._joint or " "
        token = case.put(word).replace(" ", joint)
        return f"[{token}]" if bracketed else token


def _most(values: Iterable[T]) -> T | None:
    common = Counter(values).most_common(1)
    return common[0][0] if common else None


def split(said: str) -> tuple[str, str]:
    """A status, and what is added to it."""
    bracketed = _BRACKETED.match(said[:_LIMIT])
    if bracketed:
        return said[: bracketed.end()], said[bracketed.end() :]
    head = _ADDED.split(said[:_LIMIT], maxsplit=1)[0].rstrip()
    return head, said[len(head) :]


def replaced(said: str, token: str, mark: Mark, day: str) -> str:
    """A status value with another token; emphasis and what is added stay."""
    head, note = split(said)
    lead = head[: len(head) - len(head.lstrip(_EMPHASIS))]
    trail = head[len(head.rstrip(_EMPHASIS)) :] if lead else ""
    return f"{lead}{token}{trail}{_followed(note, mark, day)}"


def _followed(note: str, mark: Mark, day: str) -> str:
    """Dates in a remark follow the status; a count of what is done goes when all is, and a tick when it is not."""
    if len(note) > _LIMIT:
        return note
    if mark is Mark.DONE:
        note = _PROGRESS.sub("", note)
    else:
        note = _ENDED.sub("", note).translate(dict.fromkeys(map(ord, TICKS)))
    key = noted_as(mark)
    if key:
        note = re.sub(rf"(\b{key}\s*:\s*){_DATE}", rf"\g<1>{day}", note, flags=re.IGNORECASE)
    return _EMPTY.sub("", note).rstrip()


def noted_as(mark: Mark) -> str:
    """The word under which a remark in parentheses dates a status."""
    return {Mark.DOING: "Started", Mark.DONE: "Completed"}.get(mark, "")


def current(item: Item) -> Mark:
    """A tick on the title says done, whatever the status says; a status that nobody knows says not started."""
    if item.heading.ticked:
        return Mark.DONE
    status = item.first(STATUS)
    return Mark.TODO if status is None else mark(status.own) or Mark.TODO
