"""Metrics: what Prometheus reads, and that reading it is safe and cheap."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from plait.client.counters import DURATION_BOUNDS_SECONDS, DurationHistogram, JournalCounters, LabelSet
from plait.client.event_stream import EventStream
from plait.client.session import Session
from plait.core import reports as r
from plait.core.requests import CancelBatch, Pause
from plait.core.settings import Spend
from plait.core.status import Category
from plait.core.task import Step
from plait.git.location import RepoLocation
from plait.server.metrics import (
    COUNTERS,
    GAUGES,
    MetricsReader,
    ProjectMetrics,
    ProjectReading,
    ServerMetrics,
    compute_metrics,
    render_metrics,
)
from plait.server.project_session import ProjectSession
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE, open_project_inbox
from tests.support.journal_writer import JournalWriter


@pytest.fixture
def location(tmp_path: Path) -> RepoLocation:
    return RepoLocation(tmp_path, tmp_path / ".plait", repository=False)


@pytest.fixture
def writer(location: RepoLocation) -> JournalWriter:
    return JournalWriter(location)


class CountedSession:
    """A session whose records are counted, as the server counts them. Nothing writes the journal while it is open."""

    def __init__(self, location: RepoLocation) -> None:
        self.location, self.reader = location, MetricsReader()
        self._open()

    def _open(self) -> None:
        self.session, self.counters = Session(self.location, EventStream()), JournalCounters()
        self.session.subscribe(lambda record, _: self.counters.apply(self.session.state, record))

    def read(self, project: str = "p") -> ProjectMetrics:
        self.session.refresh()
        return self.reader.read(project, self.session, self.counters, clients=3)

    def restart(self) -> None:
        """Another server, which begins with the journal's first record."""
        self.session.close()
        self._open()

    def close(self) -> None:
        self.session.close()


@pytest.fixture
def counted(location: RepoLocation, writer: JournalWriter) -> Iterator[CountedSession]:  # noqa: ARG001 - the writer comes first
    with closing(CountedSession(location)) as made:
        yield made


def families(figures: list[ProjectMetrics]) -> dict[str, Metric]:
    text, content_type = render_metrics(figures)
    assert content_type.startswith("text/plain")
    return {family.name: family for family in text_string_to_metric_families(text.decode())}


def value(figures: ProjectMetrics, name: str, **labels: str) -> float | None:
    wanted = {"project": figures.project, **labels}
    samples = (each for family in families([figures]).values() for each in family.samples)
    return next((each.value for each in samples if each.name == name and each.labels == wanted), None)


def test_a_batch_is_counted_by_status(writer: JournalWriter, counted: CountedSession) -> None:
    writer.submit("one", "a", "b", "c<a", "d<c")
    writer.exit_attempt("a", Category.USAGE)
    figures = counted.read()
    assert value(figures, "plait_batches", status="running") == 1
    assert value(figures, "plait_batches", status="completed") == 0
    for status, count in {"failed": 1, "blocked": 2, "running": 1, "queued": 0}.items():
        assert value(figures, "plait_tasks", status=status) == count
    assert value(figures, "plait_attempts_running", agent="shell", step="write") == 1
    assert value(figures, "plait_attempts_total", agent="shell", step="write", category="usage") == 1
    assert value(figures, "plait_tasks_ended_total", status="blocked") == 2
    assert value(figures, "plait_requests_total", status="granted") == 1
    assert value(figures, "plait_journal_records_total") == writer.state.seq
    assert (value(figures, "plait_journal_size_bytes") or 0) > 0
    assert value(figures, "plait_sse_clients") == 3
    assert value(figures, "plait_project_up") == 1


def test_waiting_tasks_are_counted_by_reason(writer: JournalWriter, counted: CountedSession) -> None:
    writer.submit("one", "a", "b<a")
    writer.apply(Pause("p", "one"))
    figures = counted.read()
    assert value(figures, "plait_batches", status="paused") == 1
    assert value(figures, "plait_tasks_waiting", on="needs") == 1


