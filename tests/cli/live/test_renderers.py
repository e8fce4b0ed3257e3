"""Plain lines: one per change, and no more."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest

from plait.cli.live.renderers import EventLines
from plait.client.event_stream import EventStream
from plait.client.event_types import EventFields, EventType, GateProgress, StreamEvent
from plait.core.reports import (
    AttemptAsked,
    AttemptPhase,
    CommitWaiting,
    ConflictCleared,
    ConflictPredicted,
    EngineTaken,
    GateDone,
    PressureChanged,
    RateLimited,
)
from plait.core.requests import Drop, Pause, Stop
from plait.core.settings import Isolation, Mode, Publish, Settings
from plait.core.status import Category
from plait.core.task import Attempt, Step, Task
from plait.testing.script import BATCH, Script, task_needing

ALONE = Settings(isolation=Isolation.IN_PLACE, retries=1)


def lines(script: Script) -> list[str]:
    feed = EventStream()
    formatter = EventLines("7f3a", ("03-split", "04"), UTC)
    events = [event for record in script.records for event in feed.apply(record)]
    return [line for event in events if (line := formatter.format_event(event)) is not None]


def test_each_event_of_a_batch_is_one_line() -> None:
    script = Script(Task("03-split", title="Split"), task_needing("04", "03-split"), settings=ALONE)
    script.apply(EngineTaken(42))
    attempt = next(iter(script.task("03-split").alive))
    script.apply(AttemptPhase(attempt, "Phase 1: Read"))
    script.exit_attempt("03-split", Category.TASK, detail="1 test\nfailed")
    script.wait(60)
    script.exit_attempt("03-split")
    script.exit_attempt("04", Category.USAGE, detail="no such option")
    assert lines(script) == [
        "00:16:41  batch 7f3a  created: 2 tasks, parallel",
        "00:16:41  03-split    started (shell, attempt 1)",
        "00:16:42  plait       engine running (pid 42)",
        "00:16:43  03-split    Phase 1: Read",
        "00:16:44  03-split    retrying at 00:16:55: the agent failed: 1 test failed",
        "00:16:55  03-split    started (shell, attempt 2)",
        "00:17:45  03-split    done in place",
        "00:17:45  04          started (shell, attempt 1)",
        "00:17:46  04          failed: the command can't be run: no such option · plait logs 7f3a 04",
        "00:17:46  batch 7f3a  partial: 1 done, 1 not done",
    ]


def test_a_task_that_waits_for_a_person_shows_the_command() -> None:
    queue = Settings(isolation=Isolation.IN_PLACE, mode=Mode.QUEUE)
    script = Script("03-split", "04", settings=queue)
    assert lines(script)[-1] == "00:16:41  03-split    waits for approval · plait approve 7f3a"
    script = Script("it's", settings=ALONE)
    script.apply(AttemptAsked(next(iter(script.task("it's").alive)), "Which one?"))
    answer = "plait feedback 7f3a 'it'\"'\"'s' 'your answer'"
    assert lines(script)[-1] == f"00:16:42  it's        asks: Which one? · {answer}"


def test_a_program_that_may_ask_for_a_passphrase_is_a_line() -> None:
    script = Script("03-split", "04")
    script.exit_attempt("03-split", tip=None, uncommitted=True)
    script.apply(CommitWaiting(Attempt(BATCH, "03-split", Step.WRITE, 1), 1, "gpg"))
    waits = "committing the result: waiting for gpg, which signs the commit and may ask for a passphrase"
    assert lines(script)[-1].endswith(f"  03-split    {waits}")


def test_limits_and_pauses_are_lines() -> None:
    script = Script("03-split", settings=ALONE)
    script.apply(RateLimited("anthropic", script.now + 61))
    script.apply(PressureChanged("no disk"))
    script.apply(PressureChanged(None))
    script.request(lambda name: Pause(name, BATCH))
    script.request(lambda name: Stop(name, BATCH))
    script.exit_attempt("03-split", Category.KILLED)
    assert [line[10:] for line in lines(script)[2:]] == [
        "plait       anthropic is unavailable until 00:17:42: the provider refused",
        "plait       nothing new starts: no disk",
        "plait       tasks can start again",
        "batch 7f3a  paused by request",
        "batch 7f3a  paused: stopped by request",
        "03-split    interrupted: stopped by request",
    ]


def test_verification_and_merging_are_lines() -> None:
    script = Script("03-split", settings=Settings(verify="make test"))
    script.exit_attempt("03-split")
    script.exit_attempt("03-split")
    assert [line[22:] for line in lines(script)[2:]] == [
        "verifying: make test",
        "verified",
        "merged as base+03-sp",
        "done",
        "completed: 1 done",
    ]


def test_conflicts_show_their_files_and_the_diff_command() -> None:
    script = Script("03-split", "04", settings=Settings(retries=0))
    script.apply(ConflictPredicted(BATCH, "03-split", "04", ("a.py", "b.py")))
    script.apply(ConflictPredicted(BATCH, "03-split", "", ("a.py",)))
    script.apply(ConflictCleared(BATCH, "03-split", ""))
    script.answers_merges = False
    script.exit_attempt("04")
    script.conflict_merge("04", "a.py", "b.py")
    assert [line[10:] for line in lines(script)[3:]] == [
        "03-split    would conflict with 04 in a.py, b.py",
        "03-split    would conflict with the batch branch in a.py",
        "03-split    no longer conflicts with the batch branch",
        "04          conflicted: its change conflicts with what was merged before: a.py, b.py · plait diff 7f3a 04",
    ]


def test_publishing_is_shown_from_start_to_end() -> None:
    script = Script("03-split", settings=Settings(publish=Publish.PR))
    script.exit_attempt("03-split")
    script.finish_publish("https://example.org/pull/7")
    assert [line[22:] for line in lines(script)[4:]] == [
        "publishing its branch and its pull request, at base+03-sp",
        "published, at base+03-sp: https://example.org/pull/7",
        "completed: 1 done",
    ]
    script = Script("03-split", settings=Settings(publish=Publish.PUSH))
    script.exit_attempt("03-split")
    script.fail_publish("origin can't be reached", "a hint")
    assert [line[22:] for line in lines(script)[4:6]] == [
        "publishing its branch, at base+03-sp",
        "not published: origin can't be reached",
    ]


def test_a_gate_shows_its_commit_and_the_dropped_tasks() -> None:
    script = Script("03-split", "04", settings=Settings(gate="make test", max_parallel=1))
    script.exit_attempt("03-split")
    script.exit_attempt("04")
    script.finish_gate(passed=False)
    script.finish_gate(passed=True)  # the base alone
    result = [line[10:] for line in lines(script)]
    assert any(line.startswith("batch 7f3a  gate") and ": make test, on base+03-sp" in line for line in result)
    assert "03-split    failed: the gate failed with its change · plait logs 7f3a 03-split --gate" in result
    assert "batch 7f3a  rebuilding the batch branch without 03-split" in result


GATE: GateProgress = {"gate": 2, "commit": "0123456789abcdef", "merges": 3}


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        (3, "gate 2: make, on 0123456789 (3 merges)"),
        (0, "gate 2: make, on 0123456789 (the base, without merges)"),
    ],
)
def test_a_gate_shows_what_it_runs_on(merges: int, message: str) -> None:
    data: EventFields = {"command": "make", "gate": 2, "commit": "0123456789abcdef", "merges": merges}
    event = StreamEvent(1, 0.0, EventType.BATCH_GATING, "b1", data=data)
    assert EventLines("7f3a", zone=UTC).format_event(event) == f"00:00:00  batch 7f3a  {message}"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"result": "passed", "merges": 1}, "gate 2 passed (1 merge)"),
        (
            {"result": "failed", "error": "no", "suspects": ["a", "b", "c", "d"]},
            "gate 2 failed (3 merges): no; caused by one of: a, b, c and 1 more · plait logs 7f3a --gate --attempt 2",
        ),
        (
            {"result": "failed", "error": "no", "suspects": ["a"]},
            "gate 2 failed (3 merges): no · plait logs 7f3a --gate --attempt 2",
        ),
        ({"result": "lost", "error": "it is gone"}, "gate 2 lost (3 merges): it is gone"),
    ],
)
def test_a_gate_shows_its_result(more: GateProgress, message: str) -> None:
    event = StreamEvent(1, 0.0, EventType.BATCH_PROGRESS, "b1", data={"total": 3, "gating": {**GATE, **more}})
    assert EventLines("7f3a", zone=UTC).format_event(event) == f"00:00:00  batch 7f3a  {message}"


def test_mere_counts_are_no_line() -> None:
    assert (
        EventLines("b1", zone=UTC).format_event(StreamEvent(1, 0.0, EventType.BATCH_PROGRESS, "b1", data={"total": 3}))
        is None
    )


@pytest.mark.parametrize("kind", list(EventType))
def test_every_kind_of_event_can_be_formatted(kind: EventType) -> None:
    batch = "b1" if kind.startswith("batch:") else None
    task = "t" if kind.startswith("batch:task:") else None
    more: EventFields = {"retryAt": "2026-11-15T10:00:00.000Z", "until": "2026-11-15T10:00:00.000Z"}
    result = EventLines("b1", zone=UTC).format_event(StreamEvent(1, 0.0, kind, batch, task, 1, more))
    assert result is None or result.startswith("00:00:00  ")


def test_times_are_local_and_control_characters_are_replaced() -> None:
    event = StreamEvent(1, 0.0, EventType.TASK_FAILED, "b1", "\x1b[2Jt", 1, {"reason": "a\nb\x1b]0;x\x07"})
    result = EventLines("b1", zone=timezone(timedelta(hours=5, minutes=30))).format_event(event)
    assert result is not None
    assert result.startswith("05:30:00  \ufffd[2Jt     failed: a b\ufffd]0;x\ufffd")
    assert result.isprintable()


def test_each_gate_result_is_shown_once_and_stale_gates_are_not() -> None:
    script = Script("03-split", "04", settings=Settings(gate="make", max_parallel=0, retries=0))
    script.exit_attempt("03-split")
    script.exit_attempt("04")
    script.finish_gate(passed=True)
    script.finish_gate(passed=False)
    script.apply(GateDone(BATCH, 2, passed=False))  # again
    result = [line[22:] for line in lines(script) if "gate 1" in line or "gate 2" in line]
    assert result == [
        "gate 1: make, on base+03-sp (1 merge)",
        "gate 1 passed (1 merge)",
        "gate 2: make, on base+03-sp (2 merges)",
        "gate 2 failed (2 merges) · plait logs 7f3a --gate --attempt 2",
    ]
    dropped = Script("03-split", "04", settings=Settings(gate="make", max_parallel=0, retries=0))
    dropped.exit_attempt("03-split")
    dropped.request(lambda name: Drop(name, BATCH, "03-split"))
    dropped.finish_gate(passed=False)
    assert not [line for line in lines(dropped) if "gate 1 failed" in line]
