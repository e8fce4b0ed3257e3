from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import pytest

from plait.core.decisions import AttemptStarted, DeadlinesMoved
from plait.core.events import Record
from plait.core.reports import AttemptExited, AttemptLaunched, ClockJumped
from plait.core.requests import CancelTask, SaveSettings, Stop
from plait.core.settings import Backoff, Isolation, Settings
from plait.core.status import BatchStatus, Category, TaskStatus
from plait.core.task import Need, Task
from plait.engine import daemon
from plait.engine.capacity_reporter import CLOCK_FILE
from plait.engine.daemon import HEALTH_FILE
from plait.runtime import supervisor
from plait.store.interfaces import JournalFullError
from tests.support.memory_store import MemoryJournal

if TYPE_CHECKING:
    from tests.support.engine_harness import EngineHarness

Kind = TypeVar("Kind")
QUICK = Settings(agents=("shell",), isolation=Isolation.IN_PLACE, backoff=Backoff(base=0.01))


def test_a_batch_runs_from_its_submission_to_its_end(harness: EngineHarness) -> None:
    harness.submit(
        Task("one", run="echo one >> told"),
        Task("two", run="echo two >> told", needs=(Need("one"),)),
        Task("bad", run="exit 3", retries=0),
    )
    engine = harness.engine()
    assert engine.wait_until(engine.has_ended)
    assert engine.batch().ended is BatchStatus.FAILED
    assert engine.statuses() == {"one": TaskStatus.DONE, "two": TaskStatus.DONE, "bad": TaskStatus.FAILED}
    assert harness.read_lines("told") == ["one", "two"]
    assert engine.batch().tasks[2].reason == "the agent failed: exit status 3"


def test_the_engine_is_finished_when_nothing_is_left_and_not_before(harness: EngineHarness) -> None:
    harness.submit(Task("one", run="true"))
    engine = harness.engine()
    assert not engine.engine.is_finished
    assert engine.wait_until(engine.has_ended)
    assert engine.wait_until(lambda: engine.engine.is_finished)
    engine.engine.release()
    assert engine.engine.state.engine is None


def test_nothing_is_performed_before_it_is_on_disk(harness: EngineHarness) -> None:
    harness.journal = disk = FullDisk()
    harness.submit(Task("one", run="echo one >> told"))
    engine = harness.engine()
    assert engine.wait_until(lambda: disk.refused >= 3)
    assert harness.read_lines("told") == []
    assert not engine.parts.attempts.running
    assert "the disk is full" in daemon.read_health(harness.place.state / HEALTH_FILE)
    disk.full = False
    assert engine.wait_until(engine.has_ended)
    assert harness.read_lines("told") == ["one"]
    assert daemon.read_health(harness.place.state / HEALTH_FILE) == ""


def test_a_disk_that_fills_up_while_an_attempt_runs_loses_nothing(harness: EngineHarness) -> None:
    harness.journal = disk = FullDisk()
    disk.full = False
    harness.submit(Task("one", run="until [ -e go ]; do sleep 0.01; done; echo one >> told"), Task("two", run="true"))
    engine = harness.engine()
    assert engine.wait_until(
        lambda: len(engine.parts.attempts.running) == 1 and engine.statuses()["two"] is TaskStatus.DONE
    )
    disk.full = True
    (harness.place.top / "go").touch()
    assert engine.wait_until(lambda: disk.refused >= 2)
    engine.kill()
    disk.full = False
    next_one = harness.engine()
    assert next_one.wait_until(next_one.has_ended)
    assert next_one.statuses() == {"one": TaskStatus.DONE, "two": TaskStatus.DONE}
    assert harness.read_lines("told") == ["one"]


def test_settings_are_saved_when_a_full_disk_has_space_again(harness: EngineHarness) -> None:
    harness.journal = disk = FullDisk()
    engine = harness.engine()
    harness.request(SaveSettings("save", (("retries", "1"),)))
    assert engine.wait_until(lambda: disk.refused >= 2)
    assert (harness.journal.last(), harness.journal.settings()) == (0, {})
    disk.full = False
    assert engine.wait_until(lambda: harness.journal.settings() == {"retries": "1"})


