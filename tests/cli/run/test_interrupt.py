"""Ctrl+C, closed terminals, dead engines: who leaves, what goes on, and what is taken up again."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from contextlib import closing

import pytest

from plait.engine.daemon import find_engine
from plait.git.location import find_repo
from plait.store.project_files import open_project_inbox
from tests.support.temp_project import TempProject, plait_command
from tests.support.waiting import wait_until

# Says that it has begun, and goes on when it may.
WAITS = "echo $PLAIT_TASK_ID >> ../begun; until [ -e ../go ]; do sleep 0.02; done; echo $PLAIT_TASK_ID >> ../ended"


def begun(project: TempProject, name: str) -> bool:
    log = project.top.parent / "begun"
    return log.exists() and name in log.read_text().split()


def asked(project: TempProject) -> set[str]:
    """The requests that no engine has taken yet."""
    with closing(open_project_inbox(find_repo(project.top))) as requests:
        return {request.id for request in requests.pending()}


def test_resume_skips_done_tasks_and_runs_interrupted_ones_again(project: TempProject) -> None:
    project.task("01-done", "echo $PLAIT_TASK_ID >> ../begun")
    project.task("02-cut", WAITS, needs="[01-done]")
    project.task("03-after", "echo $PLAIT_TASK_ID >> ../begun", needs="[02-cut]")
    front = project.start("run")
    wait_until(lambda: begun(project, "02-cut"))
    front.send_signal(signal.SIGINT)
    answer = project.finish(front)
    assert answer.code == 130, answer
    assert "Ctrl+C again" in answer.err
    assert "plait run --resume" in answer.out + answer.err
    assert project.statuses() == {"01-done": "done", "02-cut": "", "03-after": ""}
    (project.top.parent / "go").touch()
    again = project.plait("run", "--resume")
    assert again.code == 0, again
    log = (project.top.parent / "begun").read_text().split()
    assert log == ["01-done", "02-cut", "02-cut", "03-after"]


def test_nothing_to_resume_is_not_an_error(project: TempProject) -> None:
    project.task("01-walls", "true")
    assert project.plait("run").code == 0
    answer = project.plait("run", "--resume")
    assert answer.code == 0
    assert "unfinished" in answer.out
    assert len(project.state().batches) == 1


def test_ctrl_c_leaves_no_process_behind(project: TempProject) -> None:
    project.task("01-tree", "setsid sh -c 'touch child; sleep 600' & \n(sleep 600 &)\ntouch parent; sleep 600")
    front = project.start("run")
    project.wait_for_file("child")
    project.wait_for_file("parent")
    front.send_signal(signal.SIGINT)
    assert project.finish(front).code == 130
    project.wait_for_exit()


def test_a_second_ctrl_c_kills_the_agents(project: TempProject) -> None:
    project.task("01-deaf", "trap '' INT TERM\ntouch begun\nwhile :; do sleep 600; done")
    front = project.start("run")
    project.wait_for_file("begun")
    front.send_signal(signal.SIGINT)
    wait_until(lambda: project.batch().stopping)
    front.send_signal(signal.SIGINT)
    assert project.finish(front).code == 130
    project.wait_for_exit()
    assert project.batch().stop_now


def test_ctrl_c_stops_only_its_own_batch(project: TempProject) -> None:
    project.task("01-mine", WAITS, folder="mine")
    project.task("02-theirs", WAITS, folder="theirs")
    mine, theirs = project.start("run", "mine"), project.start("run", "theirs")
    wait_until(lambda: begun(project, "01-mine") and begun(project, "02-theirs"))
    mine.send_signal(signal.SIGINT)
    assert project.finish(mine).code == 130
    (project.top.parent / "go").touch()
    assert project.finish(theirs).code == 0
    assert (project.top.parent / "ended").read_text().split() == ["02-theirs"]


@pytest.mark.parametrize("call", [signal.SIGHUP, signal.SIGTERM])
def test_a_closed_terminal_does_not_stop_the_batch(project: TempProject, call: signal.Signals) -> None:
    project.task("01-walls", WAITS)
    front = project.start("run")
    wait_until(lambda: begun(project, "01-walls"))
    front.send_signal(call)
    answer = project.finish(front)
    assert answer.code == 128 + call
    assert "continues in the background" in answer.err
    (project.top.parent / "go").touch()
    project.wait_for_exit()
    assert project.statuses() == {"01-walls": "done"}


def test_killing_plait_run_does_not_stop_the_batch(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    front = project.start("run")
    wait_until(lambda: begun(project, "01-walls"))
    front.kill()
    (project.top.parent / "go").touch()
    project.wait_for_exit()
    assert project.statuses() == {"01-walls": "done"}


def test_a_dead_engine_is_replaced_and_its_agents_are_adopted(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    front = project.start("run")
    wait_until(lambda: begun(project, "01-walls"))
    engine = project.state().engine
    assert engine is not None
    (dead,) = [process for process in project.processes() if process.pid == engine.pid]
    dead.kill()
    wait_until(lambda: (taken := project.state().engine) is not None and taken.pid != engine.pid)
    (project.top.parent / "go").touch()
    assert project.finish(front).code == 0
    assert (project.top.parent / "begun").read_text().split() == ["01-walls"]
    assert project.batch().tasks[0].attempt_counts["write"] == 1  # type: ignore[index]  # a step is its name


def test_a_detached_batch_continues_and_can_be_followed(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    answer = project.plait("run", "--detach")
    batch = project.batch().id
    assert answer.code == 0
    assert batch[:4] in answer.out
    assert "plait status" in answer.out
    wait_until(lambda: begun(project, "01-walls"))
    follower = project.start("run", "--resume")
    (project.top.parent / "go").touch()
    assert project.finish(follower).code == 0
    assert len(project.state().batches) == 1


def test_a_batch_whose_engine_was_killed_is_resumed_in_the_background(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    assert project.plait("run", "--detach").code == 0
    wait_until(lambda: begun(project, "01-walls"))
    engine = project.state().engine
    assert engine is not None
    os.kill(engine.pid, signal.SIGSTOP)  # like one that is dying: it does nothing any more, but holds its lock
    front = project.start("run", "--resume", "--detach")
    wait_until(lambda: front.poll() is not None or asked(project))
    os.kill(engine.pid, signal.SIGKILL)
    assert project.finish(front).code == 0
    (project.top.parent / "go").touch()
    wait_until(lambda: project.statuses() == {"01-walls": "done"})


def test_a_closed_pipe_does_not_stop_the_batch(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    front = project.start("run")
    assert front.stdout is not None
    front.stdout.close()
    assert front.wait(timeout=60) == 128 + signal.SIGPIPE
    wait_until(lambda: begun(project, "01-walls"))
    (project.top.parent / "go").touch()
    project.wait_for_exit()
    assert project.statuses() == {"01-walls": "done"}


def test_options_given_with_resume_apply_from_then_on(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    front = project.start("run", "--retries", "7")
    wait_until(lambda: begun(project, "01-walls"))
    front.send_signal(signal.SIGINT)
    assert project.finish(front).code == 130
    (project.top.parent / "go").touch()
    assert project.plait("run", "--resume", "-p", "1").code == 0
    settings = project.batch().settings
    assert (settings.max_parallel, settings.retries) == (1, 7)


def test_a_full_disk_for_the_output_does_not_stop_the_batch(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    front = project.popen(["sh", "-c", f"exec {shlex.join(plait_command('run'))} > /dev/full"])
    answer = project.finish(front)
    assert answer.code == 1
    assert "No space left on device" in answer.err
    assert "continues in the background" in answer.err


def interrupted(front: subprocess.Popen[str]) -> bool:
    """Whether it is gone, after one more Ctrl+C."""
    front.send_signal(signal.SIGINT)
    return front.poll() is not None


def test_ctrl_c_before_the_batch_exists_stops_it(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    project.task("01-pond", "touch pond", folder="garden")
    first = project.start("run", "tasks")
    wait_until(lambda: begun(project, "01-walls"))
    engine = find_engine(find_repo(project.top))
    assert engine is not None
    # An engine that is stopped while it strikes a request out keeps everybody else from asking.
    wait_until(lambda: not asked(project))
    os.kill(engine.pid, signal.SIGSTOP)  # no answers from now on
    try:
        second = project.start("run", "garden")
        wait_until(lambda: asked(project))
        wait_until(lambda: interrupted(second))
    finally:
        os.kill(engine.pid, signal.SIGCONT)
    answer = project.finish(second)
    assert answer.code == 130, answer
    wait_until(lambda: not asked(project))
    (project.top.parent / "go").touch()
    assert project.finish(first).code == 0
    (garden,) = project.state().open.values()
    assert f"Asked batch {garden.id} to stop" in answer.err
    assert garden.stopping
