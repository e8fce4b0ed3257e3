"""`drop` and `retry` return when what they ask for is done."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

RUN = ("run", "tasks", "--yes", "--retries", "0")
HOLD = "touch ../../begun; until [ -e ../../go ]; do sleep 0.02; done"


@pytest.fixture
def failing(project: TempProject) -> TempProject:
    """The first task failed, and waits for a file when it is retried; the second needs it; the third is done."""
    project.task("01-a", f"[ $PLAIT_ATTEMPT != 1 ] || exit 1; {HOLD}; echo a > a.txt")
    project.task("02-b", "cat a.txt > b.txt", needs="[01-a]")
    project.task("03-c", "echo c > c.txt")
    project.commit_all()
    assert project.plait(*RUN).code == 1
    project.git("rev-parse", project.branch)
    return project


def open_workspace_gate(project: TempProject) -> None:
    """Let the held task continue: its workspace is two folders below this one."""
    (begun,) = (project.folder / "home" / "cache" / "plait" / "worktrees").glob("*/begun")
    (begun.parent / "go").touch()


def wait_for_retry(project: TempProject) -> None:
    worktrees = project.folder / "home" / "cache" / "plait" / "worktrees"
    wait_until(lambda: list(worktrees.glob("*/begun")))


def test_a_dropped_change_is_out_of_the_branch_when_the_command_returns(project: TempProject) -> None:
    project.task("01-a", "echo a > a.txt")
    project.task("02-b", "echo b > b.txt")
    project.commit_all()
    assert project.plait(*RUN).code == 0
    answer = project.plait("drop", "01-a")
    assert project.read_merged_files() == {"b.txt": "b"}
    assert str(answer) == "01-a is skipped: dropped by request\nexit 0\n"


def test_a_retry_returns_when_the_tasks_and_those_they_blocked_have_ended(failing: TempProject) -> None:
    retry = failing.start("retry")
    wait_for_retry(failing)
    assert retry.poll() is None
    open_workspace_gate(failing)
    answer = failing.finish(retry)
    assert failing.statuses() == {"01-a": "done", "02-b": "done", "03-c": "done"}
    assert failing.read_merged_files() == {"a.txt": "a", "b.txt": "a", "c.txt": "c"}
    assert answer.code == 0
    assert "01-a is done: merged\n02-b is done: merged\n" in answer.out


def test_a_retry_that_fails_again_exits_with_1_and_json_has_the_final_status(project: TempProject) -> None:
    project.task("01-a", "exit 1")
    project.commit_all()
    assert project.plait(*RUN).code == 1
    answer = project.plait("retry", "--json")
    (result,) = json.loads(answer.out)["results"]
    assert (result["result"], result["status"], answer.code) == ("granted", "failed", 1)


def test_no_wait_returns_at_once(failing: TempProject) -> None:
    answer = failing.plait("retry", "--no-wait")
    assert answer.code == 0
    wait_for_retry(failing)
    dropped = failing.plait("drop", "01-a", "--no-wait")
    assert dropped.code == 0
    wait_until(lambda: failing.batch().ended)


def test_interrupting_the_wait_leaves_the_retry_running(failing: TempProject) -> None:
    retry = failing.start("retry")
    wait_for_retry(failing)
    os.kill(retry.pid, signal.SIGINT)
    answer = failing.finish(retry)
    assert answer.code == 130
    assert f"Batch {failing.batch().id} continues in the background" in answer.err
    open_workspace_gate(failing)
    wait_until(lambda: failing.batch().ended)
    assert failing.statuses()["01-a"] == "done"


def test_an_engine_that_dies_while_a_retry_is_waited_for_is_replaced(failing: TempProject) -> None:
    retry = failing.start("retry", "01-a")
    wait_for_retry(failing)
    engine = failing.find_engine()
    assert engine is not None
    os.kill(engine, signal.SIGKILL)
    open_workspace_gate(failing)
    assert failing.finish(retry).code == 0
    assert failing.read_merged_files() == {"a.txt": "a", "b.txt": "a", "c.txt": "c"}


def test_a_retry_in_a_paused_batch_exits_with_3_as_run_does(project: TempProject) -> None:
    project.task("01-a", "exit 1")
    project.task("02-b", f"{HOLD}; echo b > b.txt")
    project.commit_all()
    run = project.start(*RUN)
    wait_for_retry(project)
    wait_until(lambda: project.statuses()["01-a"] == "failed")
    assert project.plait("pause").code == 0
    answer = project.plait("retry", "01-a")
    assert answer.code == 3
    assert "needs you: paused by request" in answer.err
    open_workspace_gate(project)
    assert project.finish(run).code == 3
