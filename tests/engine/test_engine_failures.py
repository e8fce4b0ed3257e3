"""What the world does to a running engine: set clocks, files that can't be read, processes that can't be seen."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.agents.drivers.shell import ShellAgent
from plait.agents.interface import AttemptContext, Command
from plait.core.reports import AttemptLaunched
from plait.core.requests import CancelTask, Resume, Retry
from plait.core.settings import Backoff, Isolation, Settings
from plait.core.status import TaskStatus
from plait.core.task import Attempt, Step, Task
from plait.engine.daemon import DOORBELL_FIFO
from plait.runtime.executor import AttemptSpec
from plait.store import batch_files
from plait.system import processes
from tests.support.temp_project import temp_project
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.engine_harness import EngineHarness

QUICK = Settings(agents=("shell",), isolation=Isolation.IN_PLACE, backoff=Backoff(base=0.01))
WAIT = "until [ -e go ]; do sleep 0.01; done"


def test_an_unreadable_pidfile_affects_only_its_attempt(harness: EngineHarness) -> None:
    harness.submit(Task("one", run=WAIT), Task("two", run=WAIT), settings=QUICK)
    first = harness.engine()
    claim = harness.folder.attempt(Attempt("b", "one", Step.WRITE, 1)).pidfile
    assert first.wait_until(lambda: len(_launched(harness)) == 2 and claim.exists())
    first.kill()
    claim.unlink()
    claim.mkdir()
    second = harness.engine()
    (harness.place.top / "go").touch()
    assert second.wait_until(second.has_ended)
    assert second.statuses() == {"one": TaskStatus.DONE, "two": TaskStatus.DONE}


def test_an_attempt_with_an_unreadable_pidfile_can_be_cancelled(harness: EngineHarness) -> None:
    harness.submit(Task("one", run="exec sleep 600"), settings=QUICK)
    first = harness.engine()
    claim = harness.folder.attempt(Attempt("b", "one", Step.WRITE, 1)).pidfile
    assert first.wait_until(lambda: bool(_launched(harness)) and claim.exists())
    first.kill()
    claim.unlink()
    claim.mkdir()
    harness.request(CancelTask("cancel", "b", "one"))
    second = harness.engine()
    assert second.wait_until(second.has_ended)
    assert second.statuses() == {"one": TaskStatus.CANCELLED}
    assert processes.read_process(_launched(harness)[0].pid or 0) is None


def test_a_process_table_that_cannot_be_read_does_not_end_the_engine(
    harness: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.submit(Task("one", run=WAIT), settings=QUICK)
    engine = harness.engine()
    assert engine.wait_until(lambda: bool(_launched(harness)))

    def too_many() -> list[object]:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as here:
        here.setattr("plait.runtime.process_tree.processes.list_processes", too_many)
        engine.parts.capacity._memory_checked_at = -100.0  # it is time to weigh
        assert engine.wait_until(lambda: engine.parts.capacity._memory_checked_at > 0)
    (harness.place.top / "go").touch()
    assert engine.wait_until(engine.has_ended)


def test_an_environment_that_cannot_be_deleted_does_not_end_the_engine(harness: EngineHarness) -> None:
    harness.submit(Task("one", run=WAIT), settings=QUICK)
    engine = harness.engine()
    assert engine.wait_until(lambda: bool(_launched(harness)))
    (harness.place.top / "go").touch()
    path = harness.folder.batch("b") / "environment.json"
    path.unlink()
    path.mkdir()
    assert engine.wait_until(engine.has_ended)
    assert engine.wait_until(lambda: engine.engine.is_finished)
    engine.engine.release()


def test_an_attempt_that_is_not_launched_yet_gets_the_environment_of_a_resume(
    harness: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.submit(Task("one", run="true"), settings=QUICK)
    engine = harness.engine()
    specs: list[AttemptSpec] = []
    with monkeypatch.context() as preparing:  # as while a workspace is prepared
        preparing.setattr(engine.parts.attempts.executors.of("b"), "start", specs.append)
        assert engine.wait_until(lambda: bool(specs))
        batch_files.write_batch_environment(harness.folder, "b", {**os.environ, "API_KEY": "new"})
        harness.request(Resume("resume", "b"))
        assert engine.wait_until(lambda: len(specs) == 2)
    assert [spec.env.get("API_KEY") for spec in specs] == [None, "new"]
    engine.parts.attempts.executors.of("b").start(specs[-1])
    harness.request(Resume("resume again", "b"))
    assert engine.wait_until(engine.has_ended)


def test_a_retry_while_the_batch_ends_uses_its_environment(harness: EngineHarness) -> None:
    """A front end sees the environment file and writes none; then the batch ends, and the file is deleted."""
    harness.submit(Task("one", run="[ -e go ]", retries=0), settings=QUICK)
    engine = harness.engine()
    assert engine.wait_until(lambda: not batch_files.has_environment(harness.folder, "b"))
    (harness.place.top / "go").touch()
    harness.request(Retry("retry", "b", "one"))
    assert engine.wait_until(lambda: engine.statuses() == {"one": TaskStatus.DONE}), engine.batch().tasks[0].reason


def test_an_agent_with_a_defect_fails_only_its_task(harness: EngineHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ShellAgent.build_command

    def broken(shell: ShellAgent, brief: AttemptContext) -> Command:
        if brief.task.id == "one":
            raise KeyError("oops")
        return whole(shell, brief)

    monkeypatch.setattr(ShellAgent, "build_command", broken)
    harness.submit(Task("one", run="true"), Task("two", run="true"), settings=QUICK)
    engine = harness.engine()
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"one": TaskStatus.FAILED, "two": TaskStatus.DONE}
    assert "KeyError" in engine.batch().tasks[0].reason


def test_an_engine_that_exits_takes_no_requests(harness: EngineHarness) -> None:
    """One that came at the last instant is left for the next engine: this one would perform it and go."""
    engine = harness.engine()
    assert engine.wait_until(lambda: engine.engine.is_finished)
    harness.submit(Task("one", run=WAIT), settings=QUICK)
    engine.engine.release()
    assert [request.id for request in harness.inbox.pending()] == ["submit-b"]
    assert not engine.engine.state.batches


def test_the_engine_sleeps_while_leftover_processes_are_ended(
    harness: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = harness.engine()
    assert engine.wait_until(lambda: engine.engine.is_finished)
    monkeypatch.setattr(engine.parts.performer, "sweep", lambda: 1)  # a process that does not go
    assert not engine.engine.is_finished
    engine.reactor.step(0)
    engine.engine.tick()
    assert engine.engine.max_sleep() > 0, "the loop would spin"


def test_a_doorbell_that_became_a_file_is_made_again(tmp_path: Path) -> None:
    with temp_project(tmp_path / "project") as home:
        home.task("one", "true")
        home.place.state.mkdir()
        (home.place.state / DOORBELL_FIFO).touch()
        answer = home.plait("run", "tasks", "--yes", "--isolation", "in-place")
        assert answer.code == 0, answer.output
        assert (home.place.state / DOORBELL_FIFO).is_fifo()


def test_the_engine_does_not_keep_inherited_descriptors_open(tmp_path: Path) -> None:
    with temp_project(tmp_path / "project") as home:
        home.task("one", WAIT)
        reader, writer = os.pipe()
        words = [
            sys.executable,
            "-m",
            "plait",
            "run",
            "tasks",
            "--yes",
            "--isolation",
            "in-place",
            "--detach",
        ]
        run = partial(subprocess.run, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        run(words, cwd=home.top, env=home.env, pass_fds=(writer,), timeout=60)
        os.close(writer)
        wait_until(home.find_engine)
        os.set_blocking(reader, False)
        wait_until(lambda: not _is_held(reader))  # somebody would wait for the end of it until the batch is over
        os.close(reader)
        (home.top / "go").touch()


def _is_held(reader: int) -> bool:
    """Whether anybody has the other end of a pipe."""
    try:
        return os.read(reader, 1) != b""
    except BlockingIOError:
        return True


def _launched(harness: EngineHarness) -> list[AttemptLaunched]:
    return [record.event for record in harness.journal.read() if isinstance(record.event, AttemptLaunched)]
