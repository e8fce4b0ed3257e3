"""Searching in files: a text exactly or regardless of whitespace, the most similar line; blocks, and literals of a struct."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from plait.core.fast_dataclass import dataclass

_MAX_MATCHES = 6  # named in a message
_COMPARED_CHARS = 200  # of a line
_MAX_COMPARED_LINES = 20_000
_MIN_SIMILARITY = 0.5


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines from `first` to before `last`, from 0; `indents` maps the searched text's indents to the file's."""

    first: int
    last: int
    indents: Mapping[str, str]


class FileText:
    """A file's text, and its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = (0, *accumulate(len(line) + 1 for line in self.lines))

    def line_at(self, offset: int) -> int:
        """From 0."""
        return bisect_left(self.starts, offset + 1) - 1

    def find_exact(self, find: Sequence[str], most: int = _MAX_MATCHES) -> list[int]:
        """The offsets of exact occurrences, also inside a line."""
        needle, found, at = "\n".join(find), list[int](), -1
        while len(found) < most and (at := self.text.find(needle, at + 1)) >= 0:
            found.append(at)
        return found

    def find_lines(self, find: Sequence[str], most: int | None = _MAX_MATCHES) -> list[LineRange]:
        """Lines that are equal except for whitespace."""
        plain = [normalize_whitespace(line) for line in self.lines]
        starts = (0, *accumulate(len(line) + 1 for line in plain))
        hay, needle = "\n".join(("", *plain, "")), "\n".join(("", *map(normalize_whitespace, find), ""))
        found: list[LineRange] = []
        at = -1
        while (most is None or len(found) < most) and (at := hay.find(needle, at + 1)) >= 0:
            first = bisect_left(starts, at)
            last = first + len(find)
            found.append(LineRange(first, last, _map_indents(find, self.lines[first:last])))
        return found

    def describe_nearest(self, find: Sequence[str]) -> str:
        """For a message: where the text starts to differ, or the line most similar to its first."""
        wanted = [normalize_whitespace(line) for line in find]
        lines = [normalize_whitespace(line) for line in self.lines]
        begun = max(_find_partial_matches(wanted, lines), default=(0, 0))
        if begun[0]:
            matched, place = begun[0], -begun[1]
            place += matched
            there = f"line {place + 1} is {quote_line(self.lines[place])}" if place < len(lines) else "the file ends"
            return f"it starts like line {place - matched + 1}, but then {there}, not {quote_line(find[matched])}"
        like = _find_most_similar(wanted[0][:_COMPARED_CHARS], lines[:_MAX_COMPARED_LINES])
        if like is None:
            return "nothing in the file is similar"
        return f"the nearest is line {like + 1}: {quote_line(self.lines[like])}"


def normalize_whitespace(line: str) -> str:
    return " ".join(line.split())


def count_blank_edges(lines: Sequence[str]) -> tuple[int, int]:
    """The numbers of blank lines at the start and the end."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    return (filled[0], len(lines) - filled[-1] - 1) if filled else (0, len(lines))


def get_indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def reindent(lines: Sequence[str], indents: Mapping[str, str]) -> list[str]:
    """With the file's indents; a line indented further than a known one keeps the difference."""
    return [_reindent_line(line, indents) if line.strip() else line.strip() for line in lines]


def quote_line(line: str) -> str:
    plain = "".join(each if each.isprintable() else " " for each in line.strip()[:120])
    return f"`{plain if len(plain) < 100 else plain[:99] + chr(0x2026)}`"


