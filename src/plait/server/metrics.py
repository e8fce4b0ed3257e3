"""Metrics: figures as Prometheus reads them. Labels are few and bounded: never a task, a title or a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from plait.client.counters import DURATION_BOUNDS_SECONDS
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.status import BatchStatus, TaskStatus, Waiting
from plait.server.metrics_snapshot import CurrentMetrics, MetricsReader, ProjectMetrics, TotalMetrics
from plait.server.project_session import ProjectSession

T = TypeVar("T")
LabelValue = TypeVar("LabelValue", bound=str)

# The values of the labels, but for the project's, and the number.
Sample = tuple[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class MetricFamily(Generic[T]):
    """A metric: its name, what it says, its labels beside the project, and where its numbers come from."""

    name: str
    description: str
    labels: tuple[str, ...]
    samples: Callable[[T], Iterable[Sample]]


def _count_all(labels: Iterable[LabelValue], counts: Mapping[LabelValue, int]) -> list[Sample]:
    """Also those of which there are none: a series that comes and goes is hard to watch."""
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
        lambda now: _count_all(Waiting, now.waiting),
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
    """The metrics of a server. It belongs to the loop of its offices."""

    def __init__(self) -> None:
        self._readers = WeakKeyDictionary[ProjectSession, MetricsReader]()

    async def scrape(
        self, sessions: Iterable[ProjectSession], accept: str = "", *, down: Iterable[str] = ()
    ) -> tuple[bytes, str]:
        """The exposition in the format that the `Accept` header asks for, and its content type. `down` are the projects of
        offices that can't be opened.
        """
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
    """The text and its content type; the process's own memory and time are in it, where the system tells them."""
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
