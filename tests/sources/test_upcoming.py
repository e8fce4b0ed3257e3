from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from plait.core.settings import Settings
from plait.core.task import Need, Origin, Task
from plait.sources.model import Entry, Mark, Reading
from plait.sources.pile import gather
from plait.sources.planning import Wish, plan
from plait.sources.upcoming import Upcoming, upcoming

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)


def entry(name: str, mark: Mark = Mark.TODO, *needs: str, touches: tuple[str, ...] = ()) -> Entry:
    edges = tuple(Need(on) for on in needs)
    return Entry(Task(name, f"Do {name}", needs=edges, touches=touches, origin=Origin("t.md", 1)), mark)


def found(*entries: Entry) -> list[Upcoming]:
    pile = gather([("plan", "t.md", Reading(entries))])
    planned = plan(pile, Wish())
    assert planned.plan is not None, planned.problems
    return upcoming(planned.plan, pile.by_id, Settings(retries=2), NOW)


def ids(*entries: Entry) -> list[str]:
    return [each.entry.task.id for each in found(*entries)]


def test_in_progress_then_failed_then_pending() -> None:
    assert ids(entry("a"), entry("b", Mark.FAILED), entry("c", Mark.DOING)) == ["c", "b", "a"]


def test_what_waits_is_not_listed() -> None:
    assert ids(entry("a"), entry("b", Mark.TODO, "a"), entry("c", Mark.TODO, "d"), entry("d", Mark.DONE)) == [
        "a",
        "c",
    ]


def test_a_stale_task_hides_nothing() -> None:
    fresh = replace(entry("fresh", Mark.DOING), since=NOW - timedelta(minutes=5))
    stale = replace(entry("stale", Mark.DOING), since=NOW - timedelta(hours=9))
    assert ids(stale, entry("a"), fresh) == ["fresh", "a", "stale"]


def test_a_task_whose_tries_are_used_up_comes_last() -> None:
    tired = replace(entry("tired", Mark.FAILED), tries=2)
    again = replace(entry("again", Mark.FAILED), tries=1)
    assert ids(tired, entry("a"), again) == ["again", "a", "tired"]


def test_a_task_may_have_tries_of_its_own() -> None:
    task = replace(entry("more", Mark.FAILED).task, retries=5)
    more = replace(entry("more", Mark.FAILED), task=task, tries=2)
    assert ids(entry("a"), more) == ["more", "a"]


def test_of_two_that_share_a_file_one_starts_and_names_the_other() -> None:
    one, two, three = (entry(name, touches=("x.py",)) for name in "abc")
    first, last = found(one, two, replace(three, task=replace(three.task, touches=())))
    assert first.entry.task.id == "a"
    assert first.conflicts_with == ("b",)
    assert last.conflicts_with == ()


def test_a_stale_task_does_not_keep_a_file_from_a_ready_one() -> None:
    stale = replace(entry("stale", Mark.DOING, touches=("x.py",)), since=NOW - timedelta(hours=9))
    assert ids(stale, entry("a", touches=("x.py",))) == ["a"]
