from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen

import pytest

from plait.runtime.executor import ExitedProcess, RunningProcess
from plait.testing.contracts.executor import UNTIL_GO, ExecutorHarness, RecordedCallbacks

Engine = Callable[..., "Popen[str]"]


@pytest.fixture
def engine(harness: ExecutorHarness, tmp_path: Path) -> Iterator[Engine]:
    started: list[Popen[str]] = []

    def start(*words: str) -> Popen[str]:
        script = Path(__file__).with_name("child.py")
        command = [sys.executable, str(script), str(tmp_path / "state"), str(harness.workspace), *words]
        started.append(Popen(command, stdout=PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def output(engine: Popen[str]) -> list[str]:
    assert engine.stdout is not None
    return engine.stdout.readline().split()


def test_an_attempt_outlives_the_engine_that_started_it(harness: ExecutorHarness, engine: Engine) -> None:
    first = engine("one", f"echo ran >>runs; {UNTIL_GO}; exit 5")
    _, pid = output(first)
    first.kill()
    first.wait()
    attempt = harness.make_job("").attempt
    assert harness.wait_until((harness.workspace / "up").exists)
    assert harness.executor.adopt(attempt) == RunningProcess(int(pid))
    (harness.workspace / "go").touch()
    assert harness.wait_for_end(attempt) == 5
    assert (harness.workspace / "runs").read_text() == "ran\n"


def test_an_exit_without_an_engine_is_found(harness: ExecutorHarness, engine: Engine) -> None:
    first = engine("one", f"{UNTIL_GO}; exit 5")
    output(first)
    first.kill()
    first.wait()
    (harness.workspace / "go").touch()
    attempt = harness.make_job("").attempt
    assert harness.wait_until(lambda: harness.open_executor(RecordedCallbacks()).adopt(attempt) == ExitedProcess(5))


def test_every_attempt_runs_exactly_once_whenever_an_engine_dies(harness: ExecutorHarness, engine: Engine) -> None:
    """Also between launching a supervisor and its pidfile: then the next engine launches another, and one of them runs."""
    names = [f"{number}" for number in range(12)]
    chance = Random(7)
    script = "echo $1 >>runs; exit 3"
    for _ in range(4):
        dying = engine(*names, script)
        for _ in range(chance.randrange(1, 6)):
            output(dying)
        dying.kill()
        dying.wait()
    for name in names:
        job = harness.make_job(script, name)
        harness.executor.start(type(job)(job.attempt, (*job.argv, "sh", name), job.workspace, job.env))
    assert harness.wait_until(lambda: len(harness.callbacks.ends) == len(names))
    assert set(harness.callbacks.ends.values()) == {3}
    assert sorted((harness.workspace / "runs").read_text().split(), key=int) == names
