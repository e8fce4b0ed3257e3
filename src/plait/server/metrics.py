"""Prometheus metrics of all projects. Labels are few and bounded: never a task, a title or a batch."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import accumulate
from typing import TypeVar
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
from plait.core.state import State
from plait.core.status import BatchStatus, TaskStatus, WaitReason
from plait.core.task import Step
from plait.core.views import find_batch_status
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession
from plait.store import project_files

LabelValue = TypeVar("LabelValue", bound=str)

# The values of the labels besides the project, and the number.
Sample = tuple[tuple[str, ...], float]

# Batches by status, tasks by status, and waiting tasks by cause.
StatusTotals = tuple[Mapping[BatchStatus, int], Mapping[TaskStatus, int], Mapping[WaitReason, int]]

# SQLite writes to the WAL first.
_JOURNAL_FILES = (project_files.JOURNAL_FILE, f"{project_files.JOURNAL_FILE}-wal")


@dataclass(frozen=True, slots=True)
class ProjectReading:
    """What samples are computed from. `counters` are totals since the journal's beginning; `silence` is the seconds since the
    last record while attempts run.
    """

    counters: JournalCounters
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
    records: int = 0


@dataclass(frozen=True, slots=True)
class ProjectMetrics:
    """`samples` by the name of the metric; None: the journal can't be read. `durations`: counts up to each bound, and a sum."""

    project: str
    samples: Mapping[str, Sequence[Sample]] | None = None
    durations: Mapping[tuple[str, Step], tuple[list[tuple[str, float]], float]] = field(default_factory=dict)


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
        return compute_metrics(project, self._read(client, counters, clients))

    def _read(self, client: Session, counters: JournalCounters, clients: int) -> ProjectReading:
        state, at = client.state, time.time()
        batches, tasks, waiting = self._read_status_totals(client, counters)
        pending = [request.id for request in client.list_pending()]
        busy = any(batch.alive for batch in state.open.values())
        return ProjectReading(
            counters,
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
            records=state.seq,
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


def compute_metrics(project: str, reading: ProjectReading) -> ProjectMetrics:
    """In the session's thread, because it updates the counters."""
    samples = {family.name: [*family.samples(reading)] for family in (*GAUGES, *COUNTERS)}
    bounds = [*(str(float(bound)) for bound in DURATION_BOUNDS_SECONDS), "+Inf"]
    durations = {
        key: (list(zip(bounds, map(float, accumulate(took.counts)), strict=True)), took.seconds)
        for key, took in reading.counters.durations.items()
    }
    return ProjectMetrics(project, samples, durations)


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
    """For providers that share a label, the longest time counts."""
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
class MetricFamily:
    """A metric, its labels besides the project, and how its samples are computed."""

    name: str
    description: str
    labels: tuple[str, ...]
    samples: Callable[[ProjectReading], Iterable[Sample]]


def _count_all(labels: Iterable[LabelValue], counts: Mapping[LabelValue, int]) -> list[Sample]:
    """Including zeros: a series that comes and goes is hard to monitor."""
    return [((str(word),), counts.get(word, 0)) for word in labels]


def _count_present(counts: Mapping[LabelValue, int]) -> list[Sample]:
    return [((str(word),), count) for word, count in counts.items()]


def _count_operations(operation: str, *outcomes: str) -> Callable[[ProjectReading], Iterable[Sample]]:
    return lambda read: [((end,), read.counters.branch_operations[operation, end]) for end in outcomes]


GAUGES: tuple[MetricFamily, ...] = (
    MetricFamily(
        "plait_batches", "Batches, by status", ("status",), lambda read: _count_all(BatchStatus, read.batches)
    ),
    MetricFamily("plait_tasks", "Tasks, by status", ("status",), lambda read: _count_all(TaskStatus, read.tasks)),
    MetricFamily(
        "plait_tasks_waiting",
        "Waiting tasks, by what they wait for",
        ("on",),
        lambda read: _count_all(WaitReason, read.waiting),
    ),
    MetricFamily(
        "plait_attempts_running",
        "Running attempts",
        ("agent", "step"),
        lambda read: [((agent, step.value), count) for (agent, step), count in read.running.items()],
    ),
    MetricFamily(
        "plait_breaker_open",
        "1: the provider refuses, and no attempt starts with it",
        ("provider",),
        lambda read: [((provider,), float(left > 0)) for provider, left in read.breakers.items()],
    ),
    MetricFamily(
        "plait_breaker_remaining_seconds",
        "Until the provider is tried again",
        ("provider",),
        lambda read: [((provider,), max(0.0, left)) for provider, left in read.breakers.items()],
    ),
    MetricFamily("plait_engine_up", "1: an engine holds the journal", (), lambda read: [((), float(read.engine))]),
    MetricFamily(
        "plait_engine_silence_seconds",
        "Since the last record, while an attempt runs; else 0",
        (),
        lambda read: [((), read.silence)],
    ),
    MetricFamily("plait_inbox_requests", "Requests waiting for an engine", (), lambda read: [((), read.requests)]),
    MetricFamily(
        "plait_inbox_oldest_request_seconds",
        "Since the oldest waiting request was first seen",
        (),
        lambda read: [((), read.oldest_request)],
    ),
    MetricFamily("plait_journal_size_bytes", "The journal on disk", (), lambda read: [((), read.journal_bytes)]),
    MetricFamily("plait_sse_clients", "Open event streams of the project", (), lambda read: [((), read.clients)]),
)

COUNTERS: tuple[MetricFamily, ...] = (
    MetricFamily(
        "plait_attempts",
        "Ended attempts, by how they ended",
        ("agent", "step", "category"),
        lambda read: [
            ((agent, step.value, category.value), count)
            for (agent, step, category), count in read.counters.attempts.items()
        ],
    ),
    MetricFamily(
        "plait_cost_usd",
        "Cost of attempts, as reported by agents",
        ("agent",),
        lambda read: [((agent,), spend.microusd / 1e6) for agent, spend in read.counters.spent.items()],
    ),
    MetricFamily(
        "plait_tokens",
        "Tokens used by attempts, as reported by agents",
        ("agent",),
        lambda read: [((agent,), spend.tokens) for agent, spend in read.counters.spent.items()],
    ),
    MetricFamily(
        "plait_retries",
        "Granted retries, by reason",
        ("category",),
        lambda read: _count_present(read.counters.retries),
    ),
    MetricFamily(
        "plait_tasks_ended",
        "Ended tasks; a retried task ends again",
        ("status",),
        lambda read: _count_all([status for status in TaskStatus if status.is_terminal], read.counters.tasks),
    ),
    MetricFamily(
        "plait_batches_ended",
        "Ended batches; a retried batch ends again",
        ("status",),
        lambda read: _count_all([status for status in BatchStatus if status.is_terminal], read.counters.batches),
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
    MetricFamily("plait_gates", "Finished gates", ("status",), _count_operations("gate", "passed", "failed", "lost")),
    MetricFamily("plait_publishes", "Published branches", ("status",), _count_operations("publish", "done", "failed")),
    MetricFamily(
        "plait_breaker_openings",
        "How often a provider's breaker was opened",
        ("provider",),
        lambda read: _count_present(read.counters.breaker_openings),
    ),
    MetricFamily(
        "plait_requests",
        "Answered requests",
        ("status",),
        lambda read: _count_all(("granted", "refused"), read.counters.requests),
    ),
    MetricFamily("plait_engine_starts", "Engine starts", (), lambda read: [((), read.counters.engine_starts)]),
    MetricFamily("plait_journal_records", "Records in the journal", (), lambda read: [((), read.records)]),
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
            up.add_metric((each.project,), float(each.samples is not None))
        yield up
        for kind, families in ((GaugeMetricFamily, GAUGES), (CounterMetricFamily, COUNTERS)):
            for family in families:
                made = kind(family.name, family.description, labels=("project", *family.labels))
                for each in self._projects:
                    for labels, value in (each.samples or {}).get(family.name, ()):
                        made.add_metric((each.project, *labels), value)
                yield made
        yield self._duration_histogram()

    def _duration_histogram(self) -> Metric:
        made = HistogramMetricFamily(
            "plait_attempt_duration_seconds", "How long attempts took", labels=("project", "agent", "step")
        )
        for each in self._projects:
            for (agent, step), (buckets, seconds) in each.durations.items():
                made.add_metric((each.project, agent, step.value), buckets, seconds)
        return made
