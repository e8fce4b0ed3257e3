"""The text of a file, byte for byte: lossless decoding, lines with their ends, edits that touch nothing else.

Also a line diff, and a three-way merge that never loses an added line: a line that either side removed is removed;
changes at one place are made once if they are equal, otherwise the lines of both sides stay, theirs last.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

from plait.core.fast_dataclass import dataclass

BOM = "\ufeff"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_END = re.compile(r"(?:\r\n|\r|\n)\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def decode(data: bytes) -> str:
    """Decode without loss: `encode` restores bytes that are not UTF-8."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def to_printable(text: str) -> str:
    """Return the text as it may be shown, stored and sent: bytes that were not UTF-8, and NUL, become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text).replace("\0", "\ufffd")


def find_invalid_utf8_line(text: str) -> int | None:
    """Return the first line (from 1) with bytes that are not UTF-8, or None."""
    match = _SURROGATE.search(text)
    return None if match is None else len(_LINE.findall(text, 0, match.start() + 1))


@dataclass(frozen=True)
class TextLines:
    """The lines of a text with their ends; numbers start at 0, as the markdown parser counts them."""

    text: str

    @cached_property
    def all(self) -> list[str]:
        return _LINE.findall(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """The position in the text where each line begins, and the end of the text."""
        starts = [0]
        for line in self.all:
            starts.append(starts[-1] + len(line))
        return starts

    def __len__(self) -> int:
        return len(self.all)

    def line_at(self, position: int) -> int:
        """Return the number of the line at a position of the text."""
        return bisect_right(self.starts, position, hi=max(len(self.all), 1)) - 1

    def strip_end(self, number: int) -> str:
        """Return a line without its end, and without the byte order mark."""
        line = _END.sub("", self.all[number])
        return line.removeprefix(BOM) if number == 0 else line

    def line_end(self, number: int) -> str:
        """Return the end of this line; empty for a last line without one."""
        return self.all[number][len(_END.sub("", self.all[number])) :]

    @cached_property
    def eol(self) -> str:
        """The line end of this file, which is that of its first line."""
        return self.line_end(0) or "\n" if self.all else "\n"


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """Replaces the text from `start` to `stop` with `new`."""

    start: int
    stop: int
    new: str


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """Apply all edits; they must not overlap, and inserts at one place stay in their order."""
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.stop)):
        assert edit.start >= done, "edits overlap"
        parts += (text[done : edit.start], edit.new)
        done = edit.stop
    parts.append(text[done:])
    return "".join(parts)


Pair = tuple[int, int]
Span = tuple[int, int, int, int]  # from and to, in the one and in the other
# Lines that are all alike are compared with each other only in stretches of this size (the product of both).
_MAX_PAIRS_COMPARED = 40_000


def match_lines(one: Sequence[str], other: Sequence[str]) -> list[Pair]:
    """Return the indexes of lines that both have, in order; no two pairs cross.

    Patience diff: lines that each side has only once hold the rest together, so that a blank line or a `---` is never
    mistaken for another one far away.
    """
    pairs: list[Pair] = []
    spans: list[Span] = [(0, len(one), 0, len(other))]
    while spans:
        a, a_end, b, b_end = _trim_equal_ends(one, other, spans.pop(), pairs)
        if a == a_end or b == b_end:
            continue
        anchors = _find_anchors(one, other, (a, a_end, b, b_end))
        if anchors:
            pairs += anchors
            edges = [(a - 1, b - 1), *anchors, (a_end, b_end)]
            spans += [(i + 1, j, k + 1, m) for (i, k), (j, m) in pairwise(edges)]
        elif (a_end - a) * (b_end - b) <= _MAX_PAIRS_COMPARED:
            pairs += _match_blocks(one, other, (a, a_end, b, b_end))
    return sorted(pairs)


def _trim_equal_ends(one: Sequence[str], other: Sequence[str], span: Span, pairs: list[Pair]) -> Span:
    """Return the span without its equal beginning and end, which are added to `pairs`."""
    a, a_end, b, b_end = span
    while a < a_end and b < b_end and one[a] == other[b]:
        pairs.append((a, b))
        a, b = a + 1, b + 1
    while a < a_end and b < b_end and one[a_end - 1] == other[b_end - 1]:
        a_end, b_end = a_end - 1, b_end - 1
        pairs.append((a_end, b_end))
    return a, a_end, b, b_end


def _find_anchors(one: Sequence[str], other: Sequence[str], span: Span) -> list[Pair]:
    """Pair the lines that occur once in each side, as many as are in the same order in both."""
    a, a_end, b, b_end = span
    counts, other_counts = Counter(one[a:a_end]), Counter(other[b:b_end])
    index_by_line = {other[index]: index for index in range(b, b_end) if other_counts[other[index]] == 1}
    unique = [(i, index_by_line[one[i]]) for i in range(a, a_end) if counts[one[i]] == 1 and one[i] in index_by_line]
    return find_longest_rising(unique)


def find_longest_rising(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the longest run of pairs whose second numbers rise."""
    ends: list[int] = []  # the smallest second number that a run of each length can end with
    last: list[int] = []  # ... and which pair that is
    previous: list[int] = []
    for index, (_, value) in enumerate(pairs):
        length = bisect_left(ends, value)
        previous.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [value]
        last[length : length + 1] = [index]
    run: list[Pair] = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = previous[index]
    return run[::-1]


