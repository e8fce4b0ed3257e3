"""Spans: which stretches of time follow from which records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from hypothesis import given, settings, strategies as st

from plait.core.decisions import AttemptStarted, BatchEnded, GateStarted, MergeStarted, TaskEnded
from plait.core.events import Record
from plait.core.reducers import evolve
from plait.core.reports import AttemptExited, AttemptLost, AttemptUsed, ClockJumped, MergeDone, Outcome
from plait.core.requests import Drop, Retry
from plait.core.scheduler.batches import find_end_status
from plait.core.settings import Backoff, Isolation, Publish, Settings, Spend
from plait.core.state import State
from plait.core.status import Category
from plait.core.task import Task
from plait.observe.spans import MAX_TEXT_CHARS, Span, SpanBuilder, make_span_id, make_trace_id
from plait.testing.script import BATCH, Script, task_needing
from plait.testing.simulator.engine import simulate
from plait.testing.simulator.scenario import make_stormy

ALONE = Settings(agents=("amber",), isolation=Isolation.IN_PLACE)
STORMS = st.integers(0, 15).map(cache(lambda seed: simulate(make_stormy(seed)).journal))
FEW = settings(max_examples=16)


def spans(records: Iterable[Record], journal: str = "j") -> list[Span]:
    fold = SpanBuilder(journal)
    return [span for record in records for span in fold.add(record)]


def named(found: Sequence[Span], name: str) -> Span:
    (span,) = [span for span in found if span.name == name]
    return span


def test_a_batch_contains_its_tasks_and_a_task_its_attempts_and_its_merge() -> None:
    script = Script("a", settings=Settings(agents=("amber",), verify="make check", publish=Publish.PUSH))
    script.exit_attempt("a")
    script.exit_attempt("a")
    script.finish_publish("https://example.com/1")
    found = spans(script.records)
    assert [span.name for span in found] == ["write", "verify", "merge", "task a", "publish", "batch"]
    batch, task = named(found, "batch"), named(found, "task a")
    assert (batch.parent, task.parent) == (None, batch.id)
    assert {named(found, name).parent for name in ("write", "verify", "merge")} == {task.id}
    assert named(found, "publish").parent == batch.id
    assert {span.trace for span in found} == {make_trace_id("j", BATCH)}


def test_the_attributes_of_spans() -> None:
    script = Script("a", settings=ALONE)
    attempt = next(iter(script.state.batches[BATCH].alive))
    script.apply(AttemptUsed(attempt, Spend(1_500_000, 10)))
    bad = Outcome(Category.USAGE, 2, "no such option", Spend(1_000_000, 25), peak=4096, diffstat=(1, 20, 3))
    script.apply(AttemptExited(attempt, bad))
    write, task, batch = spans(script.records)
    assert dict(write.attributes) == {
        "plait.batch.id": BATCH,
        "plait.task.id": "a",
        "plait.step": "write",
        "plait.attempt": 1,
        "plait.agent": "amber",
        "plait.provider": "amber",
        "plait.category": "usage",
        "process.exit.code": 2,
        "plait.memory.peak_bytes": 4096,
        "plait.diff.files": 1,
        "plait.diff.added": 20,
        "plait.diff.removed": 3,
        "plait.cost.usd": 1.5,
        "plait.cost.tokens": 25,
    }
    assert write.error == "usage: no such option"
    assert (write.start, write.end) == (1001.0, 1003.0)
    assert dict(task.attributes)["plait.status"] == "failed"
    assert task.error == script.state.batches[BATCH].tasks[0].reason
    assert dict(batch.attributes)["plait.cost.usd"] == 1.5
    assert batch.error


def test_an_attempt_is_linked_to_the_one_before() -> None:
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE, backoff=Backoff(base=1.0)))
    script.exit_attempt("a", Category.TASK)
    script.wait(100)
    script.exit_attempt("a")
    first, second = [span for span in spans(script.records) if span.name == "write"]
    assert (first.links, second.links) == ((), (first.id,))
    assert first.error is not None
    assert second.error is None


def test_a_task_that_never_started_has_a_span_that_says_why() -> None:
    script = Script("a", task_needing("b", "a"), settings=ALONE)
    script.exit_attempt("a", Category.USAGE)
    span = named(spans(script.records), "task b")
    assert span.start == span.end
    assert dict(span.attributes)["plait.status"] == "blocked"
    assert span.error


def test_a_reopened_batch_is_another_span_of_the_same_trace() -> None:
    script = Script("a", settings=ALONE)
    script.exit_attempt("a", Category.USAGE)
    script.request(lambda name: Retry(name, BATCH, "a"))
    script.exit_attempt("a")
    found = spans(script.records)
    one, two = [span for span in found if span.name == "batch"]
    first, second = [span for span in found if span.name == "task a"]
    assert one.trace == two.trace
    assert two.links == (one.id,)
    assert second.links == (first.id,)
    assert (first.parent, second.parent) == (one.id, two.id)


@FEW
@given(STORMS)
def test_the_status_of_a_batch_is_the_one_that_people_see(journal: tuple[Record, ...]) -> None:
    state, fold = State(), SpanBuilder("j")
    for record in journal:
        evolve(state, record)
        ended = [span for span in fold.add(record) if span.name == "batch"]
        if ended and isinstance(record.event, BatchEnded):
            status = find_end_status(state.batches[record.event.batch])
            assert dict(ended[0].attributes)["plait.status"] == status


def test_a_batch_with_merged_and_unmerged_tasks_is_partial() -> None:
    script = Script("a", "b", settings=replace(ALONE, max_parallel=2, retries=0))
    script.exit_attempt("a")
    script.exit_attempt("b", Category.TASK)
    assert dict(named(spans(script.records), "batch").attributes)["plait.status"] == "partial"


def test_a_done_task_that_is_dropped_ends_once_more() -> None:
    script = Script("a", "b", settings=Settings(agents=("amber",)))
    script.exit_attempt("a")
    script.request(lambda name: Drop(name, BATCH, "a"))
    statuses = [dict(span.attributes)["plait.status"] for span in spans(script.records) if span.name == "task a"]
    assert statuses == ["done", "skipped"]


def test_a_repeated_report_has_one_span() -> None:
    script = Script("a", "b", settings=Settings(agents=("amber",)))
    script.exit_attempt("a")
    for told in [each.event for each in script.records if isinstance(each.event, AttemptExited | MergeDone)]:
        script.apply(told)
    assert Counter(span.name for span in spans(script.records)) == {"write": 1, "merge": 1, "task a": 1}


def test_no_span_ends_before_its_start_when_the_clock_was_set_back() -> None:
    script = Script("a", settings=ALONE)
    script.now -= 5000
    script.apply(ClockJumped(-5000))
    script.exit_attempt("a")
    assert all(span.start <= span.end for span in spans(script.records))


def test_untrusted_text_is_bounded_and_encodable() -> None:
    script = Script(Task("t\udcff"), settings=ALONE)
    script.exit_attempt("t\udcff", Category.USAGE, detail="\udc80" + "x" * 5000)
    for span in spans(script.records):
        texts = [span.name, span.error or "", *(text for _, text in span.attributes if isinstance(text, str))]
        assert all(len(text.encode()) <= 2 * MAX_TEXT_CHARS for text in texts)


def test_ids_have_the_right_size_and_differ_by_name() -> None:
    assert 0 < make_trace_id("j", "b") < 1 << 128
    assert 0 < make_span_id("j", "b", "write", "t", 1) < 1 << 64
    assert make_trace_id("j", "b") != make_trace_id("k", "b")
    assert make_span_id("j", "ab", "c") != make_span_id("j", "a", "bc")


@FEW
@given(STORMS)
def test_every_end_has_exactly_one_span_and_every_span_a_parent(journal: tuple[Record, ...]) -> None:
    found = spans(journal)
    assert all(span.start <= span.end for span in found)
    assert len({span.id for span in found}) == len(found)
    events = [record.event for record in journal]
    started = {event.attempt for event in events if isinstance(event, AttemptStarted)}
    over = {event.attempt for event in events if isinstance(event, AttemptExited | AttemptLost)} & started
    counts = Counter(span.name.split()[0] for span in found)
    assert counts["write"] + counts["verify"] == len(over)
    for name, kind in (("task", TaskEnded), ("batch", BatchEnded)):
        assert counts[name] == sum(isinstance(event, kind) for event in events)
    assert counts["merge"] == sum(isinstance(event, MergeStarted) for event in events)
    assert counts["gate"] <= sum(isinstance(event, GateStarted) for event in events)
    known = {(span.trace, span.id) for span in found}
    assert all((span.trace, span.parent) in known for span in found if span.parent is not None)
    assert all((span.trace, link) in known for span in found for link in span.links)


@FEW
@given(STORMS)
def test_a_parent_contains_its_children_except_later_publishing(journal: tuple[Record, ...]) -> None:
    if any(isinstance(record.event, ClockJumped) for record in journal):
        return  # then times do not say what came first
    found = spans(journal)
    by_id = {span.id: span for span in found}
    for span in found:
        if span.parent is not None and span.name != "publish":
            parent = by_id[span.parent]
            assert parent.start <= span.start <= span.end <= parent.end, (span, parent)


@FEW
@given(STORMS, st.floats(0, 1))
def test_a_new_engine_that_replays_continues_the_same_spans(journal: tuple[Record, ...], share: float) -> None:
    cut = round(len(journal) * share)
    again = SpanBuilder("j")
    for record in journal[:cut]:
        again.add(record)
    rest = [span for record in journal[cut:] for span in again.add(record)]
    assert spans(journal[:cut]) + rest == spans(journal)
