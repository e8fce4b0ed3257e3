"""The feed: which events follow from which records."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import get_args

import pytest

from plait.client.event_stream import MAPPERS, SILENT_EVENTS, EventStream
from plait.client.event_types import EventType, StreamEvent, format_json_line
from plait.core import decisions, reports, requests
from plait.core.events import Record
from plait.core.reports import (
    AttemptAsked,
    AttemptExited,
    AttemptPhase,
    CapacityChanged,
    EngineReleased,
    EngineTaken,
    Outcome,
    PressureChanged,
    RateLimited,
)
from plait.core.requests import Approve, CancelBatch, Drop, Pause, Resume, Retry, Ship, Stop, Submit, Unpause
from plait.core.settings import Isolation, Mode, Publish, Settings
from plait.core.status import Category, TaskStatus
from plait.core.task import Need, Phase, Task
from plait.core.views import make_batch_view
from plait.store import codec
from plait.testing.script import BATCH, Script, task_needing

HISTORIES = Path(__file__).parents[1] / "histories"
ALONE = Settings(isolation=Isolation.IN_PLACE)
ONE = Settings(isolation=Isolation.IN_PLACE, max_parallel=1)


def make_events(records: Iterable[Record]) -> list[StreamEvent]:
    stream = EventStream()
    return [event for record in records for event in stream.apply(record)]


def list_types(events: Iterable[StreamEvent]) -> list[str]:
    """Short enough to compare: the type's last words and the task."""
    short = (event.type.removeprefix("batch:").removeprefix("task:") for event in events)
    return [f"{word} {event.task}" if event.task else word for word, event in zip(short, events, strict=True)]


class Subscriber:
    """A script that is listened to: `news` gives what was told since the last time."""

    def __init__(self, script: Script) -> None:
        self.script, self._feed, self._heard = script, EventStream(), 0

    def news(self) -> list[StreamEvent]:
        fresh, self._heard = self.script.records[self._heard :], len(self.script.records)
        return [event for record in fresh for event in self._feed.apply(record)]


def subscribe(script: Script) -> Subscriber:
    listener = Subscriber(script)
    listener.news()
    return listener


def test_the_events_of_a_batch_from_submission_to_end() -> None:
    script = Script("a", task_needing("b", "a"), settings=ALONE)
    script.exit_attempt("a")
    script.exit_attempt("b")
    assert list_types(make_events(script.records)) == [
        "created",
        "queued a",
        "waiting b",
        "started",
        "started a",
        "completed a",
        "queued b",
        "progress",
        "started b",
        "completed b",
        "progress",
        "completed",
    ]


def test_an_event_has_its_record_batch_task_and_attempt() -> None:
    script = Script(Task("03-split", title="Split it"), settings=ALONE)
    (started,) = [event for event in make_events(script.records) if event.type is EventType.TASK_STARTED]
    (record,) = [each for each in script.records if isinstance(each.event, decisions.AttemptStarted)]
    assert started.to_json() == {
        "seq": record.seq,
        "at": "1970-01-01T00:16:41.000Z",
        "type": "batch:task:started",
        "batchId": BATCH,
        "taskId": "03-split",
        "attempt": 1,
        "title": "Split it",
        "agent": "shell",
    }


def test_a_line_is_one_line_of_json_whatever_is_in_it() -> None:
    event = StreamEvent(1, 0.5, EventType.TASK_FAILED, "b", "t\udcff", 1, {"error": "two\nlines"})
    assert "\n" not in format_json_line(event)
    assert json.loads(format_json_line(event))["taskId"] == "t\udcff"
    assert json.loads(format_json_line(event))["at"] == "1970-01-01T00:00:00.500Z"


