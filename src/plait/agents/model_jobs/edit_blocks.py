"""Flaw: why an answer can't be taken, in words for a person and for the model that is asked again.

The edits of an answer: FILE, FIND, REPLACE, END; or AFTER, INSERT, END with an optional SCOPE.

A label is in capitals at a line's beginning. What a FIND holds ends with REPLACE; what is put in ends with the last END
before the next block: so `end`, `file:` and even an END of their own may be in the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from plait.agents.model_jobs.code_blocks import clean_answer
from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AnswerError:
    """`path` is the file that it is about, as the answer spells it; "" for the answer as a whole."""

    message: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def format_errors(errors: Iterable[AnswerError], max_errors: int = 12) -> str:
    """As a list, for feedback."""
    lines = [f"- {flaw}" for flaw in errors]
    more = [f"- and {len(lines) - max_errors} more"] if len(lines) > max_errors else []
    return "\n".join([*lines[:max_errors], *more])


_LABEL = re.compile(r"[ ]{0,3}(?:\*\*)?(FILE|FIND|REPLACE|AFTER|INSERT|SCOPE):(?:\*\*)?(?:[ \t]+(.*+)|[ \t]*+)\Z")
_END = re.compile(r"[ ]{0,3}(?:\*\*)?END(?:\*\*)?[ \t]*+\Z")
_SECOND_LABEL = {"FIND": "REPLACE", "AFTER": "INSERT"}
_MAX_EDIT_ERRORS = 20  # nobody reads more of them
_START_LABELS = frozenset({"FILE", "FIND", "AFTER", "SCOPE"})


@dataclass(frozen=True, slots=True)
class Edit:
    """`find` becomes `put`, once. `path` None: the answer does not say where. `line` is that of the answer."""

    path: str | None
    find: tuple[str, ...]
    put: tuple[str, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Insertion:
    """`put` comes after each place of `find`; with a scope, after those in the blocks that a line with it begins."""

    path: str | None
    find: tuple[str, ...]
    put: tuple[str, ...]
    scope: str | None = None
    line: int = 0


Change = Edit | Insertion


@dataclass(frozen=True, slots=True)
class ParsedEdits:
    """`rest` is the answer without the edits: talk, and files as a whole."""

    changes: tuple[Change, ...]
    errors: tuple[AnswerError, ...]
    rest: str


def has_edits(said: str) -> bool:
    """It has a label that only edits have."""
    lines = clean_answer(said).split("\n")
    return any((label := _parse_label(line)) is not None and label[0] in _SECOND_LABEL for line in lines)


def parse_edits(said: str) -> ParsedEdits:
    """In the order of the answer."""
    reader = _EditReader(clean_answer(said).split("\n"))
    reader.read()
    return ParsedEdits(tuple(reader.found), tuple(reader.errors), "\n".join(reader.rest))


class _EditReader:
    def __init__(self, lines: Sequence[str]) -> None:
        self.found: list[Change] = []
        self.errors: list[AnswerError] = []
        self.rest: list[str] = []
        self._lines = lines
        self._path: str | None = None
        self._scope: str | None = None
        self._strict = any(_END.match(line) for line in lines)

    def read(self) -> None:
        at = 0
        while at < len(self._lines) and len(self.errors) < _MAX_EDIT_ERRORS:
            label = _parse_label(self._lines[at])
            name, text = label or ("", "")
            if name in _SECOND_LABEL:
                at = self._read_block(at, name, text)
                continue
            self.rest.append(self._lines[at])
            if name == "FILE":
                self._path, self._scope = _strip_quotes(text) or None, None
            elif name == "SCOPE":
                at = self._read_scope(at, text)
            at += 1

    def _read_scope(self, at: int, text: str) -> int:
        """What it says is on its line, or the next one. It holds until the next FILE or SCOPE."""
        if not text.strip() and at + 1 < len(self._lines) and _parse_label(self._lines[at + 1]) is None:
            at += 1
            text = self._lines[at]
        self._scope = text.strip().strip("`") or None
        return at

    def _read_block(self, at: int, name: str, text: str) -> int:
        """From FIND or AFTER to the END; gives the line after it."""
        second = _SECOND_LABEL[name]
        middle, following = self._find_label(at + 1, second)
        if middle is None:
            self._add_error(at, f"{name} without {second}: it was cut off, or is not in the right form")
            return following
        find = _block_lines(text, self._lines[at + 1 : middle])
        label = _parse_label(self._lines[middle])
        assert label is not None
        end, following = self._find_end(middle + 1, loose=name == "AFTER" and not self._strict)
        if end is None:
            self._add_error(at, f"{second} without END: the answer was cut off")
            return following
        if (inner := self._find_inner_edit(middle + 1, end)) is not None:
            self._add_error(at, f"{second} without END before line {inner + 1}: each edit ends with END")
            return following
        put = _block_lines(label[1], self._lines[middle + 1 : end])
        if name == "AFTER" and not self._strict:
            put = _strip_trailing(put)
        self._add(at, name, find, put, end)
        return following

    def _add(self, at: int, name: str, find: tuple[str, ...], put: tuple[str, ...], end: int) -> None:
        if not any(line.strip() for line in find):
            self._add_error(at, f"{name} is empty")
        elif name == "FIND":
            self.found.append(Edit(self._path, find, put, at + 1))
        else:
            scope = self._scope or self._trailing_scope(end)
            self.found.append(Insertion(self._path, find, put, scope, at + 1))

    def _trailing_scope(self, end: int) -> str | None:
        """A scope that is said last, where no other block follows that it could be about."""
        for place in range(end, min(end + 4, len(self._lines))):
            label = _parse_label(self._lines[place])
            if label is not None:
                last = self._next_block(place + 1) == len(self._lines)
                return _strip_quotes(label[1]) or None if label[0] == "SCOPE" and last else None
        return None

    def _find_label(self, at: int, name: str) -> tuple[int | None, int]:
        """The label's line, unless the block ends before it; and where to go on then."""
        for place in range(at, len(self._lines)):
            label = _parse_label(self._lines[place])
            if label is not None and label[0] == name:
                return place, place
            if _END.match(self._lines[place]) and self._starts_block(place + 1):
                return None, place + 1
        return None, len(self._lines)

    def _find_end(self, at: int, *, loose: bool) -> tuple[int | None, int]:
        """The last END before the next block, and where that begins. Where no END is used at all, the block itself."""
        last = None
        for place in range(at, len(self._lines)):
            if _END.match(self._lines[place]):
                last = place
            label = _parse_label(self._lines[place])
            if label is not None and label[0] in _START_LABELS and (last is not None or loose):
                return (place if last is None else last), place
        if last is None and loose:
            return len(self._lines), len(self._lines)
        return last, len(self._lines)

    def _find_inner_edit(self, at: int, end: int) -> int | None:
        """Where another whole edit begins in what is put in: an END was forgotten, rather than that one is meant."""
        begun: dict[str, int] = {}
        for place in range(at, end):
            name = (_parse_label(self._lines[place]) or ("",))[0]
            if name in _SECOND_LABEL:
                begun.setdefault(_SECOND_LABEL[name], place)
            elif name in begun:
                return begun[name]
        return None

    def _starts_block(self, at: int) -> bool:
        """After blank lines there is another block, or nothing."""
        following = next((line for line in self._lines[at:] if line.strip()), None)
        label = None if following is None else _parse_label(following)
        return following is None or (label is not None and label[0] in _START_LABELS)

    def _next_block(self, at: int) -> int:
        places = range(at, len(self._lines))
        found = (p for p in places if (label := _parse_label(self._lines[p])) is not None and label[0] in _START_LABELS)
        return next(found, len(self._lines))

    def _add_error(self, at: int, message: str) -> None:
        self.errors.append(AnswerError(f"line {at + 1} of the answer: {message}", self._path or ""))


def _parse_label(line: str) -> tuple[str, str] | None:
    found = _LABEL.match(line)
    return None if found is None else (found[1], found[2] or "")


def _block_lines(inline: str, lines: Sequence[str]) -> tuple[str, ...]:
    return (inline, *lines) if inline.strip() else tuple(lines)


def _strip_trailing(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Without the blank lines, and the fence, between a text without END and what follows it."""
    count = len(lines)
    while count and (not lines[count - 1].strip() or lines[count - 1].strip() == "```"):
        count -= 1
    return lines[:count]


def _strip_quotes(said: str) -> str:
    return said.strip().strip("*`\"' \t").rstrip(":").strip("`\"' ")
