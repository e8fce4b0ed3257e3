"""Ready tasks: only locks and limits that they share with others hold them back.

Laws:
- a queue has the entries with the same limits (one batch, one choice of agents, with or without fallbacks), best first;
- an entry is free when no other task holds one of its locks and no better entry of its queue wants one of them;
- every other entry is parked under one lock that is held, or wanted by a better free entry of its queue.

So the first free entry of a queue can start as soon as the queue's limits allow it, the ones behind it are not looked at,
and ten thousand tasks that wait for one file cost nothing until it is released.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from plait.core.fast_dataclass import dataclass


class _Comparable(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...  # Any: tuples compare with tuples, whatever is in them


K = TypeVar("K", bound=_Comparable)


class SortedSet(Generic[K]):
    """A sorted list without duplicates: the first element is immediate, adding and removing cost a bisection."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Iterable[K] = ()) -> None:
        self._keys: list[K] = sorted(keys)

    def add(self, key: K) -> None:
        index = bisect_left(self._keys, key)
        if index == len(self._keys) or self._keys[index] != key:
            self._keys.insert(index, key)

    def discard(self, key: K) -> None:
        index = bisect_left(self._keys, key)
        if index < len(self._keys) and self._keys[index] == key:
            del self._keys[index]

    def first(self) -> K | None:
        return self._keys[0] if self._keys else None

    def copy(self) -> SortedSet[K]:
        twin: SortedSet[K] = SortedSet()
        twin._keys = self._keys.copy()  # they are sorted already
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


TaskRef = tuple[str, int]  # batch, index in its plan
StartOrder = tuple[int, int, float, int]  # the smallest goes first; the last part is the index, so all differ


class QueueKey(NamedTuple):
    """One queue: tasks of a batch that the same agents may take. Tasks of a contest have no fallback agents."""

    batch: str
    agents: tuple[str, ...]
    is_contest: bool


@dataclass(frozen=True, slots=True)
class QueueEntry:
    ref: TaskRef
    queue_key: QueueKey
    key: StartOrder
    locks: tuple[str, ...]

    @property
    def index(self) -> int:
        """The task's index in its plan."""
        return self.ref[1]


_EMPTY: SortedSet[tuple[StartOrder, TaskRef]] = SortedSet()