def test_progress_follows_each_end_and_its_counts_sum_to_the_total() -> None:
    script = Script("a", "b", task_needing("c", "a"), task_needing("d", "b"), settings=ALONE)
    script.exit_attempt("a", Category.USAGE)
    script.exit_attempt("b")
    found = [event.data for event in make_events(script.records) if event.type is EventType.BATCH_PROGRESS]
    assert [(more["running"], more["completed"], more["failed"], more["blocked"]) for more in found] == [
        (1, 0, 1, 0),
        (1, 0, 1, 1),
        (0, 1, 1, 1),
    ]
    assert all(_sum(more) == more["total"] == 4 for more in found)


def _sum(more: object) -> int:
    assert isinstance(more, dict)
    counts = {word: count for word, count in more.items() if isinstance(count, int)}
    return sum(count for word, count in counts.items() if word not in {"total", "percentage"})


def test_the_end_event_has_the_reason_of_its_status() -> None:
    settings = Settings(retries=0, timeout=60, max_parallel=0)
    script = Script("bad", task_needing("after", "bad"), "slow", "clash", settings=settings)
    script.answers_merges = False
    listener = subscribe(script)
    script.exit_attempt("bad", Category.TASK, detail="no such file")
    script.exit_attempt("clash")
    script.conflict_merge("clash", "a.py", "b.py")
    script.wait(70)
    script.exit_attempt("slow", Category.KILLED)
    ends = {event.task: event for event in listener.news() if event.task}
    assert ends["bad"].type is EventType.TASK_FAILED
    assert ends["bad"].data["category"] == "task"
    assert "no such file" in str(ends["bad"].data["error"])
    assert ends["after"].type is EventType.TASK_BLOCKED
    assert ends["after"].data["by"] == "bad"
    assert ends["clash"].type is EventType.TASK_CONFLICTED
    assert ends["clash"].data["files"] == ("a.py", "b.py")
    assert ends["slow"].type is EventType.TASK_TIMED_OUT
    assert ends["slow"].data["category"] == "timeout"


def test_a_retry_says_when_and_why_and_the_task_is_queued_again_when_its_time_has_come() -> None:
    script = Script("a", settings=ALONE)
    listener = subscribe(script)
    script.exit_attempt("a", Category.TASK)
    (retry,) = listener.news()
    assert retry.type is EventType.TASK_RETRY
    assert str(retry.data["retryAt"]) > retry.to_json()["at"]  # type: ignore[operator]  # both are texts
    assert retry.data["why"]
    script.wait(3600)
    assert list_types(listener.news())[:2] == ["queued a", "started a"]


def test_phases_and_questions_of_an_attempt_have_one_event_each() -> None:
    script = Script("a", settings=ALONE)
    attempt = next(iter(script.task("a").alive))
    listener = subscribe(script)
    script.apply(AttemptPhase(attempt, "Phase 1: Read"), AttemptPhase(attempt, "Phase 1: Read"))
    script.apply(AttemptAsked(attempt, "Which?"), AttemptAsked(attempt, "Which?"))
    phase, asked = listener.news()
    assert (phase.type, phase.data) == (EventType.TASK_PHASE, {"phase": "Phase 1: Read"})
    assert (asked.type, asked.data) == (EventType.TASK_NEEDS_INPUT, {"question": "Which?"})


def test_late_reports_of_an_ended_attempt_have_no_event() -> None:
    script = Script("a", settings=ALONE)
    attempt = next(iter(script.task("a").alive))
    script.exit_attempt("a")
    listener = subscribe(script)
    script.apply(AttemptPhase(attempt, "late"), AttemptExited(attempt, Outcome(Category.TASK)))
    assert listener.news() == []


def test_a_start_recorded_twice_has_one_event() -> None:
    script = Script("a", settings=ALONE)
    stream = EventStream()
    for record in script.records:
        stream.apply(record)
    (start,) = [each for each in script.records if isinstance(each.event, decisions.AttemptStarted)]
    assert stream.apply(Record(stream.state.seq + 1, script.now, start.event)) == []


