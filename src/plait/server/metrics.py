"""Prometheus metrics of all projects. Labels are few and bounded: never a task, a title or a batch."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from plait import __version__
from plait.client.counters import DURATION_BOUNDS_SECONDS, JournalCounters
from plait.client.session import Session
from plait.core.errors import PlaitError
from plait.core.explain import explain_status
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Spend
from plait.core.state import State
from plait.core.status import BatchStatus, Category, TaskStatus, WaitReason
from plait.core.task import Step
from plait.core.views import find_batch_status
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession
from plait.store import project_files

T = TypeVar("T")
LabelValue = TypeVar("LabelValue", bound=str)

# The values of the labels besides the project, and the number.
Sample = tuple[tuple[str, ...], float]

# Batches by status, tasks by status, and waiting tasks by cause.
StatusTotals = tuple[Mapping[BatchStatus, int], Mapping[TaskStatus, int], Mapping[WaitReason, int]]

# SQLite writes to the WAL first.
_JOURNAL_FILES = (project_files.JOURNAL_FILE, f"{project_files.JOURNAL_FILE}-wal")


@dataclass(frozen=True, slots=True)
class DurationBuckets:
    """Counts in the order of DURATION_BOUNDS_SECONDS, and the sum of all durations."""

    counts: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class CurrentMetrics:
    """The current state. `silence`: seconds since the last record while attempts run."""

    batches: Mapping[BatchStatus, int]
    tasks: Mapping[TaskStatus, int]
    waiting: Mapping[WaitReason, int]
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
    """Totals since the journal's beginning."""

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
    """`current` and `totals` are None together: the journal can't be read."""

    project: str
    current: CurrentMetrics | None = None
    totals: TotalMetrics | None = None


class MetricsReader:
    """Reads one project's metrics, in the session's thread. Status counts are cached until the next record: they take a
    while with thousands of open tasks.
    """

    def __init__(self) -> None:
        self._first_seen: dict[str, float] = {}
        self._cached_totals: tuple[tuple[str | None, int], StatusTotals] | None = None

    def read(self, project: str, client: Session, counters: JournalCounters, *, clients: int = 0) -> ProjectMetrics:
        if client.journal_id is None:  # the counters are of a removed journal
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
        """Since the first scrape that saw the request: the inbox has no times."""
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
    batches, tasks, waiting = Counter(ended.batches), Counter(ended.tasks), Counter[WaitReason]()
    for batch in state.open.values():
        batches[find_batch_status(batch)[0]] += 1
        for task in (task for task in batch.tasks if task.task.entrant is None):
            stands = explain_status(state, batch, task)
            tasks[stands.status] += 1
            if stands.waiting is not None:
                waiting[stands.waiting] += 1
    return batches, tasks, waiting


def _breaker_seconds(state: State, counters: JournalCounters, at: float) -> Mapping[str, float]:
    """Of providers that share a label, the longest time counts."""
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


@dataclass(frozen=True, slots=True)
class MetricFamily(Generic[T]):
    """A metric, its labels besides the project, and how its samples are computed."""

    name: str
    description: str
    labels: tuple[str, ...]
    samples: Callable[[T], Iterable[Sample]]


def _count_all(labels: Iterable[LabelValue], counts: Mapping[LabelValue, int]) -> list[Sample]:
    """Including zeros: a series that comes and goes is hard to monitor."""
    return [((str(word),), counts.get(word, 0)) for word in labels]


def _count_present(counts: Mapping[LabelValue, int]) -> list[Sample]:
    return [((str(word),), count) for word, count in counts.items()]


def _count_operations(operation: str, *outcomes: str) -> Callable[[TotalMetrics], Iterable[Sample]]:
    return lambda so_far: [((end,), so_far.operations.get((operation, end), 0)) for end in outcomes]


GAUGES: tuple[MetricFamily[CurrentMetrics], ...] = (
    MetricFamily("plait_batches", "Batches, by status", ("status",), lambda now: _count_all(BatchStatus, now.batches)),
    MetricFamily("plait_tasks", "Tasks, by status", ("status",), lambda now: _count_all(TaskStatus, now.tasks)),
    MetricFamily(
        "plait_tasks_waiting",
        "Tasks that something keeps, by what that is",
        ("on",),
        lambda now: _count_all(WaitReason, now.waiting),
    ),
    MetricFamily(
        "plait_attempts_running",
        "Attempts at work",
        ("agent", "step"),
        lambda now: [((agent, step.value), count) for (agent, step), count in now.running.items()],
    ),
    MetricFamily(
        "plait_breaker_open",
        "1: the provider refuses, and nothing is started with it",
        ("provider",),
        lambda now: [((provider,), float(left > 0)) for provider, left in now.breakers.items()],
    ),
    MetricFamily(
        "plait_breaker_remaining_seconds",
        "Until the provider is tried again",
        ("provider",),
        lambda now: [((provider,), max(0.0, left)) for provider, left in now.breakers.items()],
    ),
    MetricFamily("plait_engine_up", "1: an engine holds the journal", (), lambda now: [((), float(now.engine))]),
    MetricFamily(
        "plait_engine_silence_seconds",
        "Since the last record, while an attempt is at work; 0 while none is",
        (),
        lambda now: [((), now.silence)],
    ),
    MetricFamily("plait_inbox_requests", "Requests that no engine has taken", (), lambda now: [((), now.requests)]),
    MetricFamily(
        "plait_inbox_oldest_request_seconds",
        "Since the oldest of them was first seen",
        (),
        lambda now: [((), now.oldest_request)],
    ),
    MetricFamily("plait_journal_size_bytes", "The journal on disk", (), lambda now: [((), now.journal_bytes)]),
    MetricFamily("plait_sse_clients", "Readers of the project's events", (), lambda now: [((), now.clients)]),
)