class StartQueue:
    __slots__ = ("_entries", "_free", "_holder", "_parked", "_parked_under", "_queues", "_wanting")

    def __init__(self) -> None:
        self._entries: dict[TaskRef, QueueEntry] = {}
        self._parked_under: dict[TaskRef, str] = {}  # a parked entry's lock
        self._free: dict[QueueKey, SortedSet[tuple[StartOrder, TaskRef]]] = {}
        self._queues: dict[str, dict[QueueKey, None]] = {}  # the queues of each batch
        self._wanting: dict[str, dict[QueueKey, QueueEntry]] = {}  # per lock, each queue's free entry that wants it
        self._parked: dict[str, dict[QueueKey, SortedSet[tuple[StartOrder, TaskRef]]]] = {}
        self._holder: dict[str, TaskRef] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, ref: TaskRef) -> bool:
        return ref in self._entries

    def copy(self) -> StartQueue:
        copied = StartQueue()
        copied._entries = dict(self._entries)
        copied._parked_under = dict(self._parked_under)
        copied._holder = dict(self._holder)
        copied._free = {queue: free.copy() for queue, free in self._free.items()}
        copied._queues = {batch: dict(queues) for batch, queues in self._queues.items()}
        copied._wanting = {lock: dict(best) for lock, best in self._wanting.items()}
        copied._parked = {
            lock: {queue: parked.copy() for queue, parked in queues.items()} for lock, queues in self._parked.items()
        }
        return copied

    def holder(self, lock: str) -> TaskRef | None:
        return self._holder.get(lock)

    def heads(self, batch: str) -> Iterator[QueueEntry]:
        """Yield the first free entry of each queue of this batch."""
        for queue in self._queues.get(batch, ()):
            first = self._free[queue].first()
            if first is not None:
                yield self._entries[first[1]]

    def blocking_lock(self, ref: TaskRef) -> str | None:
        """Return the lock a parked entry waits for; None when it is free."""
        return self._parked_under.get(ref)

    def add(self, entry: QueueEntry) -> None:
        self._entries[entry.ref] = entry
        self._place_entries([entry])

    def discard(self, ref: TaskRef) -> None:
        entry = self._entries.pop(ref, None)
        if entry is None:
            return
        lock = self._parked_under.get(ref)
        if lock is not None:
            self._unpark(entry, lock)
        else:
            self._place_entries(self._pop_unblocked(entry.queue_key, self._remove_free(entry)))

    def acquire(self, ref: TaskRef, locks: tuple[str, ...]) -> None:
        """Give all these locks to a task that starts; free entries that want one are parked."""
        for lock in locks:
            self._holder[lock] = ref
        self.discard(ref)
        for lock in locks:
            for rival in list(self._wanting.get(lock, {}).values()):
                freed = self._remove_free(rival)
                self._park(rival, lock)
                self._place_entries(self._pop_unblocked(rival.queue_key, freed))

    def release(self, ref: TaskRef, locks: tuple[str, ...]) -> None:
        held = [lock for lock in locks if self._holder.get(lock) == ref]
        for lock in held:
            del self._holder[lock]
        for lock in held:
            for queue in list(self._parked.get(lock, {})):
                self._place_entries(self._pop_unblocked(queue, (lock,)))

    def _place_entries(self, entries: Iterable[QueueEntry]) -> None:
        """Free or park each entry, then the ones that it displaces or unblocks."""
        work = list(entries)
        while work:
            entry = work.pop()
            obstacle = self._obstacle(entry)
            if obstacle is not None:
                self._park(entry, obstacle)
                # It may have been the next for another lock, which now goes to the one after it.
                work.extend(self._pop_unblocked(entry.queue_key, entry.locks))
                continue
            displaced = {rival.ref: (rival, lock) for lock in entry.locks if (rival := self._rival(entry, lock))}
            freed = {lock: None for rival, _ in displaced.values() for lock in self._remove_free(rival)}
            self._add_free(entry)
            for rival, lock in displaced.values():
                self._park(rival, lock)
            work.extend(self._pop_unblocked(entry.queue_key, freed))

    def _obstacle(self, entry: QueueEntry) -> str | None:
        for lock in entry.locks:
            if self._holder.get(lock, entry.ref) != entry.ref:
                return lock
            rival = self._rival(entry, lock)
            if rival is not None and rival.key < entry.key:
                return lock
        return None

    def _rival(self, entry: QueueEntry, lock: str) -> QueueEntry | None:
        return self._wanting.get(lock, {}).get(entry.queue_key)

    def _pop_unblocked(self, queue: QueueKey, locks: Iterable[str]) -> list[QueueEntry]:
        """Remove and return, for each lock that is not held, the best parked entry that can be free, unless a better
        one wants the lock.
        """
        unblocked = []
        for lock in locks:
            while lock not in self._holder:
                first = self._parked.get(lock, {}).get(queue, _EMPTY).first()
                rival = self._wanting.get(lock, {}).get(queue)
                if first is None or (rival is not None and rival.key < first[0]):
                    break
                entry = self._entries[first[1]]
                self._unpark(entry, lock)
                obstacle = self._obstacle(entry)
                if obstacle is None:
                    unblocked.append(entry)
                    break
                self._park(entry, obstacle)
        return unblocked

    def _add_free(self, entry: QueueEntry) -> None:
        if entry.queue_key not in self._free:
            self._free[entry.queue_key] = SortedSet()
            self._queues.setdefault(entry.queue_key.batch, {})[entry.queue_key] = None
        self._free[entry.queue_key].add((entry.key, entry.ref))
        for lock in entry.locks:
            self._wanting.setdefault(lock, {})[entry.queue_key] = entry

    def _remove_free(self, entry: QueueEntry) -> tuple[str, ...]:
        self._free[entry.queue_key].discard((entry.key, entry.ref))
        if not self._free[entry.queue_key]:
            del self._free[entry.queue_key]
            del self._queues[entry.queue_key.batch][entry.queue_key]
        for lock in entry.locks:
            wanting = self._wanting[lock]
            del wanting[entry.queue_key]
            if not wanting:
                del self._wanting[lock]
        return entry.locks

    def _park(self, entry: QueueEntry, lock: str) -> None:
        self._parked_under[entry.ref] = lock
        self._parked.setdefault(lock, {}).setdefault(entry.queue_key, SortedSet()).add((entry.key, entry.ref))

    def _unpark(self, entry: QueueEntry, lock: str) -> None:
        del self._parked_under[entry.ref]
        queues = self._parked[lock]
        queues[entry.queue_key].discard((entry.key, entry.ref))
        if not queues[entry.queue_key]:
            del queues[entry.queue_key]
        if not queues:
            del self._parked[lock]