def test_verification_and_merging_have_events() -> None:
    script = Script("a", settings=Settings(verify="make test"))
    listener = subscribe(script)
    script.exit_attempt("a")
    (verifying,) = listener.news()
    assert (verifying.type, verifying.data["command"]) == (EventType.TASK_VERIFYING, "make test")
    script.exit_attempt("a")
    assert list_types(listener.news()) == [
        "verified a",
        "merging a",
        "merged a",
        "completed a",
        "progress",
        "completed",
    ]


def test_a_gate_has_events() -> None:
    script = Script("a", settings=Settings(gate="make check"))
    listener = subscribe(script)
    script.exit_attempt("a")
    assert "gating" in list_types(listener.news())
    script.finish_gate(passed=True)
    events = listener.news()
    assert list_types(events) == ["progress", "completed a", "progress", "completed"]
    assert events[0].data["gating"] == {"gate": 1, "commit": "base+a", "merges": 1, "result": "passed"}


def test_a_rebuild_without_a_task_has_a_merging_event() -> None:
    script = Script("a", "b")
    script.exit_attempt("a")
    script.exit_attempt("b")
    listener = subscribe(script)
    script.request(lambda name: Drop(name, BATCH, "a"))
    events = listener.news()
    assert list_types(events)[:2] == ["started", "skipped a"]
    assert [event.data.get("without") for event in events if event.type is EventType.BATCH_MERGING] == [("a",)]


def test_the_next_task_of_a_queue_waits_for_approval() -> None:
    queue = Settings(isolation=Isolation.IN_PLACE, mode=Mode.QUEUE)
    script = Script("a", "b", settings=queue)
    first = make_events(script.records)
    assert [(event.task, event.data["on"]) for event in first if event.task] == [
        ("a", "approval"),
        ("b", "turn"),
    ]
    listener = subscribe(script)
    script.request(lambda name: Approve(name, BATCH))
    assert list_types(listener.news()) == ["queued a", "started", "started a"]
    script.exit_attempt("a")
    waiting = [event for event in listener.news() if event.type is EventType.TASK_WAITING]
    assert [(event.task, event.data["on"]) for event in waiting] == [("b", "approval")]


def test_pause_and_unpause_have_events() -> None:
    script = Script("a", "b", settings=ONE)
    listener = subscribe(script)
    script.request(lambda name: Pause(name, BATCH))
    script.request(lambda name: Unpause(name, BATCH))
    paused, unpaused = listener.news()
    assert (paused.type, paused.data["cause"]) == (EventType.BATCH_PAUSED, "person")
    assert unpaused.type is EventType.BATCH_UNPAUSED


def test_a_stop_interrupts_tasks_and_resume_queues_them() -> None:
    script = Script("a", settings=ALONE)
    listener = subscribe(script)
    script.request(lambda name: Stop(name, BATCH))
    script.exit_attempt("a", Category.KILLED)
    assert list_types(listener.news()) == ["paused", "progress a", "interrupted a"]
    script.request(lambda name: Resume(name, BATCH))
    assert list_types(listener.news()) == ["unpaused", "queued a", "started a"]


def test_a_retry_by_a_person_opens_the_batch_and_its_tasks_again() -> None:
    script = Script("a", task_needing("b", "a"), settings=Settings(isolation=Isolation.IN_PLACE, retries=0))
    script.exit_attempt("a", Category.TASK)
    listener = subscribe(script)
    script.request(lambda name: Retry(name, BATCH, "a"))
    events = listener.news()
    assert list_types(events) == ["started", "queued a", "waiting b", "started a"]
    assert events[0].data == {"again": True}


def test_a_cancelled_batch_has_its_event() -> None:
    script = Script("a", "b", settings=ONE)
    listener = subscribe(script)
    script.request(lambda name: CancelBatch(name, BATCH))
    script.exit_attempt("a", Category.KILLED)
    assert list_types(listener.news()) == [
        *("progress a", "cancelled b", "progress"),
        *("cancelled a", "progress", "cancelled"),
    ]