def test_the_next_engine_adopts_running_attempts(harness: EngineHarness) -> None:
    harness.submit(Task("one", run="until [ -e go ]; do sleep 0.01; done; echo $PLAIT_ATTEMPT >> told"))
    first = harness.engine()
    assert first.wait_until(lambda: bool(first.parts.attempts.running) and bool(launched(harness.journal.read())))
    first.kill()
    second = harness.engine()
    assert second.wait_until(lambda: len(second.parts.attempts.running) == 1 and second.engine.state.engine is not None)
    (harness.place.top / "go").touch()
    assert second.wait_until(second.has_ended)
    assert harness.read_lines("told") == ["1"]
    assert len({each.pid for each in launched(harness.journal.read())}) == 1


def test_the_next_engine_reports_attempts_that_ended_meanwhile(harness: EngineHarness) -> None:
    harness.submit(
        Task("one", run="until [ -e go ]; do sleep 0.01; done; echo $PLAIT_ATTEMPT >> told; exit 5", retries=0)
    )
    first = harness.engine()
    assert first.wait_until(lambda: bool(launched(harness.journal.read())))
    first.kill()
    (harness.place.top / "go").touch()
    exit_file = harness.folder.attempt(launched(harness.journal.read())[0].attempt).exit_status
    while supervisor.read_exit_status(exit_file) is None:
        pass  # it is launched, but its supervisor may not have started yet
    second = harness.engine()
    assert second.wait_until(second.has_ended)
    assert harness.read_lines("told") == ["1"]
    assert [each.outcome.exit_code for each in events(harness, AttemptExited)] == [5]


def test_the_next_engine_starts_attempts_that_were_decided_and_never_started(harness: EngineHarness) -> None:
    """The engine died between its commit and the start."""
    harness.submit(Task("one", run="echo one >> told"))
    first = harness.engine()
    first.parts.performer.perform = lambda record: None  # type: ignore[method-assign]  # noqa: ARG005 - it dies here
    assert first.wait_until(lambda: bool(events(harness, AttemptStarted)))
    first.kill()
    second = harness.engine()
    assert second.wait_until(second.has_ended)
    assert harness.read_lines("told") == ["one"]
    assert len(events(harness, AttemptStarted)) == 1


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_clock_that_is_set_times_nothing_out(harness: EngineHarness, jump: float) -> None:
    settings = replace(QUICK, timeout=60.0, idle_timeout=60.0)
    harness.submit(Task("one", run="until [ -e go ]; do sleep 0.01; done"), settings=settings)
    engine = harness.engine()
    assert engine.wait_until(lambda: bool(launched(harness.journal.read())))
    harness.clock_offset = jump
    assert engine.wait_until(lambda: bool(events(harness, ClockJumped)))
    (harness.place.top / "go").touch()
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"one": TaskStatus.DONE}


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_clock_set_while_no_engine_runs_times_nothing_out(harness: EngineHarness, jump: float) -> None:
    settings = replace(QUICK, timeout=60.0, idle_timeout=60.0)
    harness.submit(Task("one", run="until [ -e go ]; do sleep 0.01; done"), settings=settings)
    first = harness.engine()
    assert first.wait_until(lambda: bool(launched(harness.journal.read())))
    deadline = next(iter(first.batch().alive.values())).deadline
    first.kill()
    harness.clock_offset = jump
    second = harness.engine()
    assert second.wait_until(lambda: bool(events(harness, DeadlinesMoved)))
    assert next(iter(second.batch().alive.values())).deadline == pytest.approx(deadline + jump, abs=1)
    second.kill()
    third = harness.engine()  # which knows of the jump
    (harness.place.top / "go").touch()
    assert third.wait_until(third.has_ended)
    assert third.statuses() == {"one": TaskStatus.DONE}
    assert len(events(harness, ClockJumped)) == 1


