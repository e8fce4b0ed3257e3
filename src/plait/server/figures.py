"""The figures of one project at one moment, for those who measure. Reading them costs what is open, not what ever was."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from plait import wiring
from plait.core.explain import standing
from plait.core.frozen import dataclass
from plait.core.settings import Spend
from plait.core.state import State
from plait.core.status import BatchStatus, Category, TaskStatus, Waiting
from plait.core.task import Step
from plait.core.views import batch_standing
from plait.front.desk import Desk
from plait.front.tally import Tally
from plait.wiring import Place

# How many batches, how many tasks, and how many of those wait on what.
Stand = tuple[Mapping[BatchStatus, int], Mapping[TaskStatus, int], Mapping[Waiting, int]]

# SQLite keeps what was written last beside the journal.
_FILES = (wiring.JOURNAL, f"{wiring.JOURNAL}-wal")


@dataclass(frozen=True, slots=True)
class Took:
    """How many took how long, in the order of the tally's bounds, and all their seconds together."""

    counts: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Now:
    """What is so at this moment. `silence`: seconds since the last record, while something is at work."""

    batches: Mapping[BatchStatus, int]
    tasks: Mapping[TaskStatus, int]
    waiting: Mapping[Waiting, int]
    running: Mapping[tuple[str, Step], int]
    breakers: Mapping[str, float]  # seconds until each may be used again; 0: it is closed
    engine: bool = False
    silence: float = 0.0
    requests: int = 0
    oldest_request: float = 0.0
    journal_bytes: int = 0
    clients: int = 0


@dataclass(frozen=True, slots=True)
class SoFar:
    """What has happened since the journal's beginning, as the tally has it."""

    attempts: Mapping[tuple[str, Step, Category], int]
    durations: Mapping[tuple[str, Step], Took]
    spent: Mapping[str, Spend]
    retries: Mapping[Category, int]
    tasks: Mapping[TaskStatus, int]
    batches: Mapping[BatchStatus, int]
    line: Mapping[tuple[str, str], int]
    openings: Mapping[str, int]
    requests: Mapping[str, int]
    engines: int = 0
    records: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    """`now` and `so_far` are None together: the project's journal can't be read."""

    project: str
    now: Now | None = None
    so_far: SoFar | None = None


class Meter:
    """Reads one project's figures, in the desk's thread. It remembers since when each request was seen to wait, and where
    everything stood at the last record: of thousands of open tasks, that takes a while to say.
    """

    def __init__(self) -> None:
        self._waits: dict[str, float] = {}
        self._stood: tuple[tuple[str | None, int], Stand] | None = None

    def read(self, project: str, desk: Desk, tally: Tally, *, clients: int = 0) -> Figures:
        if desk.journal_id is None:  # what was counted was another history
            tally = Tally()
        return Figures(project, self._now(desk, tally, clients), so_far(desk.state, tally))

    def _now(self, desk: Desk, tally: Tally, clients: int) -> Now:
        state, at = desk.state, time.time()
        batches, tasks, waiting = self._stand(desk, tally)
        pending = [request.id for request in desk.pending()]
        busy = any(batch.alive for batch in state.open.values())
        return Now(
            batches,
            tasks,
            waiting,
            tally.running,
            _breakers(state, tally, at),
            engine=desk.engine() is not None,
            silence=max(0.0, at - state.now) if busy else 0.0,
            requests=len(pending),
            oldest_request=self._oldest(pending, time.monotonic()),
            journal_bytes=_size(desk.place),
            clients=clients,
        )

    def _stand(self, desk: Desk, tally: Tally) -> Stand:
        where = desk.journal_id, desk.state.seq
        if self._stood is None or self._stood[0] != where:
            self._stood = where, _stand(desk.state, tally)
        return self._stood[1]

    def _oldest(self, pending: Iterable[str], now: float) -> float:
        """The inbox does not say since when: from the first time that somebody looked."""
        self._waits = {name: self._waits.get(name, now) for name in pending}
        return now - min(self._waits.values(), default=now)


def so_far(state: State, tally: Tally) -> SoFar:
    return SoFar(
        dict(tally.attempts),
        {key: Took(tuple(took.counts), took.seconds) for key, took in tally.durations.items()},
        dict(tally.spent),
        dict(tally.retries),
        dict(tally.tasks),
        dict(tally.batches),
        dict(tally.line),
        dict(tally.openings),
        dict(tally.requests),
        tally.engines,
        state.seq,
    )


def _stand(state: State, tally: Tally) -> Stand:
    ended = tally.ended(state)
    batches, tasks, waiting = Counter(ended.batches), Counter(ended.tasks), Counter[Waiting]()
    for batch in state.open.values():
        batches[batch_standing(batch)[0]] += 1
        for task in (task for task in batch.tasks if task.task.entrant is None):
            stands = standing(state, batch, task)
            tasks[stands.status] += 1
            if stands.on is not None:
                waiting[stands.on] += 1
    return batches, tasks, waiting


def _breakers(state: State, tally: Tally, at: float) -> Mapping[str, float]:
    """Providers that share a name here are as closed as the one that is closed the longest."""
    found = dict[str, float]()
    for provider, breaker in state.breakers.items():
        name, until = tally.provider(provider), breaker.until
        found[name] = max(found.get(name, 0.0), 0.0 if until is None else until - at)
    return found


def _size(place: Place) -> int:
    total = 0
    for name in _FILES:
        with suppress(OSError):
            total += (place.state / name).stat().st_size
    return total