def test_attempt_durations_are_a_histogram(writer: JournalWriter, counted: CountedSession) -> None:
    writer.submit("one", "a", "b")
    writer.exit_attempt("a")
    writer.now += 1000
    writer.exit_attempt("b")
    figures = counted.read()
    labels = {"agent": "shell", "step": "write"}
    name = "plait_attempt_duration_seconds"
    buckets = [value(figures, f"{name}_bucket", le=str(float(each)), **labels) or 0 for each in DURATION_BOUNDS_SECONDS]
    assert buckets == sorted(buckets)
    assert (buckets[0], buckets[-1]) == (1, 2)
    assert value(figures, f"{name}_bucket", le="+Inf", **labels) == 2
    assert value(figures, f"{name}_count", **labels) == 2
    assert value(figures, f"{name}_sum", **labels) == pytest.approx(1 + 1002)


def test_cost_is_counted_by_agent(writer: JournalWriter, counted: CountedSession) -> None:
    writer.submit("one", "a")
    attempt = next(iter(writer.batch.alive))
    writer.apply(r.AttemptUsed(attempt, Spend(1_250_000, 300)))
    figures = counted.read()
    assert value(figures, "plait_cost_usd_total", agent="shell") == 1.25
    assert value(figures, "plait_tokens_total", agent="shell") == 300


def test_an_open_breaker_reports_its_remaining_seconds(writer: JournalWriter, counted: CountedSession) -> None:
    writer.submit("one", "a")
    writer.apply(r.RateLimited("north", time.time() + 600))
    assert any(breaker.until for breaker in writer.state.breakers.values())
    figures = counted.read()
    assert value(figures, "plait_breaker_open", provider="north") == 1
    assert 0 < (value(figures, "plait_breaker_remaining_seconds", provider="north") or 0) <= 600
    assert value(figures, "plait_breaker_openings_total", provider="north") == 1


def test_engine_silence_and_inbox_age_are_reported(
    location: RepoLocation, writer: JournalWriter, counted: CountedSession
) -> None:
    writer.submit("one", "a")
    before = time.time()
    figures = counted.read()
    assert value(figures, "plait_engine_up") == 0
    silence = value(figures, "plait_engine_silence_seconds") or 0
    assert before - writer.now <= silence <= time.time() - writer.now
    assert value(figures, "plait_inbox_requests") == 0
    with closing(open_project_inbox(location)) as box:
        box.put(Pause("p", "one"))
    assert value(counted.read(), "plait_inbox_requests") == 1
    first_seen = counted.reader._first_seen["p"]
    counted.reader._first_seen["p"] = first_seen - 40
    assert (value(counted.read(), "plait_inbox_oldest_request_seconds") or 0) >= 40
    counted.restart()
    writer.apply(Pause("p", "one"))
    assert value(counted.read(), "plait_inbox_oldest_request_seconds") == 0
    counted.restart()
    writer.exit_attempt("a")
    assert value(counted.read(), "plait_engine_silence_seconds") == 0
    assert (location.state / INBOX_FILE).exists()


def test_a_restarted_server_has_the_same_totals(writer: JournalWriter, counted: CountedSession) -> None:
    writer.submit("one", "a", "b<a")
    writer.exit_attempt("a")
    writer.exit_attempt("b", Category.TASK)
    before = counted.read()
    counted.restart()
    after = counted.read()
    assert before.samples
    assert after.samples
    assert [after.samples[name] for name in COUNTERS] == [before.samples[name] for name in COUNTERS]
    assert after.durations == before.durations


def test_a_removed_journal_counts_nothing(
    location: RepoLocation, writer: JournalWriter, counted: CountedSession
) -> None:
    writer.submit("one", "a")
    writer.exit_attempt("a")
    assert value(counted.read(), "plait_batches", status="completed") == 1
    for path in location.state.glob(f"{JOURNAL_FILE}*"):
        path.unlink()
    counted.session._journal_checked_at = 0.0
    assert value(counted.read(), "plait_batches", status="completed") == 0
    assert value(counted.read(), "plait_journal_records_total") == 0


HOSTILE = 'a"b\\c\nd{}=,#\u2028é\x00'


def make_metrics(name: str = "shell", count: int = 7) -> ProjectMetrics:
    """Project, agent and provider have this name."""
    write, counters = (name, Step.WRITE), JournalCounters()
    counters.attempts[*write, Category.OK] = counters.breaker_openings[name] = count
    counters.spent[name] = Spend(count, count)
    counters.durations[write] = DurationHistogram([count, *[0] * len(DURATION_BOUNDS_SECONDS)], 1.5)
    return compute_metrics(name, ProjectReading(counters, {}, {}, {}, {write: count}, {name: 5.0}))