def test_a_clock_of_an_earlier_boot_is_not_compared(harness: EngineHarness) -> None:
    harness.submit(Task("one", run="until [ -e go ]; do sleep 0.01; done"))
    first = harness.engine()
    assert first.wait_until(lambda: bool(launched(harness.journal.read())))
    first.kill()
    (harness.place.state / CLOCK_FILE).write_text("another-boot 17.0")
    second = harness.engine()
    (harness.place.top / "go").touch()
    assert second.wait_until(second.has_ended)
    assert events(harness, ClockJumped) == []


def test_an_attempt_that_hangs_is_ended_by_its_time_limit(harness: EngineHarness) -> None:
    harness.submit(Task("one", run="exec sleep 600", retries=0), settings=replace(QUICK, timeout=0.2))
    engine = harness.engine()
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"one": TaskStatus.TIMED_OUT}


def test_a_silent_attempt_is_ended(harness: EngineHarness) -> None:
    """What one that prints reports is tested with a clock of the test's own: test_attempt_reports.py."""
    harness.submit(Task("one", run="exec sleep 600", retries=0), settings=replace(QUICK, idle_timeout=0.2))
    engine = harness.engine()
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"one": TaskStatus.TIMED_OUT}
    assert engine.batch().tasks[0].category is Category.IDLE


def test_cancelling_ends_the_process(harness: EngineHarness) -> None:
    harness.submit(Task("one", run="echo $$ > pid; exec sleep 600"), Task("two", run="true"))
    engine = harness.engine()
    assert engine.wait_until(lambda: bool(harness.read_lines("pid")))
    harness.request(CancelTask("cancel", "b", "one"))
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"one": TaskStatus.CANCELLED, "two": TaskStatus.DONE}


def test_a_stopped_batch_can_be_resumed(harness: EngineHarness) -> None:
    harness.submit(Task("one", run="exec sleep 600"))
    engine = harness.engine()
    assert engine.wait_until(lambda: bool(engine.parts.attempts.running))
    harness.request(Stop("stop", "b", now=True))
    assert engine.wait_until(lambda: not engine.parts.attempts.running and not engine.batch().alive)
    assert engine.batch().ended is None
    assert engine.wait_until(lambda: engine.engine.is_finished), "with all that is left waiting for a person, it leaves"


def test_a_batch_without_its_inputs_fails_with_a_reason(harness: EngineHarness) -> None:
    harness.submit(Task("one", run="true"))
    (harness.folder.batch("b") / "kit.json").unlink()
    engine = harness.engine()
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"one": TaskStatus.FAILED}
    assert "can't read the files of batch b" in engine.batch().tasks[0].reason


def test_the_environment_is_deleted_when_the_batch_has_ended(harness: EngineHarness) -> None:
    harness.submit(Task("one", run="true"))
    path = harness.folder.batch("b") / "environment.json"
    assert path.exists()
    engine = harness.engine()
    assert engine.wait_until(engine.has_ended)
    assert engine.wait_until(lambda: not path.exists())


def test_two_batches_share_the_limit(harness: EngineHarness) -> None:
    script = "echo + >> told; until [ $(grep -c + told) -ge 4 ]; do sleep 0.01; done; echo - >> told"
    for batch in ("a", "b"):
        harness.submit(*(Task(f"{batch}{number}", run=script) for number in range(6)), batch=batch)
    engine = harness.engine()
    assert engine.wait_until(lambda: engine.has_ended("a") and engine.has_ended("b"))
    depth = most = 0
    for line in harness.read_lines("told"):
        depth += 1 if line == "+" else -1
        most = max(most, depth)
    assert most == 4


class FullDisk(MemoryJournal):
    """The world's failure, not ours: a disk without room."""

    def __init__(self) -> None:
        super().__init__()
        self.full = True
        self.refused = 0

    def append(self, records: Sequence[Record]) -> None:
        if self.full:
            self.refused += 1
            raise JournalFullError("the disk is full", hint="free some space")
        super().append(records)


def launched(records: object) -> list[AttemptLaunched]:
    return [record.event for record in records if isinstance(record.event, AttemptLaunched)]  # type: ignore[attr-defined]


def events(harness: EngineHarness, kind: type[Kind]) -> list[Kind]:
    return [record.event for record in harness.journal.read() if isinstance(record.event, kind)]
