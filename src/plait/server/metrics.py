"""Prometheus metrics of all projects. Labels are few and bounded: never a task, a title or a batch."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from itertools import accumulate
from typing import Any, TypeVar
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
from plait.runtime.executor import NodeStatus
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
    """What samples are computed from. `counters` are totals since the journal's beginning; `silence` is the seconds
    since the last record while attempts run.
    """

    counters: JournalCounters
    batches: Mapping[BatchStatus, int]
    tasks: Mapping[TaskStatus, int]
    waiting: Mapping[WaitReason, int]
    running: Mapping[tuple[str, Step], int]
    breakers: Mapping[str, float]  # seconds until each may be used again; 0: it is closed
    engine: bool = False
    nodes: Sequence[NodeStatus] = ()
    silence: float = 0.0
    requests: int = 0
    oldest_request: float = 0.0
    journal_bytes: int = 0
    clients: int = 0
    records: int = 0


@dataclass(frozen=True, slots=True)
class ProjectMetrics:
    """The metrics of a project. `samples` by the name of the metric; None: the journal can't be read. `durations`:
    counts up to each bound, and a sum.
    """

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
        state, now = client.state, time.time()
        batches, tasks, waiting = self._read_status_totals(client, counters)
        pending = [request.id for request in client.list_pending()]
        busy, engine = any(batch.alive for batch in state.open.values()), client.find_engine()
        return ProjectReading(
            counters,
            batches,
            tasks,
            waiting,
            counters.running,
            _breaker_seconds(state, counters, now),
            engine=engine is not None,
            nodes=engine.nodes if engine is not None else (),
            silence=max(0.0, now - state.now) if busy else 0.0,
            requests=len(pending),
            oldest_request=self._oldest_wait_seconds(pending, time.monotonic()),
            journal_bytes=_journal_bytes(client.location),
            clients=clients,
            records=state.seq,
        )

    def _read_status_totals(self, client: Session, counters: JournalCounters) -> StatusTotals:
        version = client.journal_id, client.state.seq
        if self._cached_totals is None or self._cached_totals[0] != version:
            self._cached_totals = version, _count_statuses(client.state, counters)
        return self._cached_totals[1]

    def _oldest_wait_seconds(self, pending: Iterable[str], now: float) -> float:
        """Return how long the oldest request waits, since the first scrape that saw it: the inbox has no times."""
        self._first_seen = {name: self._first_seen.get(name, now) for name in pending}
        return now - min(self._first_seen.values(), default=now)


def compute_metrics(project: str, reading: ProjectReading) -> ProjectMetrics:
    """Compute the metrics. Call this in the session's thread, which updates the counters."""
    samples = {name: family.list_samples(reading) for name, family in (*GAUGES.items(), *COUNTERS.items())}
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
            explained = explain_status(state, batch, task)
            tasks[explained.status] += 1
            if explained.waiting is not None:
                waiting[explained.waiting] += 1
    return batches, tasks, waiting


def _breaker_seconds(state: State, counters: JournalCounters, now: float) -> Mapping[str, float]:
    """Return the seconds until each provider is available; for providers that share a label, the longest time."""
    seconds = dict[str, float]()
    for provider, breaker in state.breakers.items():
        name, until = counters.get_provider_label(provider), breaker.until
        seconds[name] = max(seconds.get(name, 0.0), 0.0 if until is None else until - now)
    return seconds


def count_nodes(nodes: Sequence[NodeStatus]) -> Mapping[str, float]:
    states = Counter("lost" if not node.is_alive else "problem" if node.problem else "ready" for node in nodes)
    return _count_all(("ready", "problem", "lost"), states)


def _journal_bytes(location: RepoLocation) -> int:
    total = 0
    for name in _JOURNAL_FILES:
        with suppress(OSError):
            total += (location.state / name).stat().st_size
    return total


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """A metric and its labels besides the project. `read`: a number for each value of the labels, or a single number."""

    description: str
    labels: tuple[str, ...]
    read: Callable[[ProjectReading], Mapping[Any, float] | float]  # Any: a label's value, or a tuple of them

    def list_samples(self, reading: ProjectReading) -> list[Sample]:
        value_or_values = self.read(reading)
        if not isinstance(value_or_values, Mapping):
            return [((), value_or_values)]
        keys = ((key if isinstance(key, tuple) else (key,), value) for key, value in value_or_values.items())
        return [(tuple(map(str, key)), value) for key, value in keys]


def _count_all(labels: Iterable[LabelValue], counts: Mapping[LabelValue, int]) -> Mapping[LabelValue, int]:
    """Return all counts, including zeros: a series that comes and goes is hard to monitor."""
    return {label: counts.get(label, 0) for label in labels}


def _count_operations(operation: str, *outcomes: str) -> Callable[[ProjectReading], Mapping[str, int]]:
    return lambda read: {end: read.counters.branch_operations[operation, end] for end in outcomes}


