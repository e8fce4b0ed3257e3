"""Tasks that wait for nothing of their own: only files, groups and shared limits stand in their way.

Laws:
- a lane holds the entries that the same limits govern (one batch, one choice of agents, with or without others who stand
  in for them), best first;
- an entry is free when nobody holds one of its tokens and no better entry of its lane wants one of them;
- every other entry is parked under one token that is held, or wanted by a better free entry of its lane.

So the first free entry of a lane can start as soon as the lane's limits allow it, the ones behind it are not looked at,
and ten thousand tasks that wait for one file cost nothing until it is released.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plait.core.fast_dataclass import dataclass
from plait.core.sorted_set import SortedSet

TaskRef = tuple[str, int]  # batch, place in its plan
StartOrder = tuple[int, int, float, int]  # the smallest goes first; the last part is the place, so all differ


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
    def place(self) -> int:
        return self.ref[1]


_EMPTY: SortedSet[tuple[StartOrder, TaskRef]] = SortedSet()


class StartQueue:
    __slots__ = ("_entries", "_free", "_holder", "_parked", "_parked_under", "_queues", "_wanting")

    def __init__(self) -> None:
        self._entries: dict[TaskRef, QueueEntry] = {}
        self._parked_under: dict[TaskRef, str] = {}  # a parked entry's token
        self._free: dict[QueueKey, SortedSet[tuple[StartOrder, TaskRef]]] = {}
        self._queues: dict[str, dict[QueueKey, None]] = {}  # the lanes of each batch, for those who ask by batch
        self._wanting: dict[str, dict[QueueKey, QueueEntry]] = {}  # per token, each lane's free entry that wants it
        self._parked: dict[str, dict[QueueKey, SortedSet[tuple[StartOrder, TaskRef]]]] = {}
        self._holder: dict[str, TaskRef] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, ref: TaskRef) -> bool:
        return ref in self._entries

    def copy(self) -> StartQueue:
        twin = StartQueue()
        twin._entries, twin._parked_under, twin._holder = (
            dict(self._entries),
            dict(self._parked_under),
            dict(self._holder),
        )
        twin._free = {lane: free.copy() for lane, free in self._free.items()}
        twin._queues = {batch: dict(lanes) for batch, lanes in self._queues.items()}
        twin._wanting = {token: dict(best) for token, best in self._wanting.items()}
        twin._parked = {
            token: {lane: parked.copy() for lane, parked in lanes.items()} for token, lanes in self._parked.items()
        }
        return twin

    def holder(self, token: str) -> TaskRef | None:
        return self._holder.get(token)

    def heads(self, batch: str) -> Iterator[QueueEntry]:
        """The first free entry of each lane of this batch."""
        for lane in self._queues.get(batch, ()):
            first = self._free[lane].first()
            if first is not None:
                yield self._entries[first[1]]

    def blocking_lock(self, ref: TaskRef) -> str | None:
        """The token a parked entry waits for; None when it is free."""
        return self._parked_under.get(ref)

    def add(self, entry: QueueEntry) -> None:
        self._entries[entry.ref] = entry
        self._place_entries([entry])

    def discard(self, ref: TaskRef) -> None:
        entry = self._entries.pop(ref, None)
        if entry is None:
            return
        token = self._parked_under.get(ref)
        if token is not None:
            self._unpark(entry, token)
        else:
            self._place_entries(self._pop_unblocked(entry.queue_key, self._remove_free(entry)))

    def acquire(self, ref: TaskRef, tokens: tuple[str, ...]) -> None:
        """Hold all these tokens for a task that starts; whoever was free and wants one is parked."""
        for token in tokens:
            self._holder[token] = ref
        self.discard(ref)
        for token in tokens:
            for rival in list(self._wanting.get(token, {}).values()):
                freed = self._remove_free(rival)
                self._park(rival, token)
                self._place_entries(self._pop_unblocked(rival.queue_key, freed))

    def release(self, ref: TaskRef, tokens: tuple[str, ...]) -> None:
        mine = [token for token in tokens if self._holder.get(token) == ref]
        for token in mine:
            del self._holder[token]
        for token in mine:
            for lane in list(self._parked.get(token, {})):
                self._place_entries(self._pop_unblocked(lane, (token,)))

    def _place_entries(self, entries: Iterable[QueueEntry]) -> None:
        """Free each entry or park it; whoever is displaced, and whoever inherits, is settled in turn."""
        work = list(entries)
        while work:
            entry = work.pop()
            obstacle = self._obstacle(entry)
            if obstacle is not None:
                self._park(entry, obstacle)
                # It may have been the heir of another token, which now wants the next one.
                work.extend(self._pop_unblocked(entry.queue_key, entry.locks))
                continue
            displaced = {rival.ref: (rival, token) for token in entry.locks if (rival := self._rival(entry, token))}
            freed = {token: None for rival, _ in displaced.values() for token in self._remove_free(rival)}
            self._add_free(entry)
            for rival, token in displaced.values():
                self._park(rival, token)
            work.extend(self._pop_unblocked(entry.queue_key, freed))

    def _obstacle(self, entry: QueueEntry) -> str | None:
        for token in entry.locks:
            if self._holder.get(token, entry.ref) != entry.ref:
                return token
            rival = self._rival(entry, token)
            if rival is not None and rival.key < entry.key:
                return token
        return None

    def _rival(self, entry: QueueEntry, token: str) -> QueueEntry | None:
        return self._wanting.get(token, {}).get(entry.queue_key)

    def _pop_unblocked(self, lane: QueueKey, tokens: Iterable[str]) -> list[QueueEntry]:
        """Of each token that nobody holds, the best parked entry that can be free, if none better wants it already."""
        heirs = []
        for token in tokens:
            while token not in self._holder:
                first = self._parked.get(token, {}).get(lane, _EMPTY).first()
                rival = self._wanting.get(token, {}).get(lane)
                if first is None or (rival is not None and rival.key < first[0]):
                    break
                entry = self._entries[first[1]]
                self._unpark(entry, token)
                obstacle = self._obstacle(entry)
                if obstacle is None:
                    heirs.append(entry)
                    break
                self._park(entry, obstacle)
        return heirs

    def _add_free(self, entry: QueueEntry) -> None:
        if entry.queue_key not in self._free:
            self._free[entry.queue_key] = SortedSet()
            self._queues.setdefault(entry.queue_key.batch, {})[entry.queue_key] = None
        self._free[entry.queue_key].add((entry.key, entry.ref))
        for token in entry.locks:
            self._wanting.setdefault(token, {})[entry.queue_key] = entry

    def _remove_free(self, entry: QueueEntry) -> tuple[str, ...]:
        self._free[entry.queue_key].discard((entry.key, entry.ref))
        if not self._free[entry.queue_key]:
            del self._free[entry.queue_key]
            del self._queues[entry.queue_key.batch][entry.queue_key]
        for token in entry.locks:
            wanting = self._wanting[token]
            del wanting[entry.queue_key]
            if not wanting:
                del self._wanting[token]
        return entry.locks

    def _park(self, entry: QueueEntry, token: str) -> None:
        self._parked_under[entry.ref] = token
        self._parked.setdefault(token, {}).setdefault(entry.queue_key, SortedSet()).add((entry.key, entry.ref))

    def _unpark(self, entry: QueueEntry, token: str) -> None:
        del self._parked_under[entry.ref]
        lanes = self._parked[token]
        lanes[entry.queue_key].discard((entry.key, entry.ref))
        if not lanes[entry.queue_key]:
            del lanes[entry.queue_key]
        if not lanes:
            del self._parked[token]
