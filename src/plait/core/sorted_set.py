"""A sorted list without duplicates: the first element is immediate, adding and removing cost a bisection."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar


class _Comparable(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...  # Any: tuples compare with tuples, whatever is in them


K = TypeVar("K", bound=_Comparable)


class SortedSet(Generic[K]):
    __slots__ = ("_keys",)

    def __init__(self, keys: Iterable[K] = ()) -> None:
        self._keys: list[K] = sorted(keys)

    def add(self, key: K) -> None:
        place = bisect_left(self._keys, key)
        if place == len(self._keys) or self._keys[place] != key:
            self._keys.insert(place, key)

    def discard(self, key: K) -> None:
        place = bisect_left(self._keys, key)
        if place < len(self._keys) and self._keys[place] == key:
            del self._keys[place]

    def first(self) -> K | None:
        return self._keys[0] if self._keys else None

    def copy(self) -> SortedSet[K]:
        twin: SortedSet[K] = SortedSet()
        twin._keys = self._keys.copy()
        return twin

    def __iter__(self) -> Iterator[K]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SortedSet) and self._keys == other._keys

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"Sorted({self._keys!r})"
