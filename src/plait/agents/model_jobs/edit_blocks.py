"""The edits in an answer: FILE, FIND, REPLACE, END; or AFTER, INSERT, END with an optional SCOPE.

A label is in capitals at the start of a line. A FIND ends with REPLACE; a replacement ends with the last END before the
next block: so the texts may contain `end`, `file:` and even END.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from plait.agents.model_jobs.code_blocks import clean_answer
from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AnswerError:
    """A reason why an answer can't be used. `path` is the file as the answer spells it; "" for the whole answer."""

    message: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def format_errors(errors: Iterable[AnswerError], max_errors: int = 12) -> str:
    """List the errors for feedback."""
    lines = [f"- {flaw}" for flaw in errors]
    rest = [f"- and {len(lines) - max_errors} more"] if len(lines) > max_errors else []
    return "\n".join([*lines[:max_errors], *rest])


_LABEL = re.compile(r"[ ]{0,3}(?:\*\*)?(FILE|FIND|REPLACE|AFTER|INSERT|SCOPE):(?:\*\*)?(?:[ \t]+(.*+)|[ \t]*+)\Z")
_END = re.compile(r"[ ]{0,3}(?:\*\*)?END(?:\*\*)?[ \t]*+\Z")
_SECOND_LABEL = {"FIND": "REPLACE", "AFTER": "INSERT"}
_MAX_EDIT_ERRORS = 20
_START_LABELS = frozenset({"FILE", "FIND", "AFTER", "SCOPE"})


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces `find` by `put`, once. `path` None: the answer names no file. `line` is that of the answer."""

    path: str | None
    find: tuple[str, ...]
    put: tuple[str, ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Insertion:
    """Inserts `put` after each occurrence of `find`; with a scope, only in blocks that start with a line containing it."""

    path: str | None
    find: tuple[str, ...]
    put: tuple[str, ...]
    scope: str | None = None
    line: int = 0


Change = Edit | Insertion


@dataclass(frozen=True, slots=True)
class ParsedEdits:
    """The edits of an answer. `rest` is the answer without them: prose and whole files."""

    changes: tuple[Change, ...]
    errors: tuple[AnswerError, ...]
    rest: str


def has_edits(text: str) -> bool:
    """Whether the answer has a label that only edits have."""
    lines = clean_answer(text).split("\n")
    return any(_parse_label(line)[0] in _SECOND_LABEL for line in lines)


def parse_edits(text: str) -> ParsedEdits:
    """Parse the edits, in the order of the answer."""
    reader = _EditReader(clean_answer(text).split("\n"))
    reader.read()
    return ParsedEdits(tuple(reader.found), tuple(reader.errors), "\n".join(reader.rest))


class _EditReader:
    def __init__(self, lines: Sequence[str]) -> None:
        self.found: list[Change] = []
        self.errors: list[AnswerError] = []
        self.rest: list[str] = []
        self._lines = lines
        self._labels = [_parse_label(line) for line in lines]
        self._path: str | None = None
        self._scope: str | None = None
        self._strict = any(_END.match(line) for line in lines)

    def read(self) -> None:
        at = 0
        while at < len(self._lines) and len(self.errors) < _MAX_EDIT_ERRORS:
            name, text = self._labels[at]
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
        """Read a scope from the same line or the next; it applies until the next FILE or SCOPE."""
        if not text.strip() and at + 1 < len(self._lines) and not self._labels[at + 1][0]:
            at += 1
            text = self._lines[at]
        self._scope = text.strip().strip("`") or None
        return at

    def _read_block(self, at: int, name: str, text: str) -> int:
        """Read from FIND or AFTER to END; return the line after it."""
        second = _SECOND_LABEL[name]
        middle, following = self._find_label(at + 1, second)
        if middle is None:
            self._add_error(at, f"{name} without {second}: cut off, or in the wrong form")
            return following
        find = _block_lines(text, self._lines[at + 1 : middle])
        end, following = self._find_end(middle + 1, loose=name == "AFTER" and not self._strict)
        if end is None:
            self._add_error(at, f"{second} without END: the answer was cut off")
            return following
        if (inner := self._find_inner_edit(middle + 1, end)) is not None:
            self._add_error(at, f"{second} without END before line {inner + 1}: each edit ends with END")
            return following
        put = _block_lines(self._labels[middle][1], self._lines[middle + 1 : end])
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
        """Return a SCOPE after the block, if no other block follows that it could belong to."""
        for index in range(end, min(end + 4, len(self._lines))):
            name, text = self._labels[index]
            if name:
                last = not any(following in _START_LABELS for following, _ in self._labels[index + 1 :])
                return _strip_quotes(text) or None if name == "SCOPE" and last else None
        return None

    def _find_label(self, at: int, name: str) -> tuple[int | None, int]:
        """Return the label's line, or None if the block ends before it; and where to continue then."""
        for index in range(at, len(self._lines)):
            if self._labels[index][0] == name:
                return index, index
            if _END.match(self._lines[index]) and self._starts_block(index + 1):
                return None, index + 1
        return None, len(self._lines)

    def _find_end(self, at: int, *, loose: bool) -> tuple[int | None, int]:
        """Return the last END before the next block, and the start of that; `loose`: the block may end without END."""
        last = None
        for index in range(at, len(self._lines)):
            if _END.match(self._lines[index]):
                last = index
            if self._labels[index][0] in _START_LABELS and (last is not None or loose):
                return (index if last is None else last), index
        if last is None and loose:
            return len(self._lines), len(self._lines)
        return last, len(self._lines)

    def _find_inner_edit(self, at: int, end: int) -> int | None:
        """Return the start of another whole edit inside a replacement: an END was forgotten. Else None."""
        begun: dict[str, int] = {}
        for index in range(at, end):
            name, _ = self._labels[index]
            if name in _SECOND_LABEL:
                begun.setdefault(_SECOND_LABEL[name], index)
            elif name in begun:
                return begun[name]
        return None

    def _starts_block(self, at: int) -> bool:
        """Whether another block, or nothing, follows after blank lines."""
        following = next((index for index in range(at, len(self._lines)) if self._lines[index].strip()), None)
        return following is None or self._labels[following][0] in _START_LABELS

    def _add_error(self, at: int, message: str) -> None:
        self.errors.append(AnswerError(f"line {at + 1} of the answer: {message}", self._path or ""))


def _parse_label(line: str) -> tuple[str, str]:
    """Return the label and the text after it; "" for both if the line has none."""
    match = _LABEL.match(line)
    return (match[1], match[2] or "") if match else ("", "")


def _block_lines(inline: str, lines: Sequence[str]) -> tuple[str, ...]:
    return (inline, *lines) if inline.strip() else tuple(lines)


def _strip_trailing(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Remove blank lines and the fence after a text that has no END."""
    count = len(lines)
    while count and (not lines[count - 1].strip() or lines[count - 1].strip() == "```"):
        count -= 1
    return lines[:count]


def _strip_quotes(text: str) -> str:
    return text.strip().strip("*`\"' \t").rstrip(":").strip("`\"' ")