def test_hostile_names_are_escaped_in_labels() -> None:
    figures = make_metrics(HOSTILE)
    assert value(figures, "plait_attempts_total", agent=HOSTILE, step="write", category="ok") == 7
    assert value(figures, "plait_breaker_openings_total", provider=HOSTILE) == 7
    assert value(figures, "plait_cost_usd_total", agent=HOSTILE) == pytest.approx(7e-6)
    names = LabelSet()
    names.add("half\udcff")
    assert names("half\udcff").encode() == b"half?"


def test_the_exposition_format_follows_the_accept_header() -> None:
    accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
    text, content_type = render_metrics([make_metrics()], accept)
    assert content_type.startswith("application/openmetrics-text")
    assert text.endswith(b"# EOF\n")
    parsed: Iterable[Metric] = openmetrics.text_string_to_metric_families(text.decode())  # type: ignore[no-untyped-call]  # the library says no types here
    found = {family.name: family for family in parsed}
    assert found["plait_attempts"].type == "counter"
    assert found["plait_build"].samples[0].labels["version"]


def test_names_follow_the_conventions() -> None:
    found = families([make_metrics()])
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in found)
    assert all(family.documentation for family in found.values())
    for family in (family for name, family in found.items() if name.startswith("plait_")):
        counts = family.type == "counter"
        assert all(sample.name.endswith("_total") == counts for sample in family.samples)
        timed = re.search("duration|remaining|silence|oldest", family.name)
        assert not timed or family.name.endswith("_seconds")
    labels = {label for gauge in GAUGES.values() for label in gauge.labels}
    labels |= {label for counter in COUNTERS.values() for label in counter.labels}
    assert labels == {"agent", "provider", "status", "step", "category", "on"}


def test_projects_have_their_own_label_and_a_broken_one_is_down() -> None:
    found = families([make_metrics("one", 1), make_metrics("two", 2), ProjectMetrics("broken")])
    running = {each.labels["project"]: each.value for each in found["plait_attempts_running"].samples}
    assert running == {"one": 1, "two": 2}
    up = {each.labels["project"]: each.value for each in found["plait_project_up"].samples}
    assert up == {"one": 1, "two": 1, "broken": 0}


def calls(work: Callable[[], object]) -> int:
    made = 0

    def count(_frame: FrameType, what: str, _: object) -> None:
        nonlocal made
        made += what == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return made


def test_ended_batches_do_not_slow_down_metrics(writer: JournalWriter, counted: CountedSession) -> None:
    writer.submit("open", "a", "b")
    costs = list[int]()
    for number in range(3):
        writer.submit(f"ended-{number}", *(f"t{task}" for task in range(20)), max_parallel=0)
        writer.apply(CancelBatch(f"c-{number}", f"ended-{number}"))
        for attempt in list(writer.batch.alive):
            writer.apply(r.AttemptExited(attempt, r.Outcome(Category.KILLED)))
        counted.restart()
        counted.session.refresh()
        assert writer.batch.ended is not None
        costs.append(calls(lambda: counted.reader.read("p", counted.session, counted.counters)))
        counted.restart()
    assert costs[2] == costs[1]


def test_status_counts_are_cached_until_the_next_record(writer: JournalWriter, counted: CountedSession) -> None:
    again = list[int]()
    for number, size in enumerate((2, 40)):
        writer.submit(f"open-{number}", *(f"t{task}" for task in range(size)))
        counted.restart()
        counted.read()
        again.append(calls(lambda: counted.reader.read("p", counted.session, counted.counters)))
        counted.restart()
    assert again[1] - again[0] < 40
    counted.restart()
    assert value(counted.read(), "plait_tasks", status="done") == 0
    counted.restart()
    writer.exit_attempt("t0")
    assert value(counted.read(), "plait_tasks", status="done") == 1


def test_a_project_that_can_t_be_opened_is_reported_as_down() -> None:
    text, _ = asyncio.run(ServerMetrics().scrape([], down=["broken"]))
    assert b'plait_project_up{project="broken"} 0.0' in text


def test_a_session_is_scraped(location: RepoLocation, writer: JournalWriter) -> None:
    writer.submit("one", "a")
    writer.exit_attempt("a")

    async def scrape() -> tuple[bytes, str]:
        session, metrics = ProjectSession("here", location), ServerMetrics()
        await session.open()
        try:
            return await metrics.scrape([session])
        finally:
            await session.close()

    text, _ = asyncio.run(scrape())
    assert b'plait_batches{project="here",status="completed"} 1.0' in text
