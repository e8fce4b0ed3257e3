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
from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.core.status import BatchStatus, TaskStatus, Waiting
from plait.front.tally import BOUNDS
from plait.server.figures import Figures, Meter, Now, SoFar
from plait.server.office import Office

T = TypeVar("T")
Word = TypeVar("Word", bound=str)

# The values of the labels, but for the project's, and the number.
Row = tuple[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class Family(Generic[T]):
    """A metric: its name, what it says, its labels beside the project, and where its numbers come from."""

    name: str
    about: str
    labels: tuple[str, ...]
    rows: Callable[[T], Iterable[Row]]


def _each(words: Iterable[Word], counts: Mapping[Word, int]) -> list[Row]:
    """Also those of which there are none: a series that comes and goes is hard to watch."""
    return [((str(word),), counts.get(word, 0)) for word in words]


def _known(counts: Mapping[Word, int]) -> list[Row]:
    return [((str(word),), count) for word, count in counts.items()]


def _line(what: str, *ends: str) -> Callable[[SoFar], Iterable[Row]]:
    return lambda so_far: [((end,), so_far.line.get((what, end), 0)) for end in ends]


GAUGES: tuple[Family[Now], ...] = (
    Family("plait_batches", "Batches, by status", ("status",), lambda now: _each(BatchStatus, now.batches)),
    Family("plait_tasks", "Tasks, by status", ("status",), lambda now: _each(TaskStatus, now.tasks)),
    Family(
        "plait_tasks_waiting",
        "Tasks that something keeps, by what that is",
        ("on",),
        lambda now: _each(Waiting, now.waiting),
    ),
    Family(
        "plait_attempts_running",
        "Attempts at work",
        ("agent", "step"),
        lambda now: [((agent, step.value), count) for (agent, step), count in now.running.items()],
    ),
    Family(
        "plait_breaker_open",
        "1: the provider refuses, and nothing is started with it",
        ("provider",),
        lambda now: [((provider,), float(left > 0)) for provider, left in now.breakers.items()],
    ),
    Family(
        "plait_breaker_remaining_seconds",
        "Until the provider is tried again",
        ("provider",),
        lambda now: [((provider,), max(0.0, left)) for provider, left in now.breakers.items()],
    ),
    Family("plait_engine_up", "1: an engine holds the journal", (), lambda now: [((), float(now.engine))]),
    Family(
        "plait_engine_silence_seconds",
        "Since the last record, while an attempt is at work; 0 while none is",
        (),
        lambda now: [((), now.silence)],
    ),
    Family("plait_inbox_requests", "Requests that no engine has taken", (), lambda now: [((), now.requests)]),
    Family(
        "plait_inbox_oldest_request_seconds",
        "Since the oldest of them was first seen",
        (),
        lambda now: [((), now.oldest_request)],
    ),
    Family("plait_journal_size_bytes", "The journal on disk", (), lambda now: [((), now.journal_bytes)]),
    Family("plait_sse_clients", "Readers of the project's events", (), lambda now: [((), now.clients)]),
)

COUNTERS: tuple[Family[SoFar], ...] = (
    Family(
        "plait_attempts",
        "Attempts that are over, by how they ended",
        ("agent", "step", "category"),
        lambda so_far: [
            ((agent, step.value, category.value), count)
            for (agent, step, category), count in so_far.attempts.items()
        ],
    ),
    Family(
        "plait_cost_usd",
        "What attempts have cost, as far as agents tell it",
        ("agent",),
        lambda so_far: [((agent,), spend.microusd / 1e6) for agent, spend in so_far.spent.items()],
    ),
    Family(
        "plait_tokens",
        "Tokens that attempts have used, as far as agents tell it",
        ("agent",),
        lambda so_far: [((agent,), spend.tokens) for agent, spend in so_far.spent.items()],
    ),
    Family(
        "plait_retries",
        "Retries that were granted, by why",
        ("category",),
        lambda so_far: _known(so_far.retries),
    ),
    Family(
        "plait_tasks_ended",
        "Ends of tasks; one that was taken up again ends again",
        ("status",),
        lambda so_far: _each([status for status in TaskStatus if status.terminal], so_far.tasks),
    ),
    Family(
        "plait_batches_ended",
        "Ends of batches; one that was taken up again ends again",
        ("status",),
        lambda so_far: _each([status for status in BatchStatus if status.terminal], so_far.batches),
    ),
    Family("plait_merges", "Merges of tasks", ("status",), _line("merge", "done", "conflicted", "failed")),
    Family("plait_rebuilds", "Rebuilds of batch branches", ("status",), _line("rebuild", "done", "failed")),
    Family("plait_gates", "Gates that ran", ("status",), _line("gate", "passed", "failed", "lost")),
    Family("plait_publishes", "Publishings", ("status",), _line("publish", "done", "failed")),
    Family(
        "plait_breaker_openings",
        "How often a provider's breaker was opened",
        ("provider",),
        lambda so_far: _known(so_far.openings),
    ),
    Family(
        "plait_requests",
        "Requests that were answered",
        ("status",),
        lambda so_far: _each(("granted", "refused"), so_far.requests),
    ),
    Family("plait_engine_starts", "Engines that took over", (), lambda so_far: [((), so_far.engines)]),
    Family("plait_journal_records", "Records in the journal", (), lambda so_far: [((), so_far.records)]),
)


class Metrics:
    """The metrics of a server. It belongs to the loop of its offices."""

    def __init__(self) -> None:
        self._meters = WeakKeyDictionary[Office, Meter]()

    async def scrape(
        self, offices: Iterable[Office], accept: str = "", *, down: Iterable[str] = ()
    ) -> tuple[bytes, str]:
        """The exposition in the format that the `Accept` header asks for, and its content type. `down` are the projects of
        offices that can't be opened.
        """
        figures = [await self._figures(office) for office in offices]
        return exposition([*figures, *map(Figures, down)], accept)

    async def _figures(self, office: Office) -> Figures:
        meter = self._meters.setdefault(office, Meter())
        clients = office.readers
        try:
            return await office.look(lambda desk: meter.read(office.id, desk, office.tally, clients=clients))
        except PlaitError:
            return Figures(office.id)


def exposition(projects: Sequence[Figures], accept: str = "") -> tuple[bytes, str]:
    """The text and its content type; the process's own memory and time are in it, where the system tells them."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(_Projects(projects))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


class _Projects(Collector):
    def __init__(self, projects: Sequence[Figures]) -> None:
        self._projects = projects

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("plait_build", "The plait that serves this", {"version": __version__})
        up = GaugeMetricFamily("plait_project_up", "1: the journal can be read", labels=("project",))
        for each in self._projects:
            up.add_metric((each.project,), float(each.now is not None))
        yield up
        for gauge in GAUGES:
            made = GaugeMetricFamily(gauge.name, gauge.about, labels=("project", *gauge.labels))
            yield _filled(made, gauge, [(each.project, each.now) for each in self._projects])
        for counter in COUNTERS:
            counted = CounterMetricFamily(counter.name, counter.about, labels=("project", *counter.labels))
            yield _filled(counted, counter, [(each.project, each.so_far) for each in self._projects])
        yield self._durations()

    def _durations(self) -> Metric:
        made = HistogramMetricFamily(
            "plait_attempt_duration_seconds", "How long attempts took", labels=("project", "agent", "step")
        )
        bounds = [*(str(float(bound)) for bound in BOUNDS), "+Inf"]
        for each in self._projects:
            for (agent, step), took in (each.so_far.durations if each.so_far else {}).items():
                buckets = list(zip(bounds, accumulate(took.counts), strict=True))
                made.add_metric((each.project, agent, step.value), buckets, took.seconds)
        return made


def _filled(
    made: GaugeMetricFamily | CounterMetricFamily, family: Family[T], projects: Sequence[tuple[str, T | None]]
) -> Metric:
    for project, figures in projects:
        rows = family.rows(figures) if figures is not None else ()
        for labels, value in rows:
            made.add_metric((project, *labels), value)
    return made