def test_a_phase_that_opens_queues_its_tasks() -> None:
    phases = (Phase("1", total=1), Phase("2", after=("1",), total=1))
    script = Script(Task("a", phase="1"), Task("b", phase="2"), settings=ONE, phases=phases)
    listener = subscribe(script)
    script.exit_attempt("a")
    assert "queued b" in list_types(listener.news())


def test_a_task_that_still_waits_for_the_same_has_no_new_event() -> None:
    phases = (Phase("1", total=2), Phase("2", after=("1",), total=1, gate=0.5))
    tasks = (Task("a", phase="1"), Task("z", phase="1"), Task("b", phase="2", needs=(Need("z"),)))
    script = Script(*tasks, settings=ALONE, phases=phases)
    assert list_types(make_events(script.records)).count("waiting b") == 1
    script.exit_attempt("a")
    assert script.batch().phases["2"].open
    assert list_types(make_events(script.records)).count("waiting b") == 1


def test_records_replayed_in_between_are_taken_into_account() -> None:
    script = Script("a", "b", "c", settings=ALONE)
    stream = EventStream()
    for record in script.records:
        stream.apply(record)
    seen = len(script.records)
    script.exit_attempt("a")
    for record in script.records[seen:]:
        stream.replay(record)
    seen = len(script.records)
    script.exit_attempt("b")
    events = [event for record in script.records[seen:] for event in stream.apply(record)]
    (progress,) = [event.data for event in events if event.type is EventType.BATCH_PROGRESS]
    assert (progress["completed"], progress["running"]) == (2, 1)


def test_a_second_batch_of_the_same_name_is_refused_and_the_first_has_not_failed() -> None:
    script = Script("a", settings=ALONE)
    listener = subscribe(script)
    script.request(lambda name: Submit(name, BATCH, script.batch().plan, ALONE))
    assert any(isinstance(record.event, decisions.RequestRefused) for record in script.records)
    assert listener.news() == []


def test_a_refused_batch_has_a_failed_event() -> None:
    script = Script("a", settings=ALONE)
    listener = subscribe(script)
    bad = Settings(max_parallel=-1)
    script.request(lambda name: Submit(name, "b2", script.batch().plan, bad))
    (failed,) = listener.news()
    assert (failed.type, failed.batch) == (EventType.BATCH_FAILED, "b2")
    assert "max_parallel" in str(failed.data["error"])


def test_publishing_is_progress_and_the_end_has_the_pull_request() -> None:
    script = Script("a", settings=Settings(publish=Publish.PR))
    listener = subscribe(script)
    script.exit_attempt("a")
    begun = listener.news()[-1]
    assert (begun.type, begun.task) == (EventType.BATCH_PROGRESS, None)
    assert begun.data["publishing"] == "started"
    assert (begun.data["publish"], begun.data["commit"], begun.data["prUrl"]) == ("pr", "base+a", None)
    script.finish_publish("https://forge.example/1")
    done, ended = listener.news()
    assert (done.data["publishing"], done.data["prUrl"]) == ("done", "https://forge.example/1")
    assert done.data["completed"] == 1
    assert (ended.type, ended.data["prUrl"]) == (EventType.BATCH_COMPLETED, "https://forge.example/1")


def test_the_end_of_a_partial_batch_has_its_status_the_counts_and_the_pull_request() -> None:
    script = Script("a", "b", settings=Settings(retries=0, publish=Publish.PR))
    script.exit_attempt("b", Category.TASK)
    script.exit_attempt("a")
    listener = subscribe(script)
    script.finish_publish("https://forge.example/1")
    ended = json.loads(format_json_line(listener.news()[-1]))
    assert (ended["type"], ended["status"]) == ("batch:completed", "partial")
    assert (ended["prUrl"], ended["reason"]) == ("https://forge.example/1", "1 merged, 1 not merged")
    assert (ended["progress"]["total"], ended["progress"]["completed"], ended["progress"]["failed"]) == (2, 1, 1)