GAUGES: Mapping[str, MetricFamily] = {
    "plait_batches": MetricFamily(
        "Batches, by status", ("status",), lambda read: _count_all(BatchStatus, read.batches)
    ),
    "plait_tasks": MetricFamily("Tasks, by status", ("status",), lambda read: _count_all(TaskStatus, read.tasks)),
    "plait_tasks_waiting": MetricFamily(
        "Waiting tasks, by what they wait for", ("on",), lambda read: _count_all(WaitReason, read.waiting)
    ),
    "plait_attempts_running": MetricFamily("Running attempts", ("agent", "step"), lambda read: read.running),
    "plait_breaker_open": MetricFamily(
        "1: the provider refuses, and no attempt starts with it",
        ("provider",),
        lambda read: {provider: float(left > 0) for provider, left in read.breakers.items()},
    ),
    "plait_breaker_remaining_seconds": MetricFamily(
        "Until the provider is tried again",
        ("provider",),
        lambda read: {provider: max(0.0, left) for provider, left in read.breakers.items()},
    ),
    "plait_engine_up": MetricFamily("1: an engine holds the journal", (), lambda read: float(read.engine)),
    "plait_engine_silence_seconds": MetricFamily(
        "Since the last record, while an attempt runs; else 0", (), lambda read: read.silence
    ),
    "plait_cluster_nodes": MetricFamily(
        "Nodes of the cluster that attempts run on, by status", ("status",), lambda read: count_nodes(read.nodes)
    ),
    "plait_cluster_slots": MetricFamily(
        "Attempts that the cluster's nodes can run at once",
        (),
        lambda read: sum(node.usable_slots for node in read.nodes if node.is_alive),
    ),
    "plait_cluster_slots_used": MetricFamily(
        "Slots of the cluster's nodes that are taken, by any engine",
        (),
        lambda read: sum(node.used for node in read.nodes if node.is_alive),
    ),
    "plait_inbox_requests": MetricFamily("Requests waiting for an engine", (), lambda read: read.requests),
    "plait_inbox_oldest_request_seconds": MetricFamily(
        "Since the oldest waiting request was first seen", (), lambda read: read.oldest_request
    ),
    "plait_journal_size_bytes": MetricFamily("The journal on disk", (), lambda read: read.journal_bytes),
    "plait_sse_clients": MetricFamily("Open event streams of the project", (), lambda read: read.clients),
}

COUNTERS: Mapping[str, MetricFamily] = {
    "plait_attempts": MetricFamily(
        "Ended attempts, by how they ended", ("agent", "step", "category"), lambda read: read.counters.attempts
    ),
    "plait_cost_usd": MetricFamily(
        "Cost of attempts, as reported by agents",
        ("agent",),
        lambda read: {agent: spend.microusd / 1e6 for agent, spend in read.counters.spent.items()},
    ),
    "plait_tokens": MetricFamily(
        "Tokens used by attempts, as reported by agents",
        ("agent",),
        lambda read: {agent: spend.tokens for agent, spend in read.counters.spent.items()},
    ),
    "plait_retries": MetricFamily("Granted retries, by reason", ("category",), lambda read: read.counters.retries),
    "plait_tasks_ended": MetricFamily(
        "Ended tasks; a retried task ends again",
        ("status",),
        lambda read: _count_all([status for status in TaskStatus if status.is_terminal], read.counters.tasks),
    ),
    "plait_batches_ended": MetricFamily(
        "Ended batches; a retried batch ends again",
        ("status",),
        lambda read: _count_all([status for status in BatchStatus if status.is_terminal], read.counters.batches),
    ),
    "plait_merges": MetricFamily(
        "Merges of tasks", ("status",), _count_operations("merge", "done", "conflicted", "failed")
    ),
    "plait_rebuilds": MetricFamily(
        "Rebuilds of batch branches", ("status",), _count_operations("rebuild", "done", "failed")
    ),
    "plait_gates": MetricFamily("Finished gates", ("status",), _count_operations("gate", "passed", "failed", "lost")),
    "plait_publishes": MetricFamily("Published branches", ("status",), _count_operations("publish", "done", "failed")),
    "plait_breaker_openings": MetricFamily(
        "How often a provider's breaker was opened", ("provider",), lambda read: read.counters.breaker_openings
    ),
    "plait_requests": MetricFamily(
        "Answered requests", ("status",), lambda read: _count_all(("granted", "refused"), read.counters.requests)
    ),
    "plait_engine_starts": MetricFamily("Engine starts", (), lambda read: read.counters.engine_starts),
    "plait_journal_records": MetricFamily("Records in the journal", (), lambda read: read.records),
}


class ServerMetrics:
    """The metrics of a server. Used from one event loop."""

    def __init__(self) -> None:
        self._readers = WeakKeyDictionary[ProjectSession, MetricsReader]()

    async def scrape(
        self, sessions: Iterable[ProjectSession], accept: str = "", *, down: Iterable[str] = ()
    ) -> tuple[bytes, str]:
        """Return the exposition for this `Accept` header, and its content type. `down`: projects that can't be opened."""
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
    """Return the text and its content type, with the process's memory and CPU time where available."""
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
        for project in self._projects:
            up.add_metric((project.project,), float(project.samples is not None))
        yield up
        for kind, families in ((GaugeMetricFamily, GAUGES), (CounterMetricFamily, COUNTERS)):
            for name, family in families.items():
                metric = kind(name, family.description, labels=("project", *family.labels))
                for project in self._projects:
                    for labels, value in (project.samples or {}).get(name, ()):
                        metric.add_metric((project.project, *labels), value)
                yield metric
        yield self._duration_histogram()

    def _duration_histogram(self) -> Metric:
        histogram = HistogramMetricFamily(
            "plait_attempt_duration_seconds", "How long attempts took", labels=("project", "agent", "step")
        )
        for project in self._projects:
            for (agent, step), (buckets, seconds) in project.durations.items():
                histogram.add_metric((project.project, agent, step.value), buckets, seconds)
        return histogram
