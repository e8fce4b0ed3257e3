from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from plait.core.settings import Settings
from plait.core.task import Need, Origin, Task
from plait.sources.planning import NextTask, PlanOptions, list_next_tasks, plan_tasks
from plait.sources.source_model import Reading, SourceEntry, SourceStatus
from plait.sources.source_set import combine_sources

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)


def entry(name: str, mark: SourceStatus = SourceStatus.TODO, *needs: str, touches: tuple[str, ...] = ()) -> SourceEntry:
    edges = tuple(Need(on) for on in needs)
    return SourceEntry(Task(name, f"Do {name}", needs=edges, touches=touches, origin=Origin("t.md", 1)), mark)


def find_next(*entries: SourceEntry) -> list[NextTask]:
    source_set = combine_sources([("plan", "t.md", Reading(entries))])
    planned = plan_tasks(source_set, PlanOptions())
    assert planned.plan is not None, planned.problems
    return list_next_tasks(planned.plan, source_set.by_id, Settings(retries=2), NOW)


def ids(*entries: SourceEntry) -> list[str]:
    return [each.entry.task.id for each in find_next(*entries)]


def test_tasks_in_progress_come_before_failed_and_pending_ones() -> None:
    assert ids(entry("a"), entry("b", SourceStatus.FAILED), entry("c", SourceStatus.DOING)) == ["c", "b", "a"]


def test_a_task_that_waits_is_not_listed() -> None:
    assert ids(
        entry("a"),
        entry("b", SourceStatus.TODO, "a"),
        entry("c", SourceStatus.TODO, "d"),
        entry("d", SourceStatus.DONE),
    ) == [
        "a",
        "c",
    ]


def test_a_stale_task_does_not_hide_others() -> None:
    fresh = replace(entry("fresh", SourceStatus.DOING), since=NOW - timedelta(minutes=5))
    stale = replace(entry("stale", SourceStatus.DOING), since=NOW - timedelta(hours=9))
    assert ids(stale, entry("a"), fresh) == ["fresh", "a", "stale"]


def test_a_task_without_retries_left_comes_last() -> None:
    tired = replace(entry("tired", SourceStatus.FAILED), retries=2)
    again = replace(entry("again", SourceStatus.FAILED), retries=1)
    assert ids(tired, entry("a"), again) == ["again", "a", "tired"]


def test_a_task_can_have_its_own_retries() -> None:
    task = replace(entry("more", SourceStatus.FAILED).task, retries=5)
    more = replace(entry("more", SourceStatus.FAILED), task=task, retries=2)
    assert ids(entry("a"), more) == ["more", "a"]


def test_of_two_that_share_a_file_one_starts_and_names_the_other() -> None:
    one, two, three = (entry(name, touches=("x.py",)) for name in "abc")
    first, last = find_next(one, two, replace(three, task=replace(three.task, touches=())))
    assert first.entry.task.id == "a"
    assert first.conflicts_with == ("b",)
    assert last.conflicts_with == ()


def test_a_stale_task_does_not_keep_a_file_from_a_ready_one() -> None:
    stale = replace(entry("stale", SourceStatus.DOING, touches=("x.py",)), since=NOW - timedelta(hours=9))
    assert ids(stale, entry("a", touches=("x.py",))) == ["a"]