def test_the_end_of_a_failed_batch_has_its_pull_request() -> None:
    script = Script("a", settings=Settings(retries=0, publish=Publish.PR))
    script.exit_attempt("a")
    script.finish_publish("https://forge.example/1")
    listener = subscribe(script)
    script.request(lambda name: Retry(name, BATCH, "a"))
    script.exit_attempt("a", Category.TASK)
    ended = listener.news()[-1]
    assert (ended.type, ended.data["prUrl"]) == (EventType.BATCH_FAILED, "https://forge.example/1")


def test_failed_publishing_says_why_and_the_end_has_no_pull_request() -> None:
    script = Script("a", settings=Settings(publish=Publish.PR))
    script.exit_attempt("a")
    listener = subscribe(script)
    script.fail_publish("no token", "set GITHUB_TOKEN")
    failed, ended = listener.news()
    assert (failed.data["publishing"], failed.data["error"], failed.data["hint"]) == (
        "failed",
        "no token",
        "set GITHUB_TOKEN",
    )
    assert (ended.type, ended.data["prUrl"]) == (EventType.BATCH_COMPLETED, None)
    assert ended.data["reason"] == "1 done; not published: no token"


def test_a_wait_for_a_password_is_told_until_it_is_over() -> None:
    script = Script("a", settings=Settings(publish=Publish.PUSH))
    script.exit_attempt("a")
    listener = subscribe(script)
    for program in ("askpass", ""):
        script.apply(reports.PublishWaiting(BATCH, 1, program))
    waiting, started = (event.data for event in listener.news())
    assert (waiting["publishing"], waiting["hint"]) == (
        "waiting",
        "waiting for a password from askpass, which may be asking you for it",
    )
    assert (started["publishing"], started["commit"]) == ("started", script.batch().head)


def test_publishing_an_ended_batch_does_not_start_or_end_it_again() -> None:
    script = Script("a")
    script.exit_attempt("a")
    listener = subscribe(script)
    script.request(lambda name: Ship(name, BATCH, Publish.PUSH))
    script.finish_publish()
    script.apply(reports.PublishDone(BATCH, 1, "", "base+a"))
    assert [event.data["publishing"] for event in listener.news()] == ["started", "done"]


def test_a_predicted_conflict_has_an_event_and_another_when_it_is_gone() -> None:
    script = Script("a", "b")
    listener = subscribe(script)
    script.apply(*[reports.ConflictPredicted(BATCH, "a", "b", ("x.py",))] * 2)
    (news,) = listener.news()
    assert (news.type, news.task) == (EventType.BATCH_PROGRESS, "a")
    assert (news.data["conflictsWith"], news.data["files"]) == ("b", ("x.py",))
    script.apply(*[reports.ConflictCleared(BATCH, "a", "b")] * 2)
    (news,) = listener.news()
    assert (news.data["conflictsWith"], news.data["files"]) == ("b", ())
    script.apply(reports.ConflictPredicted(BATCH, "a", "", ("y.py",)))
    (news,) = listener.news()
    assert news.data["conflictsWith"] is None


def test_limits_and_engines_concern_every_batch() -> None:
    script = Script("a", settings=ALONE)
    listener = subscribe(script)
    script.apply(EngineTaken(42))
    script.apply(RateLimited("anthropic", script.now + 100))
    script.wait(120)
    script.apply(EngineReleased(42))
    events = listener.news()
    assert list_types(events) == ["engine:taken", "limit:opened", "limit:closed", "engine:released"]
    assert events[0].data["pid"] == 42
    assert events[1].data["provider"] == "anthropic"
    assert events[1].data["until"] == "1970-01-01T00:18:22.000Z"
    assert all(event.concerns(BATCH) and event.concerns("another") for event in events)


