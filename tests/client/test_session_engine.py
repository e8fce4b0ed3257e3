"""A session and the real engine, which is a process of its own and starts on demand."""

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
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import TIMEOUT_SECONDS


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TempProject]:
    """With its surroundings as this process's own: what is started from here is at home there."""
    with temp_project(tmp_path, repository=False) as made:
        for name in os.environ.keys() - made.env.keys():
            monkeypatch.delenv(name)
        for name, value in made.env.items():
            monkeypatch.setenv(name, value)
        yield made


def task(name: str, run: str) -> Task:
    return Task(name, run=run, origin=Origin(f"{name}.md", 1))


def submit(session: Session, *tasks: Task) -> BatchState:
    return session.state.batches[session.submit(Submission(build_plan(*tasks), SETTINGS, sources=("tasks",)))]


def until_ended(session: Session, batch: str) -> BatchState:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while batch in session.state.open:
        assert time.monotonic() < deadline
        session.ensure_engine()
        session.wait(0.2)
        session.refresh()
    return session.state.batches[batch]


def test_a_batch_runs_and_the_engine_exits(project: TempProject) -> None:
    with open_session(project.place) as session:
        batch = submit(session, task("a", "echo done > a.txt"))
        assert session.find_engine() is not None
        assert until_ended(session, batch.id).ended is BatchStatus.COMPLETED
    assert (project.top / "a.txt").read_text() == "done\n"
    project.wait_for_exit()


def test_a_killed_engine_is_replaced_and_nothing_runs_twice(project: TempProject) -> None:
    with open_session(project.place) as session:
        batch = submit(session, task("a", "echo + >> log; while [ ! -e go ]; do sleep 0.02; done"))
        project.wait_for_file("log")
        engine = session.find_engine()
        assert engine is not None
        os.kill(engine.pid, signal.SIGKILL)
        (project.top / "go").touch()
        assert until_ended(session, batch.id).ended is BatchStatus.COMPLETED
    assert (project.top / "log").read_text() == "+\n"


def test_a_request_of_another_client_is_seen(project: TempProject) -> None:
    with open_session(project.place) as one, open_session(project.place) as other:
        batch = submit(one, task("a", "sleep 600"), task("b", "true"))
        other.refresh()
        assert other.send(CancelTask(new_request_id(), batch.id, "a")).granted
        ended = until_ended(one, batch.id)
        assert [each.status for each in ended.tasks] == [TaskStatus.CANCELLED, TaskStatus.DONE]
    project.wait_for_exit()


def test_a_reopened_batch_runs_with_the_environment_of_the_caller(
    project: TempProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_session(project.place) as session:
        batch = submit(session, task("a", '[ -n "$LUCK" ]'))
        assert until_ended(session, batch.id).ended is BatchStatus.FAILED
        monkeypatch.setenv("LUCK", "yes")
        assert session.send(Retry(new_request_id(), batch.id, "a")).granted
        assert until_ended(session, batch.id).ended is BatchStatus.COMPLETED