COUNTERS: tuple[MetricFamily[TotalMetrics], ...] = (
    MetricFamily(
        "plait_attempts",
        "Attempts that are over, by how they ended",
        ("agent", "step", "category"),
        lambda so_far: [
            ((agent, step.value, category.value), count) for (agent, step, category), count in so_far.attempts.items()
        ],
    ),
    MetricFamily(
        "plait_cost_usd",
        "What attempts have cost, as far as agents tell it",
        ("agent",),
        lambda so_far: [((agent,), spend.microusd / 1e6) for agent, spend in so_far.spent.items()],
    ),
    MetricFamily(
        "plait_tokens",
        "Tokens that attempts have used, as far as agents tell it",
        ("agent",),
        lambda so_far: [((agent,), spend.tokens) for agent, spend in so_far.spent.items()],
    ),
    MetricFamily(
        "plait_retries",
        "Retries that were granted, by why",
        ("category",),
        lambda so_far: _count_present(so_far.retries),
    ),
    MetricFamily(
        "plait_tasks_ended",
        "Ends of tasks; one that was taken up again ends again",
        ("status",),
        lambda so_far: _count_all([status for status in TaskStatus if status.is_terminal], so_far.tasks),
    ),
    MetricFamily(
        "plait_batches_ended",
        "Ends of batches; one that was taken up again ends again",
        ("status",),
        lambda so_far: _count_all([status for status in BatchStatus if status.is_terminal], so_far.batches),
    ),
    MetricFamily(
        "plait_merges",
        "Merges of tasks",
        ("status",),
        _count_operations("merge", "done", "conflicted", "failed"),
    ),
    MetricFamily(
        "plait_rebuilds",
        "Rebuilds of batch branches",
        ("status",),
        _count_operations("rebuild", "done", "failed"),
    ),
    MetricFamily("plait_gates", "Gates that ran", ("status",), _count_operations("gate", "passed", "failed", "lost")),
    MetricFamily("plait_publishes", "Publishings", ("status",), _count_operations("publish", "done", "failed")),
    MetricFamily(
        "plait_breaker_openings",
        "How often a provider's breaker was opened",
        ("provider",),
        lambda so_far: _count_present(so_far.openings),
    ),
    MetricFamily(
        "plait_requests",
        "Requests that were answered",
        ("status",),
        lambda so_far: _count_all(("granted", "refused"), so_far.requests),
    ),
    MetricFamily("plait_engine_starts", "Engines that took over", (), lambda so_far: [((), so_far.engines)]),
    MetricFamily("plait_journal_records", "Records in the journal", (), lambda so_far: [((), so_far.records)]),
)


class ServerMetrics:
    """Used from one event loop."""

    def __init__(self) -> None:
        self._readers = WeakKeyDictionary[ProjectSession, MetricsReader]()

    async def scrape(
        self, sessions: Iterable[ProjectSession], accept: str = "", *, down: Iterable[str] = ()
    ) -> tuple[bytes, str]:
        """The exposition for this `Accept` header, and its content type. `down`: projects that can't be opened."""
        projects = [await self._read_project(session) for session in sessions]
        return render_metrics([*projects, *map(ProjectMetrics, down)], accept)

    async def _read_project(self, session: ProjectSession) -> ProjectMetrics:
        reader = self._readers.setdefault(session, MetricsReader())
        clients = session.readers
        try:
            return await session.query(
                lambda client: reader.read(session.id, client, session.follower.counters, clients=clients)
            )
        except PlaitError:
            return ProjectMetrics(session.id)


def render_metrics(projects: Sequence[ProjectMetrics], accept: str = "") -> tuple[bytes, str]:
    """The text and its content type, with the process's memory and CPU time where available."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_ProjectsCollector(projects))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


class _ProjectsCollector(Collector):
    def __init__(self, projects: Sequence[ProjectMetrics]) -> None:
        self._projects = projects

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("plait_build", "The plait that serves this", {"version": __version__})
        up = GaugeMetricFamily("plait_project_up", "1: the journal can be read", labels=("project",))
        for each in self._projects:
            up.add_metric((each.project,), float(each.current is not None))
        yield up
        for gauge in GAUGES:
            made = GaugeMetricFamily(gauge.name, gauge.description, labels=("project", *gauge.labels))
            yield _add_samples(made, gauge, [(each.project, each.current) for each in self._projects])
        for counter in COUNTERS:
            counted = CounterMetricFamily(counter.name, counter.description, labels=("project", *counter.labels))
            yield _add_samples(counted, counter, [(each.project, each.totals) for each in self._projects])
        yield self._duration_histogram()

    def _duration_histogram(self) -> Metric:
        made = HistogramMetricFamily(
            "plait_attempt_duration_seconds", "How long attempts took", labels=("project", "agent", "step")
        )
        bounds = [*(str(float(bound)) for bound in DURATION_BOUNDS_SECONDS), "+Inf"]
        for each in self._projects:
            for (agent, step), took in (each.totals.durations if each.totals else {}).items():
                buckets = list(zip(bounds, accumulate(took.counts), strict=True))
                made.add_metric((each.project, agent, step.value), buckets, took.seconds)
        return made


def _add_samples(
    metric: GaugeMetricFamily | CounterMetricFamily,
    family: MetricFamily[T],
    projects: Sequence[tuple[str, T | None]],
) -> Metric:
    for project, values in projects:
        samples = family.samples(values) if values is not None else ()
        for labels, value in samples:
            metric.add_metric((project, *labels), value)
    return metric
