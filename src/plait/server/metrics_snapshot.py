"""The figures of one project at one moment, for those who measure. Reading them costs what is open, not what ever was."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from plait.client.counters import JournalCounters
from plait.client.session import Session
from plait.core.explain import explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Spend
from plait.core.state import State
from plait.core.status import BatchStatus, Category, TaskStatus, Waiting
from plait.core.task import Step
from plait.core.views import find_batch_status
from plait.git.location import RepoLocation
from plait.store import project_files

# How many batches, how many tasks, and how many of those wait on what.
StatusTotals = tuple[Mapping[BatchStatus, int], Mapping[TaskStatus, int], Mapping[Waiting, int]]

# SQLite keeps what was written last beside the journal.
_JOURNAL_FILES = (project_files.JOURNAL_FILE, f"{project_files.JOURNAL_FILE}-wal")


@dataclass(frozen=True, slots=True)
class DurationBuckets:
    """How many took how long, in the order of the tally's bounds, and all their seconds together."""

    counts: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class CurrentMetrics:
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
class TotalMetrics:
    """What has happened since the journal's beginning, as the tally has it."""

    attempts: Mapping[tuple[str, Step, Category], int]
    durations: Mapping[tuple[str, Step], DurationBuckets]
    spent: Mapping[str, Spend]
    retries: Mapping[Category, int]
    tasks: Mapping[TaskStatus, int]
    batches: Mapping[BatchStatus, int]
    operations: Mapping[tuple[str, str], int]
    openings: Mapping[str, int]
    requests: Mapping[str, int]
    engines: int = 0
    records: int = 0


@dataclass(frozen=True, slots=True)
class ProjectMetrics:
    """`now` and `so_far` are None together: the project's journal can't be read."""

    project: str
    current: CurrentMetrics | None = None
    totals: TotalMetrics | None = None


class MetricsReader:
    """Reads one project's figures, in the client's thread. It remembers since when each request was seen to wait, and where
    everything stood at the last record: of thousands of open tasks, that takes a while to say.
    """

    def __init__(self) -> None:
        self._first_seen: dict[str, float] = {}
        self._cached_totals: tuple[tuple[str | None, int], StatusTotals] | None = None

    def read(self, project: str, client: Session, counters: JournalCounters, *, clients: int = 0) -> ProjectMetrics:
        if client.journal_id is None:  # what was counted was another history
            counters = JournalCounters()
        return ProjectMetrics(
            project, self._read_current(client, counters, clients), build_totals(client.state, counters)
        )

    def _read_current(self, client: Session, counters: JournalCounters, clients: int) -> CurrentMetrics:
        state, at = client.state, time.time()
        batches, tasks, waiting = self._read_status_totals(client, counters)
        pending = [request.id for request in client.list_pending()]
        busy = any(batch.alive for batch in state.open.values())
        return CurrentMetrics(
            batches,
            tasks,
            waiting,
            counters.running,
            _breaker_seconds(state, counters, at),
            engine=client.find_engine() is not None,
            silence=max(0.0, at - state.now) if busy else 0.0,
            requests=len(pending),
            oldest_request=self._oldest_wait_seconds(pending, time.monotonic()),
            journal_bytes=_journal_bytes(client.place),
            clients=clients,
        )

    def _read_status_totals(self, client: Session, counters: JournalCounters) -> StatusTotals:
        version = client.journal_id, client.state.seq
        if self._cached_totals is None or self._cached_totals[0] != version:
            self._cached_totals = version, _count_statuses(client.state, counters)
        return self._cached_totals[1]

    def _oldest_wait_seconds(self, pending: Iterable[str], now: float) -> float:
        """The inbox does not say since when: from the first time that somebody looked."""
        self._first_seen = {name: self._first_seen.get(name, now) for name in pending}
        return now - min(self._first_seen.values(), default=now)


def build_totals(state: State, counters: JournalCounters) -> TotalMetrics:
    return TotalMetrics(
        dict(counters.attempts),
        {key: DurationBuckets(tuple(took.counts), took.seconds) for key, took in counters.durations.items()},
        dict(counters.spent),
        dict(counters.retries),
        dict(counters.tasks),
        dict(counters.batches),
        dict(counters.branch_operations),
        dict(counters.breaker_openings),
        dict(counters.requests),
        counters.engine_starts,
        state.seq,
    )


def _count_statuses(state: State, counters: JournalCounters) -> StatusTotals:
    ended = counters.count_ended(state)
    batches, tasks, waiting = Counter(ended.batches), Counter(ended.tasks), Counter[Waiting]()
    for batch in state.open.values():
        batches[find_batch_status(batch)[0]] += 1
        for task in (task for task in batch.tasks if task.task.entrant is None):
            stands = explain_status(state, batch, task)
            tasks[stands.status] += 1
            if stands.waiting is not None:
                waiting[stands.waiting] += 1
    return batches, tasks, waiting


def _breaker_seconds(state: State, counters: JournalCounters, at: float) -> Mapping[str, float]:
    """Providers that share a name here are as closed as the one that is closed the longest."""
    found = dict[str, float]()
    for provider, breaker in state.breakers.items():
        name, until = counters.get_provider_label(provider), breaker.until
        found[name] = max(found.get(name, 0.0), 0.0 if until is None else until - at)
    return found


def _journal_bytes(place: RepoLocation) -> int:
    total = 0
    for name in _JOURNAL_FILES:
        with suppress(OSError):
            total += (place.state / name).stat().st_size
    return total