def _reindent_line(line: str, indents: Mapping[str, str]) -> str:
    mine = get_indent(line)
    if mine in indents:
        return indents[mine] + line[len(mine) :]
    under = [each for each in indents if mine.startswith(each)]
    if under:
        base = max(under, key=len)
        deeper = mine[len(base) :]
        if "\t" in "".join(indents.values()) and not deeper.strip(" "):
            deeper = "\t" * max(1, len(deeper) // 4)
        return indents[base] + deeper + line[len(mine) :]
    # Less indented than anything in the searched text: keep the difference.
    least = min(indents, key=len, default="")
    there = indents.get(least, "")
    return there[: max(0, len(there) - (len(least) - len(mine)))] + line[len(mine) :]


def _map_indents(find: Sequence[str], there: Sequence[str]) -> dict[str, str]:
    known: dict[str, str] = {}
    for mine, other in zip(find, there, strict=True):
        if mine.strip():
            known.setdefault(get_indent(mine), get_indent(other))
    return known


def _find_partial_matches(wanted: Sequence[str], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """For each occurrence of the first line: the number of equal lines, and the negated position."""
    if len(wanted) < 2:
        return
    tried = 0
    for place, line in enumerate(lines):
        if line == wanted[0] and line and tried < _MAX_COMPARED_LINES:
            count = 1
            while count < len(wanted) and place + count < len(lines) and lines[place + count] == wanted[count]:
                count += 1
            tried += count
            if count < len(wanted):
                yield count, -place


def _find_most_similar(wanted: str, lines: Sequence[str]) -> int | None:
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    best, place = _MIN_SIMILARITY, None
    for at, line in enumerate(lines):
        matcher.set_seq1(line[:_COMPARED_CHARS])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, place = matcher.ratio(), at
    return place


_PAIRS = {"{": "}", "(": ")", "[": "]"}
_BRACKET = re.compile(r"[{}()\[\]]|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|//[^\n]*")
_MAX_LITERAL_CHARS = 20_000

_DEFINITION = re.compile(
    r"\b(?:struct|impl|class|enum|interface|type|trait|union|record|fn|func|def|function|for|extends|import|use)\b[^={;]*\Z|->\s*\Z"
)


def find_scopes(lines: Sequence[str], begins: str) -> tuple[range, ...]:
    """Each line with this text and what is indented below it; without such lines, all that follows."""
    found: list[range] = []
    for place, line in enumerate(lines):
        if begins in line and (not found or place >= found[-1].stop):
            found.append(range(place, _block_end(lines, place)))
    return tuple(found)


def _block_end(lines: Sequence[str], begin: int) -> int:
    """The first line after the indented ones."""
    depth, inner = len(get_indent(lines[begin])), False
    for place in range(begin + 1, len(lines)):
        if not lines[place].strip():
            continue
        deeper = len(get_indent(lines[place])) > depth
        if inner and not deeper:
            return place
        inner = inner or deeper
    return len(lines)


def find_name_mentions(text: str, name: str) -> list[range]:
    """From each occurrence of the name to the end of its bracket, or of its line."""
    return [range(found.start(), _bracket_end(text, found.end())) for found in _word_pattern(name).finditer(text)]


def find_literals(text: str, name: str) -> list[range]:
    """The mentions that create a value: the name right before a bracket, and no definition."""
    found: list[range] = []
    for match in _word_pattern(name).finditer(text):
        line = text.rfind("\n", 0, match.start()) + 1
        before = text[line : match.start()]
        opens = re.match(r"\s*[{(]", text[match.end() : match.end() + 40])
        if opens and not _DEFINITION.search(before[-200:]):
            found.append(range(match.start(), _bracket_end(text, match.end())))
    return found


def _word_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _bracket_end(text: str, at: int) -> int:
    """The end of the bracket that is opened on this line or at the start of the next; else the end of the line."""
    line = text.find("\n", at)
    line = len(text) if line < 0 else line
    upto = text.find("\n", line + 1)
    opened = next((m for m in _BRACKET.finditer(text, at, len(text) if upto < 0 else upto) if m[0] in _PAIRS), None)
    if opened is None or (opened.start() > line and text[line : opened.start()].strip()):
        return line
    depth = 0
    for each in _BRACKET.finditer(text, opened.start(), min(len(text), at + _MAX_LITERAL_CHARS)):
        depth += each[0] in _PAIRS
        depth -= each[0] in _PAIRS.values()
        if depth == 0:
            return each.end()
    return line
