"""Numbers of tasks and phases, `3.2` and ranges such as `3.1-3.4`, and which of those that exist they mean."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from plait.core.fast_dataclass import dataclass

Number = tuple[int, ...]

NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,2}"
ID = r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,2}"
DASH = r"[-\u2010-\u2015\u2212]"
_REFERENCE = re.compile(
    rf"(?<![\w.])({NUMBER})(?: ?(?:{DASH}{{1,2}}|to|through) ?({NUMBER}))?(?!\w|\.[0-9])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class NumberReference:
    """A number, or a range of them, as somebody wrote it; `start` and `stop` are where, in that text."""

    first: str
    last: str
    start: int
    stop: int

    @property
    def is_single(self) -> bool:
        return not self.last


def parse_number(value: str) -> Number:
    return tuple(int(part) for part in value.split("."))


def normalize_number(value: str) -> str:
    """The name of a phase: its number without zeros in front."""
    return ".".join(str(part) for part in parse_number(value))


def find_references(text: str) -> Iterator[NumberReference]:
    """All numbers and ranges of a text whose gaps are single spaces. `3.1-4` is short for `3.1-3.4`."""
    for found in _REFERENCE.finditer(text):
        first, last = found[1], found[2] or ""
        if last and "." in first and "." not in last:
            last = f"{first.rpartition('.')[0]}.{last}"
        yield NumberReference(first, last, found.start(), found.end())


def find_task_references(text: str) -> list[NumberReference]:
    return [reference for reference in find_references(text) if "." in reference.first]


class NumberIndex:
    """The ids that exist, in the order of the file."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._place = {name: place for place, name in enumerate(dict.fromkeys(ids))}
        self._sorted = sorted((parse_number(name), name) for name in self._place)
        self._numbers = [key for key, _ in self._sorted]

    def __contains__(self, name: str) -> bool:
        return name in self._place

    def find(self, reference: NumberReference) -> list[str]:
        """Those that it means, in the order of the file. `1.1` means `1.1.1` and `1.1.2` where there is no 1.1."""
        if reference.is_single and reference.first in self._place:
            return [reference.first]
        return self.sort(self._find_between(reference.first, reference.last or reference.first))

    def count(self, reference: NumberReference) -> int:
        """How many it means."""
        start, stop = self._find_bounds(reference.first, reference.last or reference.first)
        return max(0, stop - start)

    def find_missing(self, reference: NumberReference) -> list[str]:
        """Those that it names and that are not there."""
        ends = [name for name in (reference.first, reference.last) if name]
        return [name for name in ends if not self.count(NumberReference(name, "", 0, 0))]

    def sort(self, names: Iterable[str]) -> list[str]:
        return sorted(set(names), key=self._place.__getitem__)

    def _find_between(self, first: str, last: str) -> list[str]:
        start, stop = self._find_bounds(first, last)
        return [name for _, name in self._sorted[start:stop]]

    def _find_bounds(self, first: str, last: str) -> tuple[int, int]:
        """Where they stand among the sorted ones: from `first` to `last` and all that lies in it."""
        *rest, end = parse_number(last)
        return bisect_left(self._numbers, parse_number(first)), bisect_left(self._numbers, (*rest, end + 1))
