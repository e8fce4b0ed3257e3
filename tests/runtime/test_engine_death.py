from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen

import pytest

from plait.runtime.executor import ExitedProcess, RunningProcess
from plait.testing.contracts.executor import UNTIL_GO, ExecutorSetup, RecordedCallbacks

Engine = Callable[..., "Popen[str]"]


@pytest.fixture
def engine(scene: ExecutorSetup, tmp_path: Path) -> Iterator[Engine]:
    started: list[Popen[str]] = []

    def start(*words: str) -> Popen[str]:
        script = Path(__file__).with_name("child.py")
        command = [sys.executable, str(script), str(tmp_path / "state"), str(scene.workspace), *words]
        started.append(Popen(command, stdout=PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def told(engine: Popen[str]) -> list[str]:
    assert engine.stdout is not None
    return engine.stdout.readline().split()


def test_an_attempt_outlives_the_engine_that_started_it(scene: ExecutorSetup, engine: Engine) -> None:
    first = engine("one", f"echo ran >>runs; {UNTIL_GO}; exit 5")
    _, pid = told(first)
    first.kill()
    first.wait()
    attempt = scene.make_job("").attempt
    assert scene.wait_until((scene.workspace / "up").exists)
    assert scene.executor.adopt(attempt) == RunningProcess(int(pid))
    (scene.workspace / "go").touch()
    assert scene.wait_for_end(attempt) == 5
    assert (scene.workspace / "runs").read_text() == "ran\n"


def test_an_end_while_there_is_no_engine_is_found(scene: ExecutorSetup, engine: Engine) -> None:
    first = engine("one", f"{UNTIL_GO}; exit 5")
    told(first)
    first.kill()
    first.wait()
    (scene.workspace / "go").touch()
    attempt = scene.make_job("").attempt
    assert scene.wait_until(lambda: scene.open_executor(RecordedCallbacks()).adopt(attempt) == ExitedProcess(5))


def test_whenever_an_engine_dies_every_attempt_runs_exactly_once(scene: ExecutorSetup, engine: Engine) -> None:
    """Also between starting a warden and its claim: then the next engine starts another, and one of them runs."""
    names = [f"{number}" for number in range(12)]
    chance = Random(7)
    script = "echo $1 >>runs; exit 3"
    for _ in range(4):
        dying = engine(*names, script)
        for _ in range(chance.randrange(1, 6)):
            told(dying)
        dying.kill()
        dying.wait()
    for name in names:
        job = scene.make_job(script, name)
        scene.executor.start(type(job)(job.attempt, (*job.argv, "sh", name), job.workspace, job.env))
    assert scene.wait_until(lambda: len(scene.callbacks.ends) == len(names))
    assert set(scene.callbacks.ends.values()) == {3}
    assert sorted((scene.workspace / "runs").read_text().split(), key=int) == names
