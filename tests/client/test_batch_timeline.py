"""The timeline: spans, waits and lives, from records alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.client.batch_json import describe_graph
from plait.client.history import BatchHistory, TaskHistory, TimelineSpan, read_history
from plait.client.timeline import describe_timeline
from plait.core.requests import CancelTask, Pause, Retry, Unpause
from plait.core.settings import Isolation, Settings
from plait.core.status import Category
from plait.store import codec
from plait.testing.script import BATCH, Script, task_needing

HISTORIES = Path(__file__).parents[1] / "histories"
ALONE = Settings(isolation=Isolation.IN_PLACE, retries=0)


def fold_history(script: Script) -> BatchHistory:
    return read_history(script.records, BATCH)


def list_kinds(history: TaskHistory) -> list[tuple[str, int | None, str | None]]:
    return [(span.kind, span.n, span.result) for span in history.spans]


def test_attempts_checks_and_merges_are_spans_of_their_task() -> None:
    script = Script("a", settings=Settings(verify="check"))
    script.exit_attempt("a")
    script.exit_attempt("a")
    course = fold_history(script).tasks["a"]
    assert list_kinds(course) == [("write", 1, "ok"), ("verify", 1, "ok"), ("merge", 1, "merged")]
    assert all(span.end is not None for span in course.spans)


def test_a_running_span_has_no_end() -> None:
    found = fold_history(Script("a", settings=ALONE))
    (span,) = found.tasks["a"].spans
    assert (span.end, span.result, found.end) == (None, None, None)
    assert found.tasks["a"].list_waits() == []


def test_a_task_waits_until_its_dependency_is_done() -> None:
    script = Script("a", task_needing("b", "a"), settings=ALONE)
    script.wait(60)
    script.exit_attempt("a")
    first, second = fold_history(script).tasks.values()
    ((start, end),) = second.list_waits()
    assert (start, end) == (fold_history(script).start, second.spans[0].start)
    assert end == first.spans[0].end


def test_a_retry_by_a_person_starts_another_lifetime() -> None:
    script = Script("a", settings=ALONE)
    script.exit_attempt("a", Category.TASK)
    ended = fold_history(script)
    assert (ended.tasks["a"].status, ended.end) == ("failed", script.now)
    script.wait(100)
    script.request(lambda name: Retry(name, BATCH, "a"))
    again = fold_history(script)
    assert [life.end is None for life in again.tasks["a"].lifetimes] == [False, True]
    assert (again.tasks["a"].status, again.end) == (None, None)
    script.exit_attempt("a")
    assert sum(1 for _ in fold_history(script).tasks["a"].list_waits()) == 0


def test_an_automatic_retry_is_in_the_timeline() -> None:
    script = Script("a", settings=Settings(isolation=Isolation.IN_PLACE, retries=1))
    script.exit_attempt("a", Category.TASK)
    (again,) = fold_history(script).tasks["a"].retries
    assert (again.category, again.counted, again.retry_at >= again.at) == (Category.TASK, True, True)


def test_pauses_are_spans_of_the_batch() -> None:
    script = Script("a", settings=ALONE)
    script.request(lambda name: Pause(name, BATCH))
    (pause,) = fold_history(script).spans
    assert (pause.kind, pause.end) == ("pause", None)
    script.request(lambda name: Unpause(name, BATCH))
    assert [span.end is None for span in fold_history(script).spans] == [False]


def test_a_timeline_has_nothing_of_other_batches() -> None:
    script = Script("a", settings=ALONE)
    script.request(lambda name: CancelTask(name, BATCH, "a"))
    assert read_history(script.records, "another") == BatchHistory("another")


def test_waits_are_the_gaps_between_the_spans_of_a_lifetime() -> None:
    course = TaskHistory(
        "a",
        "",
        [TimelineSpan("life", 0, 10), TimelineSpan("life", 20)],
        [TimelineSpan("write", 2, 4), TimelineSpan("merge", 5, 6)],
    )
    assert course.list_waits() == [(0, 2), (4, 5), (6, 10), (20, None)]


@pytest.mark.parametrize("path", sorted(HISTORIES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_old_histories_have_timelines(path: Path) -> None:
    records = [codec.decode_record(line) for line in path.read_bytes().splitlines()]
    batches = {name for record in records if isinstance(name := getattr(record.event, "batch", None), str)}
    for batch in batches:
        for task in describe_timeline(read_history(records, batch)).tasks:
            times = [(each.started_at, each.completed_at) for each in task.spans]
            times += [(each.started_at, each.completed_at) for each in task.waits]
            assert all(end is None or start <= end for start, end in times)


def test_an_edge_leads_from_a_dependency_to_its_task() -> None:
    script = Script("a", task_needing("b", "a"), settings=ALONE)
    graph = describe_graph(script.state, script.state.batches[BATCH])
    assert [(edge.from_, edge.to) for edge in graph.edges] == [("a", "b")]
    assert graph.waves == [["a"], ["b"]]
