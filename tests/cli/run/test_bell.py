"""The bell rings on a terminal when a batch has ended or begins to need a person, and nowhere else."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.temp_project import TempProject

BELL = "\a"


def test_the_bell_rings_once_when_the_batch_ends(project: TempProject) -> None:
    project.task("01-walls", "true")
    terminal = project.terminal("run", "--yes")
    assert terminal.wait() == 0
    assert terminal.output.count(BELL) == 1


def test_the_bell_rings_when_a_task_starts_to_wait_for_a_person(project: TempProject) -> None:
    project.task("01-walls", "true")
    terminal = project.terminal("run", "--yes", "--mode", "queue")
    terminal.wait_for("waits for approval")
    assert terminal.output.count(BELL) == 1
    terminal.type("a")
    assert terminal.wait() == 0
    assert terminal.output.count(BELL) == 2


def test_the_bell_can_be_disabled(project: TempProject) -> None:
    project.env["PLAIT_NOTIFY_BELL"] = "off"
    project.task("01-walls", "true")
    terminal = project.terminal("run", "--yes")
    assert terminal.wait() == 0
    assert BELL not in terminal.output


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_the_bell_does_not_ring_without_a_terminal(project: TempProject, words: list[str]) -> None:
    project.task("01-walls", "true")
    process = project.start("run", "--yes", *words)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert BELL not in out


def test_the_bell_does_not_ring_with_json(project: TempProject) -> None:
    project.task("01-walls", "true")
    terminal = project.terminal("run", "--yes", "--json")
    assert terminal.wait() == 0
    assert BELL not in terminal.output


def test_the_bell_does_not_ring_after_ctrl_c(project: TempProject) -> None:
    project.task("01-walls", "touch begun; sleep 600")
    terminal = project.terminal("run", "--yes")
    project.wait_for_file("begun")
    terminal.wait_for("01-walls")
    terminal.type("\x03")
    assert terminal.wait() == 130
    assert BELL not in terminal.output


def test_the_bell_rings_for_status_watch(project: TempProject) -> None:
    project.task("01-walls", "touch begun; until [ -e go ]; do sleep 0.02; done")
    front = project.start("run", "--yes")
    project.wait_for_file("begun")
    terminal = project.terminal("status", project.batch().id, "--watch")
    terminal.wait_for("01-walls")
    assert BELL not in terminal.output
    (project.top / "go").touch()
    assert terminal.wait() == 0
    assert terminal.output.count(BELL) == 1
    assert isinstance(front, subprocess.Popen)
    front.communicate(timeout=60)
