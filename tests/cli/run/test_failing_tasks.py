"""Tasks that fail, hang, or pass only at the second try."""

from __future__ import annotations

import sys

from tests.support.cli_runner import CliResult
from tests.support.temp_project import TempProject

# The same flow with a backoff that a test can wait for: it is no flag.
HURRIED = """
import sys
from pathlib import Path
from plait.cli.commands.run_batch import RunOptions, run_tasks
from plait.core.settings import Backoff
sys.exit(run_tasks(RunOptions(Path(), yes=True, backoff=Backoff(base=0.01))))
"""


def hurried(project: TempProject) -> CliResult:
    front = project.popen([sys.executable, "-c", HURRIED])
    return project.finish(front)


def test_a_task_that_fails_once_is_retried(project: TempProject) -> None:
    project.task("01-walls", "echo $PLAIT_ATTEMPT >> tries; [ $PLAIT_ATTEMPT = 2 ]")
    answer = hurried(project)
    assert answer.code == 0, answer
    assert project.read("tries").split() == ["1", "2"]


def test_a_task_fails_after_its_retries(project: TempProject) -> None:
    project.task("01-walls", "echo $PLAIT_ATTEMPT >> tries; exit 1", retries=2)
    answer = hurried(project)
    assert answer.code == 1
    assert project.read("tries").split() == ["1", "2", "3"]
    assert "after 3 attempts" in answer.out


def test_a_task_that_hangs_is_stopped(project: TempProject) -> None:
    project.task("01-quiet", "sleep 600")
    project.task("02-chatty", "while :; do echo still here; sleep 0.1; done", timeout="1s")
    answer = project.plait("run", "--idle-timeout", "2s", "--retries", "0")
    assert answer.code == 1
    assert project.statuses() == {"01-quiet": "timed_out", "02-chatty": "timed_out"}
    assert "no output for 2s" in answer.out
    assert "timed out after 1s" in answer.out
    project.wait_for_exit()


def test_a_failed_verification_retries_the_task_with_its_output(project: TempProject) -> None:
    project.task(
        "01-walls",
        'if [ -n "$PLAIT_FEEDBACK_FILE" ]; then cp "$PLAIT_FEEDBACK_FILE" told; touch straight; fi',
    )
    answer = project.plait("run", "--verify", "test -e straight || { echo the wall is crooked; exit 1; }")
    assert answer.code == 0, answer
    assert "the wall is crooked" in project.read("told")
    assert project.statuses() == {"01-walls": "done"}


def test_a_verification_that_never_passes_fails_the_task(project: TempProject) -> None:
    project.task("01-walls", "true", retries=1)
    answer = project.plait("run", "--verify", "echo crooked; false")
    assert answer.code == 1
    assert "verification failed" in answer.out


def test_an_agent_killed_from_outside_is_reported(project: TempProject) -> None:
    project.task("01-walls", "kill -9 $$", retries=0)
    answer = project.plait("run")
    assert answer.code == 1
    assert "killed from outside" in answer.out


def test_a_missing_command_is_reported_with_its_name(project: TempProject) -> None:
    project.task("01-walls")
    answer = project.plait("run", "--agent-command", "./no-such-agent {task_file}", "--retries", "0")
    assert answer.code == 1
    assert "no-such-agent" in answer.out


def test_binary_output_is_accepted(project: TempProject) -> None:
    project.task("01-noise", "head -c 3000000 /dev/urandom; printf '\\033[2J\\n'; exit 1", retries=0)
    answer = project.plait("run")
    assert answer.code == 1
    assert "\x1b" not in answer.out
