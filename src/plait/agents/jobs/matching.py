"""Where a text is found in a file: exactly, else with its whitespace made alike; and what is nearest if it is not."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from plait.core.frozen import dataclass

_SHOWN = 6  # places that are named when there are several
_WIDTH = 200  # characters of a line that are compared
_TRIED = 20_000  # lines that are compared
_LIKE = 0.5


@dataclass(frozen=True, slots=True)
class Run:
    """Whole lines from `first` up to, without, `last` (from 0); `indents`: how the file indents what was looked for."""

    first: int
    last: int
    indents: Mapping[str, str]


class Page:
    """A file's text, and its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = (0, *accumulate(len(line) + 1 for line in self.lines))

    def line_of(self, offset: int) -> int:
        """From 0."""
        return bisect_left(self.starts, offset + 1) - 1

    def exact(self, find: Sequence[str], most: int = _SHOWN) -> list[int]:
        """The offsets at which the text is, as it is; also inside of a line."""
        needle, found, at = "\n".join(find), list[int](), -1
        while len(found) < most and (at := self.text.find(needle, at + 1)) >= 0:
            found.append(at)
        return found

    def runs(self, find: Sequence[str], most: int | None = _SHOWN) -> list[Run]:
        """The lines that are the same but for whitespace."""
        plain = [normal(line) for line in self.lines]
        starts = (0, *accumulate(len(line) + 1 for line in plain))
        hay, needle = "\n".join(("", *plain, "")), "\n".join(("", *map(normal, find), ""))
        found: list[Run] = []
        at = -1
        while (most is None or len(found) < most) and (at := hay.find(needle, at + 1)) >= 0:
            first = bisect_left(starts, at)
            last = first + len(find)
            found.append(Run(first, last, _indents(find, self.lines[first:last])))
        return found

    def nearest(self, find: Sequence[str]) -> str:
        """For a message: the line at which the text begins to differ, or the one that is most like its first."""
        wanted = [normal(line) for line in find]
        lines = [normal(line) for line in self.lines]
        begun = max(_begun(wanted, lines), default=(0, 0))
        if begun[0]:
            matched, place = begun[0], -begun[1]
            place += matched
            there = (
                f"line {place + 1} is {shown(self.lines[place])}" if place < len(lines) else "the file ends"
            )
            return f"it begins like line {place - matched + 1}, but then {there}, not {shown(find[matched])}"
        like = _most_like(wanted[0][:_WIDTH], lines[:_TRIED])
        if like is None:
            return "nothing in the file is like it"
        return f"the nearest is line {like + 1}: {shown(self.lines[like])}"


def normal(line: str) -> str:
    return " ".join(line.split())


def trimmed(lines: Sequence[str]) -> tuple[int, int]:
    """How many blank lines there are before and after what it says."""
    said = [place for place, line in enumerate(lines) if line.strip()]
    return (said[0], len(lines) - said[-1] - 1) if said else (0, len(lines))


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def reindented(lines: Sequence[str], indents: Mapping[str, str]) -> list[str]:
    """As the file has it: the indents that are known, and what is deeper than one of them below it."""
    return [_reindented(line, indents) if line.strip() else line.strip() for line in lines]


def shown(line: str) -> str:
    plain = "".join(each if each.isprintable() else " " for each in line.strip()[:120])
    return f"`{plain if len(plain) < 100 else plain[:99] + chr(0x2026)}`"


def _reindented(line: str, indents: Mapping[str, str]) -> str:
    mine = indent_of(line)
    if mine in indents:
        return indents[mine] + line[len(mine) :]
    under = [each for each in indents if mine.startswith(each)]
    if under:
        base = max(under, key=len)
        deeper = mine[len(base) :]
        if "\t" in "".join(indents.values()) and not deeper.strip(" "):
            deeper = "\t" * max(1, len(deeper) // 4)
        return indents[base] + deeper + line[len(mine) :]
    # Further out than anything that was looked for: as much further out as it was.
    least = min(indents, key=len, default="")
    there = indents.get(least, "")
    return there[: max(0, len(there) - (len(least) - len(mine)))] + line[len(mine) :]


def _indents(find: Sequence[str], there: Sequence[str]) -> dict[str, str]:
    known: dict[str, str] = {}
    for mine, other in zip(find, there, strict=True):
        if mine.strip():
            known.setdefault(indent_of(mine), indent_of(other))
    return known


def _begun(wanted: Sequence[str], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """How many lines are the same from each place at which the first one is, and that place, the earliest greatest."""
    if len(wanted) < 2:
        return
    tried = 0
    for place, line in enumerate(lines):
        if line == wanted[0] and line and tried < _TRIED:
            count = 1
            while (
                count < len(wanted) and place + count < len(lines) and lines[place + count] == wanted[count]
            ):
                count += 1
            tried += count
            if count < len(wanted):
                yield count, -place


def _most_like(wanted: str, lines: Sequence[str]) -> int | None:
    matcher = SequenceMatcher(b=wanted, autojunk=False)
    best, place = _LIKE, None
    for at, line in enumerate(lines):
        matcher.set_seq1(line[:_WIDTH])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, place = matcher.ratio(), at
    return place
