from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from plait.agents.drivers.shell import ShellAgent
from plait.agents.interface import AgentSpec, AttemptContext
from plait.agents.table import explain_unsupported
from plait.core.errors import UserError
from plait.core.task import Attempt, Step, Task


def brief(task: Task, folder: Path = Path("/folder")) -> AttemptContext:
    return AttemptContext(Attempt("b", task.id, Step.WRITE, 1), task, "/w", "/t", "/p", str(folder))


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As an attempt would: its files lie there first."""
    command = ShellAgent(AgentSpec("shell")).build_command(brief(Task("t", run=text), folder))
    for name, content in command.files:
        (folder / name).write_text(content)
    return subprocess.run(command.argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("text", "code", "out"),
    [
        ("false\necho {title} $((1 + 1)) 'a  b'", 0, "{title} 2 a  b\n"),
        ("echo one; exit 7\necho two", 7, "one\n"),
        ("set -e\nfalse\necho two", 1, ""),
        ("exec echo $#", 0, "0\n"),
        ("cat <<END\na  $((2 * 2))\nEND", 0, "a  4\n"),
        ("-x", 127, ""),
        ("#!/bin/nothing\necho plain", 0, "plain\n"),
        ('read line; echo "read $?"', 0, "read 1\n"),
        ("echo " + "x" * 200_000, 0, "x" * 200_000 + "\n"),
    ],
)
def test_the_command_runs_as_it_is_written(tmp_path: Path, text: str, code: int, out: str) -> None:
    done = run(text, tmp_path)
    assert (done.returncode, done.stdout) == (code, out)


def test_the_command_line_contains_nothing_of_the_task() -> None:
    command = ShellAgent(AgentSpec("shell")).build_command(brief(Task("t", run="curl -u me:hush")))
    assert command.argv == ("sh", "/folder/script.sh")
    assert command.files == (("script.sh", "curl -u me:hush\n"),)
    assert (command.stdin, command.env) == (None, ())


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (None, "has no `run:` in its front matter"),
        (" \n", "has no `run:` in its front matter"),
        ("a\0b", "has a null character in its `run:`"),
    ],
)
def test_a_task_without_a_command_is_reported_before_it_starts(run: str | None, why: str) -> None:
    task = Task("t", run=run)
    said = explain_unsupported("shell", task)
    assert said is not None
    assert said.startswith(why)
    with pytest.raises(UserError, match=r"^t has "):
        ShellAgent(AgentSpec("shell")).build_command(brief(task))


def test_other_agents_accept_every_task() -> None:
    assert explain_unsupported("claude", Task("t")) is None
    assert explain_unsupported("shell", Task("t", run="true")) is None
