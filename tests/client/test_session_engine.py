"""The desk and the real engine: a process of its own, started when it is needed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.client.session import Session, Submission, new_request_id, open_session
from plait.core.requests import CancelTask, Retry
from plait.core.state import BatchState
from plait.core.status import BatchStatus, TaskStatus
from plait.core.task import Origin, Task
from tests.support.journal_writer import SETTINGS, build_plan
from tests.support.temp_project import EngineProject, engine_project

PATIENCE = 60.0


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineProject]:
    """With its surroundings as this process's own: what is started from here is at home there."""
    with engine_project(tmp_path, repository=False) as made:
        for name in os.environ.keys() - made.env.keys():
            monkeypatch.delenv(name)
        for name, value in made.env.items():
            monkeypatch.setenv(name, value)
        yield made


def task(name: str, run: str) -> Task:
    return Task(name, run=run, origin=Origin(f"{name}.md", 1))


def submit(desk: Session, *tasks: Task) -> BatchState:
    return desk.state.batches[desk.submit(Submission(build_plan(*tasks), SETTINGS, sources=("tasks",)))]


def until_ended(desk: Session, batch: str) -> BatchState:
    deadline = time.monotonic() + PATIENCE
    while batch in desk.state.open:
        assert time.monotonic() < deadline
        desk.ensure_engine()
        desk.wait(0.2)
        desk.refresh()
    return desk.state.batches[batch]


def test_a_batch_is_run_and_the_engine_leaves(house: EngineProject) -> None:
    with open_session(house.place) as desk:
        batch = submit(desk, task("a", "echo done > a.txt"))
        assert desk.find_engine() is not None
        assert until_ended(desk, batch.id).ended is BatchStatus.COMPLETED
    assert (house.top / "a.txt").read_text() == "done\n"
    assert house.wait_for_exit() == []


def test_an_engine_that_is_killed_is_replaced_and_nothing_runs_twice(house: EngineProject) -> None:
    with open_session(house.place) as desk:
        batch = submit(desk, task("a", "echo + >> log; while [ ! -e go ]; do sleep 0.02; done"))
        deadline = time.monotonic() + PATIENCE
        while not (house.top / "log").exists():
            assert time.monotonic() < deadline
        engine = desk.find_engine()
        assert engine is not None
        os.kill(engine.pid, signal.SIGKILL)
        (house.top / "go").touch()
        assert until_ended(desk, batch.id).ended is BatchStatus.COMPLETED
    assert (house.top / "log").read_text() == "+\n"


def test_what_another_front_asks_for_is_seen(house: EngineProject) -> None:
    with open_session(house.place) as one, open_session(house.place) as other:
        batch = submit(one, task("a", "sleep 600"), task("b", "true"))
        other.refresh()
        assert other.send(CancelTask(new_request_id(), batch.id, "a")).granted
        ended = until_ended(one, batch.id)
        assert [each.status for each in ended.tasks] == [TaskStatus.CANCELLED, TaskStatus.DONE]
    assert house.wait_for_exit() == []


def test_a_batch_that_is_taken_up_again_runs_with_the_environment_of_who_did_it(
    house: EngineProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_session(house.place) as desk:
        batch = submit(desk, task("a", '[ -n "$LUCK" ]'))
        assert until_ended(desk, batch.id).ended is BatchStatus.FAILED
        monkeypatch.setenv("LUCK", "yes")
        assert desk.send(Retry(new_request_id(), batch.id, "a")).granted
        assert until_ended(desk, batch.id).ended is BatchStatus.COMPLETED
