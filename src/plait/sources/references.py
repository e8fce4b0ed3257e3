"""References to tasks: `12`, `3.1-3.4`, `T007 through T009`, and which of the tasks that exist they mean."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern

DASH = r"[-\u2010-\u2015\u2212]"
TO = rf"\s*(?:{DASH}{{1,2}}|\.{{2,3}}|to|through|thru)\s*"  # between the ends of a range

Number = tuple[int, ...]
Key = tuple[Number, str]

_ID = pattern(r"[A-Za-z]*(\d+(?:\.\d+)*)([A-Za-z]?)")


@dataclass(frozen=True, slots=True)
class TaskRange:
    """A task or a range of tasks as written, so it may run backwards; `start` and `stop` are its position in the text.

    `is_settled`: the text calls them finished.
    """

    first: str
    last: str = ""
    start: int = 0
    stop: int = 0
    is_settled: bool = False


def parse_number(value: str) -> Number:
    return tuple(int(part) for part in value.split("."))


def make_key(name: str) -> Key:
    """Return a sort key for an id: its numbers, then the letter after them."""
    match = _ID.match(name)
    assert match is not None, "an id without a number"
    return parse_number(match[1]), match[2].lower()


def is_within(number: Number, end: Number) -> bool:
    """Whether a number is not past the end of a range; 7.1 and 7.2 are within a range up to 7."""
    return number[: len(end)] <= end


class TaskIds:
    """Looks up the ids that exist, in any case."""

    def __init__(self, ids: Iterable[str]) -> None:
        names = list(dict.fromkeys(ids))
        self._index_by_id = {name: index for index, name in enumerate(names)}
        self._by_lower = {name.lower(): name for name in reversed(names)}
        self._sorted = sorted((make_key(name), index, name) for index, name in enumerate(names))

    def get(self, name: str) -> str | None:
        """Return the id as it is written where it is declared, or None."""
        return self._by_lower.get(name.lower())

    def find(self, reference: TaskRange) -> list[str]:
        """Return a reference's tasks in numeric order. Without a task 1.1, `1.1` means `1.1.1` and `1.1.2`."""
        single = None if reference.last else self.get(reference.first)
        start, stop = self._find_bounds(reference)
        return [single] if single else [name for _, _, name in self._sorted[start:stop]]

    def count(self, reference: TaskRange) -> int:
        start, stop = self._find_bounds(reference)
        return max(0, stop - start)

    def find_missing(self, reference: TaskRange) -> list[str]:
        """Return the ends of a reference that do not exist."""
        return [name for name in (reference.first, reference.last) if name and not self.count(TaskRange(name))]

    def sort(self, names: Iterable[str]) -> list[str]:
        """Sort names in the order of the file."""
        return sorted(set(names), key=self._index_by_id.__getitem__)

    def _find_bounds(self, reference: TaskRange) -> tuple[int, int]:
        end, letter = make_key(reference.last or reference.first)

        def is_past(entry: tuple[Key, int, str]) -> bool:
            number, suffix = entry[0]
            beyond_letter = bool(letter) and number[: len(end)] == end and (number, suffix) > (end, letter)
            return beyond_letter or not is_within(number, end)

        start = bisect_left(self._sorted, (make_key(reference.first), -1, ""))
        return start, bisect_left(self._sorted, 1, key=is_past)
