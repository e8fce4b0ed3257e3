"""Which lines two versions of a text share. Linear where few lines differ, and never more than near it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

Pair = tuple[int, int]
Span = tuple[int, int, int, int]  # from and to, in the one and in the other

# Lines that are all alike are compared with each other only in stretches of this size (the product of both).
_MAX_PAIRS_COMPARED = 40_000


def match_lines(one: Sequence[str], other: Sequence[str]) -> list[Pair]:
    """The places of lines that both have, in order; no two pairs cross.

    Patience diff: lines that each side has only once hold the rest together, so that a blank line or a `---` is never
    taken for another one far away.
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
    """What is left of a span when its equal beginning and end are taken off."""
    a, a_end, b, b_end = span
    while a < a_end and b < b_end and one[a] == other[b]:
        pairs.append((a, b))
        a, b = a + 1, b + 1
    while a < a_end and b < b_end and one[a_end - 1] == other[b_end - 1]:
        a_end, b_end = a_end - 1, b_end - 1
        pairs.append((a_end, b_end))
    return a, a_end, b, b_end


def _find_anchors(one: Sequence[str], other: Sequence[str], span: Span) -> list[Pair]:
    """Lines that occur once in each, as many of them as stand in the same order in both."""
    a, a_end, b, b_end = span
    here, there = Counter(one[a:a_end]), Counter(other[b:b_end])
    where = {other[place]: place for place in range(b, b_end) if there[other[place]] == 1}
    unique = [(i, where[one[i]]) for i in range(a, a_end) if here[one[i]] == 1 and one[i] in where]
    return find_longest_rising(unique)


def find_longest_rising(pairs: Sequence[Pair]) -> list[Pair]:
    """The longest run of pairs whose second places rise."""
    ends: list[int] = []  # the smallest second place that a run of each length can end with
    last: list[int] = []  # ... and which pair that is
    previous: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
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