def test_a_machine_without_capacity_is_a_limit() -> None:
    script = Script("a", settings=ALONE)
    listener = subscribe(script)
    script.apply(PressureChanged("only 900 MiB of disk left"))
    script.apply(PressureChanged("only 900 MiB of disk left"))
    script.apply(PressureChanged(None))
    script.apply(CapacityChanged(3, "not much memory"))
    script.apply(CapacityChanged(0, "no memory"))
    script.apply(EngineTaken(43))
    events = listener.news()
    assert list_types(events) == ["limit:opened", "limit:closed", "limit:opened", "engine:taken", "limit:closed"]
    assert (events[0].data["provider"], events[0].data["until"]) == ("machine", None)


def test_every_record_type_has_events_or_is_listed_as_silent() -> None:
    kinds = {*get_args(requests.Request), *get_args(decisions.Decision), *get_args(reports.Report)}
    assert {*MAPPERS, *SILENT_EVENTS} == kinds


@pytest.mark.parametrize("path", sorted(HISTORIES.glob("*.jsonl")), ids=lambda path: path.stem)
def test_golden_histories_have_events_to_the_end(path: Path) -> None:
    """What was told of a task last is what became of it; seqs never go back; counts always sum up."""
    stream = EventStream()
    events = [event for text in path.read_bytes().splitlines() for event in stream.apply(codec.decode_record(text))]
    assert all((first.seq or 0) <= (then.seq or 0) for first, then in pairwise(events))
    progress = [event.data for event in events if event.type is EventType.BATCH_PROGRESS]
    assert progress
    assert all(_sum(more) == more["total"] for more in progress)
    last = {(event.batch, event.task): event.type for event in events if event.type in _ENDS.values()}
    for batch in stream.state.batches.values():
        for task in make_batch_view(stream.state, batch).tasks:
            if task.status in _ENDS:
                assert last[batch.id, task.id] is _ENDS[task.status], task


_ENDS = {
    TaskStatus.DONE: EventType.TASK_COMPLETED,
    TaskStatus.FAILED: EventType.TASK_FAILED,
    TaskStatus.TIMED_OUT: EventType.TASK_TIMED_OUT,
    TaskStatus.BLOCKED: EventType.TASK_BLOCKED,
    TaskStatus.SKIPPED: EventType.TASK_SKIPPED,
    TaskStatus.CONFLICTED: EventType.TASK_CONFLICTED,
    TaskStatus.CANCELLED: EventType.TASK_CANCELLED,
}


def test_a_stream_started_later_has_the_same_events() -> None:
    script = Script("a", task_needing("b", "a"), task_needing("c", "b"), settings=ONE)
    script.exit_attempt("a", Category.TASK)
    middle = len(script.records)
    script.wait(3600)
    for name in ("a", "b", "c"):
        script.exit_attempt(name)
    late, whole = EventStream(), EventStream()
    for record in script.records[:middle]:
        late.replay(record)
        whole.apply(record)
    rest = script.records[middle:]
    assert [late.apply(record) for record in rest] == [whole.apply(record) for record in rest]


def test_a_record_costs_no_more_in_a_large_batch() -> None:
    assert _calls(2000) <= _calls(50) * 1.2


def _calls(size: int) -> int:
    """How many functions are called to tell the end of one task of so many."""
    names = [f"t{n}" for n in range(size)]
    script = Script(*names, task_needing("last", *names), settings=ONE)
    stream = EventStream()
    for record in script.records:
        stream.apply(record)
    heard = len(script.records)
    script.exit_attempt("t0")
    count = 0

    def called(_frame: FrameType, what: str, _arg: object) -> None:
        nonlocal count
        count += what in {"call", "c_call"}

    sys.setprofile(called)
    try:
        for record in script.records[heard:]:
            stream.apply(record)
    finally:
        sys.setprofile(None)
    return count
