"""Plain lines: one per change, and no more."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest

from plait.cli.lines import Lines
from plait.core.reports import AttemptAsked, AttemptPhase, EngineTaken, PressureChanged, RateLimited
from plait.core.requests import Pause, Stop
from plait.core.settings import Isolation, Mode, Settings
from plait.core.status import Category
from plait.core.task import Task
from plait.front.event import Event, EventType
from plait.front.feed import Feed
from plait.testing.script import BATCH, Script, needs

ALONE = Settings(isolation=Isolation.IN_PLACE, retries=1)


def lines(script: Script) -> list[str]:
    feed = Feed()
    told = Lines(("03-split", "04"), name="7f3a", zone=UTC)
    events = [event for record in script.records for event in feed.take(record)]
    return [line for event in events if (line := told.tell(event)) is not None]


def test_a_course_of_events() -> None:
    script = Script(Task("03-split", title="Split"), needs("04", "03-split"), settings=ALONE)
    script.happen(EngineTaken(42))
    attempt = next(iter(script.task("03-split").alive))
    script.happen(AttemptPhase(attempt, "Phase 1: Read"))
    script.exits("03-split", Category.TASK, detail="1 test\nfailed")
    script.wait(60)
    script.exits("03-split")
    script.exits("04", Category.USAGE, detail="no such option")
    assert lines(script) == [
        "00:16:41  batch 7f3a  created: 2 tasks, parallel",
        "00:16:41  03-split    started (shell, attempt 1)",
        "00:16:42  plait       an engine is at work (pid 42)",
        "00:16:43  03-split    Phase 1: Read",
        "00:16:44  03-split    goes again at 00:16:55: the agent failed: 1 test failed",
        "00:16:55  03-split    started (shell, attempt 2)",
        "00:17:45  03-split    done in place",
        "00:17:45  04          started (shell, attempt 1)",
        "00:17:46  04          failed: the command can't be run: no such option · plait logs 7f3a 04",
        "00:17:46  batch 7f3a  failed: 1 done, 1 failed",
    ]


def test_what_waits_for_a_person_says_what_to_do() -> None:
    queue = Settings(isolation=Isolation.IN_PLACE, mode=Mode.QUEUE)
    script = Script("03-split", "04", settings=queue)
    assert lines(script)[-1] == "00:16:41  03-split    waits for approval · plait approve 7f3a"
    script = Script("it's", settings=ALONE)
    script.happen(AttemptAsked(next(iter(script.task("it's").alive)), "Which one?"))
    answer = "plait feedback 7f3a 'it'\"'\"'s' 'your answer'"
    assert lines(script)[-1] == f"00:16:42  it's        asks: Which one? · {answer}"


def test_limits_and_pauses() -> None:
    script = Script("03-split", settings=ALONE)
    script.happen(RateLimited("anthropic", script.now + 61))
    script.happen(PressureChanged("no disk"))
    script.happen(PressureChanged(None))
    script.ask(lambda name: Pause(name, BATCH))
    script.ask(lambda name: Stop(name, BATCH))
    script.exits("03-split", Category.KILLED)
    assert [line[10:] for line in lines(script)[2:]] == [
        "plait       anthropic takes no work until 00:17:42: the provider refused",
        "plait       nothing new starts: no disk",
        "plait       the machine takes work again",
        "batch 7f3a  paused by request",
        "batch 7f3a  paused: stopped by request",
        "03-split    interrupted: stopped by request",
    ]


def test_verification_and_merging() -> None:
    script = Script("03-split", settings=Settings(verify="make test"))
    script.exits("03-split")
    script.exits("03-split")
    assert [line[22:] for line in lines(script)[2:5]] == ["verifying: make test", "verified", "merged"]


@pytest.mark.parametrize("kind", list(EventType))
def test_every_kind_of_event_is_a_line_or_none(kind: EventType) -> None:
    batch = "b1" if kind.startswith("batch:") else None
    task = "t" if kind.startswith("batch:task:") else None
    more = {"retryAt": "2026-11-15T10:00:00.000Z", "until": "2026-11-15T10:00:00.000Z"}
    told = Lines(zone=UTC).tell(Event(1, 0.0, kind, batch, task, 1, more))
    assert told is None or told.startswith("00:00:00  ")


def test_the_clock_is_the_reader_s_and_nothing_steers_the_terminal() -> None:
    event = Event(1, 0.0, EventType.TASK_FAILED, "b1", "\x1b[2Jt", 1, {"reason": "a\nb\x1b]0;x\x07"})
    told = Lines(zone=timezone(timedelta(hours=5, minutes=30))).tell(event)
    assert told is not None
    assert told.startswith("05:30:00  \ufffd[2Jt   failed: a b\ufffd]0;x\ufffd")
    assert told.isprintable()
