from __future__ import annotations

import subprocess

import pytest

from plait.agents.model import AgentSpec, Brief
from plait.agents.shell import Shell
from plait.agents.table import why_not
from plait.core.errors import UserError
from plait.core.task import Attempt, Step, Task


def brief(task: Task) -> Brief:
    return Brief(Attempt("b", task.id, Step.WRITE, 1), task, "/w", "/t", "/p")


def test_the_command_runs_as_it_is_written() -> None:
    command = Shell(AgentSpec("shell")).command(brief(Task("t", run="false\necho {title} $((1 + 1)) 'a  b'")))
    assert (
        subprocess.run(command.argv, capture_output=True, text=True, check=True).stdout == "{title} 2 a  b\n"
    )
    assert (command.stdin, command.env) == (None, ())


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (None, "has no `run:` in its front matter"),
        (" \n", "has no `run:` in its front matter"),
        ("a\0b", "has a null character in its `run:`"),
        ("x" * 200_000, "has a `run:` of more than 120,000 bytes"),
    ],
)
def test_a_task_that_a_shell_can_t_run_is_told_before_it_starts(run: str | None, why: str) -> None:
    task = Task("t", run=run)
    said = why_not("shell", task)
    assert said is not None
    assert said.startswith(why)
    with pytest.raises(UserError, match=r"^t has "):
        Shell(AgentSpec("shell")).command(brief(task))


def test_every_other_agent_takes_every_task() -> None:
    assert why_not("claude", Task("t")) is None
    assert why_not("shell", Task("t", run="true")) is None