def _match_blocks(one: Sequence[str], other: Sequence[str], span: Span) -> list[Pair]:
    a, a_end, b, b_end = span
    matcher = SequenceMatcher(None, one[a:a_end], other[b:b_end], autojunk=False)
    return [(a + i + n, b + j + n) for i, j, size in matcher.get_matching_blocks() for n in range(size)]


def find_changes(base: Sequence[str], side: Sequence[str]) -> Iterator[tuple[int, int, Sequence[str]]]:
    """Yield where a side differs from the base (from one index to another), and the side's lines there."""
    start = side_start = 0
    for i, j in [*match_lines(base, side), (len(base), len(side))]:
        if i > start or j > side_start:
            yield start, i, side[side_start:j]
        start, side_start = i + 1, j + 1


@dataclass(frozen=True, slots=True)
class _SideChanges:
    """The changes of a side: lines `added` before an index, `replaced` from an index, or `removed`."""

    added: dict[int, Sequence[str]] = field(default_factory=dict)
    replaced: dict[int, Sequence[str]] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)


def merge_texts(base: str, ours: str, theirs: str) -> str:
    """Merge the changes that `ours` and `theirs` made to `base`."""
    old, a, b = _split_lines(base), _split_lines(ours), _split_lines(theirs)
    our_changes, their_changes = _diff_side(old, a), _diff_side(old, b)
    once = _find_unique_lines(a) & _find_unique_lines(b)
    merged: list[str] = []
    done = 0
    for index in sorted({*our_changes.added, *our_changes.removed, *their_changes.added, *their_changes.removed}):
        merged += old[done:index]
        merged += _merge_lines(our_changes.added.get(index, []), their_changes.added.get(index, []), once)
        merged += _merge_lines(our_changes.replaced.get(index, []), their_changes.replaced.get(index, []), once)
        done = index + 1 if index in our_changes.removed or index in their_changes.removed else index
    merged += old[done:]
    if not _ends_with_newline(ours if _ends_with_newline(theirs) == _ends_with_newline(base) else theirs):
        merged[-1:] = [line.rstrip("\r\n") for line in merged[-1:]]
    return "".join(merged)


def find_ancestor(known_texts: Sequence[str], theirs: str) -> str:
    """Return the version that `theirs` was made from, without lines that its author may not have seen.

    So a line counts as removed only if it was in every version that they may have seen.
    """
    texts = list(dict.fromkeys(known_texts))
    versions = [_split_lines(text) for text in texts]
    lines = _split_lines(theirs)
    candidates: list[tuple[bool, int, str]] = []
    for text, version in zip(texts, versions, strict=True):
        kept = {index for index, _ in match_lines(version, lines)}
        visible = kept | _find_common_indexes(version, versions)
        fits = len(visible) == len(version)
        candidates.append(
            (fits, 2 * len(kept) - len(version), text if fits else "".join(version[index] for index in sorted(visible)))
        )
    return max(candidates, key=itemgetter(0, 1))[2]


def _find_common_indexes(version: list[str], versions: list[list[str]]) -> set[int]:
    """Return the indexes of lines that all versions have."""
    indexes = set(range(len(version)))
    for other in versions:
        if other is not version:
            indexes &= {index for index, _ in match_lines(version, other)}
    return indexes


def _diff_side(base: list[str], lines: list[str]) -> _SideChanges:
    side = _SideChanges()
    for start, stop, new in find_changes(base, lines):
        (side.replaced if stop > start else side.added)[start] = new
        side.removed.update(range(start, stop))
    return side


def _merge_lines(ours: Sequence[str], theirs: Sequence[str], once: set[str]) -> list[str]:
    """Merge lines that both sides added at one place. A line that occurs once in each is the same line; between those
    come ours, then theirs.
    """
    index_by_line = {line: index for index, line in enumerate(theirs) if line in once}
    same = find_longest_rising(
        [(index, index_by_line[line]) for index, line in enumerate(ours) if line in index_by_line]
    )
    merged: list[str] = []
    i = j = 0
    for ours_index, theirs_index in [*same, (len(ours), len(theirs))]:
        merged += _concatenate(ours[i:ours_index], theirs[j:theirs_index])
        merged += ours[ours_index : ours_index + 1]
        i, j = ours_index + 1, theirs_index + 1
    return merged


def _concatenate(ours: Sequence[str], theirs: Sequence[str]) -> Sequence[str]:
    if _is_subsequence(theirs, ours):
        return ours
    return theirs if _is_subsequence(ours, theirs) else [*ours, *theirs]


def _is_subsequence(part: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in part)


def _find_unique_lines(lines: list[str]) -> set[str]:
    return {line for line, count in Counter(lines).items() if count == 1}


def _split_lines(text: str) -> list[str]:
    """Split into lines that all have an end, so that nothing is ever glued to the last one."""
    lines = TextLines(text)
    return lines.all if _ends_with_newline(text) else [*lines.all[:-1], lines.all[-1] + lines.eol]


def _ends_with_newline(text: str) -> bool:
    return not text or text.endswith(("\n", "\r"))
