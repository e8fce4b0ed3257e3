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

from plait.core.frozen import dataclass
from plait.core.sorted import Sorted

Ref = tuple[str, int]  # batch, place in its plan
Lane = tuple[
    str, tuple[str, ...], bool
]  # batch, the agents it may be given to, whether nobody stands in for them
Key = tuple[int, int, float, int]  # the smallest goes first; the last part is the place, so no two are alike


@dataclass(frozen=True, slots=True)
class Entry:
    ref: Ref
    lane: Lane
    key: Key
    tokens: tuple[str, ...]


_NOBODY: Sorted[tuple[Key, Ref]] = Sorted()


class Ready:
    __slots__ = ("_best", "_entries", "_free", "_holder", "_lanes", "_parked", "_under")

    def __init__(self) -> None:
        self._entries: dict[Ref, Entry] = {}
        self._under: dict[Ref, str] = {}  # a parked entry's token
        self._free: dict[Lane, Sorted[tuple[Key, Ref]]] = {}
        self._lanes: dict[str, dict[Lane, None]] = {}  # the lanes of each batch, for those who ask by batch
        self._best: dict[str, dict[Lane, Entry]] = {}  # per token, each lane's free entry that wants it
        self._parked: dict[str, dict[Lane, Sorted[tuple[Key, Ref]]]] = {}
        self._holder: dict[str, Ref] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, ref: Ref) -> bool:
        return ref in self._entries

    def copy(self) -> Ready:
        twin = Ready()
        twin._entries, twin._under, twin._holder = dict(self._entries), dict(self._under), dict(self._holder)
        twin._free = {lane: free.copy() for lane, free in self._free.items()}
        twin._lanes = {batch: dict(lanes) for batch, lanes in self._lanes.items()}
        twin._best = {token: dict(best) for token, best in self._best.items()}
        twin._parked = {
            token: {lane: parked.copy() for lane, parked in lanes.items()}
            for token, lanes in self._parked.items()
        }
        return twin

    def holder(self, token: str) -> Ref | None:
        return self._holder.get(token)

    def heads(self, batch: str) -> Iterator[Entry]:
        """The first free entry of each lane of this batch."""
        for lane in self._lanes.get(batch, ()):
            first = self._free[lane].first()
            if first is not None:
                yield self._entries[first[1]]

    def waits_for(self, ref: Ref) -> str | None:
        """The token a parked entry waits for; None when it is free."""
        return self._under.get(ref)

    def add(self, entry: Entry) -> None:
        self._entries[entry.ref] = entry
        self._settle([entry])

    def discard(self, ref: Ref) -> None:
        entry = self._entries.pop(ref, None)
        if entry is None:
            return
        token = self._under.get(ref)
        if token is not None:
            self._unpark(entry, token)
        else:
            self._settle(self._heirs(entry.lane, self._unfree(entry)))

    def take(self, ref: Ref, tokens: tuple[str, ...]) -> None:
        """Hold all these tokens for a task that starts; whoever was free and wants one is parked."""
        for token in tokens:
            self._holder[token] = ref
        self.discard(ref)
        for token in tokens:
            for rival in list(self._best.get(token, {}).values()):
                freed = self._unfree(rival)
                self._park(rival, token)
                self._settle(self._heirs(rival.lane, freed))

    def release(self, ref: Ref, tokens: tuple[str, ...]) -> None:
        mine = [token for token in tokens if self._holder.get(token) == ref]
        for token in mine:
            del self._holder[token]
        for token in mine:
            for lane in list(self._parked.get(token, {})):
                self._settle(self._heirs(lane, (token,)))

    def _settle(self, entries: Iterable[Entry]) -> None:
        """Free each entry or park it; whoever is displaced, and whoever inherits, is settled in turn."""
        work = list(entries)
        while work:
            entry = work.pop()
            obstacle = self._obstacle(entry)
            if obstacle is not None:
                self._park(entry, obstacle)
                # It may have been the heir of another token, which now wants the next one.
                work.extend(self._heirs(entry.lane, entry.tokens))
                continue
            displaced = {
                rival.ref: (rival, token) for token in entry.tokens if (rival := self._rival(entry, token))
            }
            freed = {token: None for rival, _ in displaced.values() for token in self._unfree(rival)}
            self._make_free(entry)
            for rival, token in displaced.values():
                self._park(rival, token)
            work.extend(self._heirs(entry.lane, freed))

    def _obstacle(self, entry: Entry) -> str | None:
        for token in entry.tokens:
            if self._holder.get(token, entry.ref) != entry.ref:
                return token
            rival = self._rival(entry, token)
            if rival is not None and rival.key < entry.key:
                return token
        return None

    def _rival(self, entry: Entry, token: str) -> Entry | None:
        return self._best.get(token, {}).get(entry.lane)

    def _heirs(self, lane: Lane, tokens: Iterable[str]) -> list[Entry]:
        """Of each token that nobody holds, the best parked entry that can be free, if none better wants it already."""
        heirs = []
        for token in tokens:
            while token not in self._holder:
                first = self._parked.get(token, {}).get(lane, _NOBODY).first()
                rival = self._best.get(token, {}).get(lane)
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

    def _make_free(self, entry: Entry) -> None:
        if entry.lane not in self._free:
            self._free[entry.lane] = Sorted()
            self._lanes.setdefault(entry.lane[0], {})[entry.lane] = None
        self._free[entry.lane].add((entry.key, entry.ref))
        for token in entry.tokens:
            self._best.setdefault(token, {})[entry.lane] = entry

    def _unfree(self, entry: Entry) -> tuple[str, ...]:
        self._free[entry.lane].discard((entry.key, entry.ref))
        if not self._free[entry.lane]:
            del self._free[entry.lane]
            del self._lanes[entry.lane[0]][entry.lane]
        for token in entry.tokens:
            wanting = self._best[token]
            del wanting[entry.lane]
            if not wanting:
                del self._best[token]
        return entry.tokens

    def _park(self, entry: Entry, token: str) -> None:
        self._under[entry.ref] = token
        self._parked.setdefault(token, {}).setdefault(entry.lane, Sorted()).add((entry.key, entry.ref))

    def _unpark(self, entry: Entry, token: str) -> None:
        del self._under[entry.ref]
        lanes = self._parked[token]
        lanes[entry.lane].discard((entry.key, entry.ref))
        if not lanes[entry.lane]:
            del lanes[entry.lane]
        if not lanes:
            del self._parked[token]
