"""The bell rings on a terminal when a batch has ended or begins to need a person, and nowhere else."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.temp_project import TempProject

BELL = "\a"


def test_it_rings_once_when_the_batch_has_ended(project: TempProject) -> None:
    project.task("01-walls", "true")
    terminal = project.terminal("run", "--yes")
    assert terminal.wait() == 0
    assert terminal.output.count(BELL) == 1


def test_it_rings_when_something_begins_to_need_a_person(project: TempProject) -> None:
    project.task("01-walls", "true")
    terminal = project.terminal("run", "--yes", "--mode", "queue")
    terminal.wait_for("waits for approval")
    assert terminal.output.count(BELL) == 1
    terminal.type("a")
    assert terminal.wait() == 0
    assert terminal.output.count(BELL) == 2


def test_it_is_quiet_where_somebody_wants_it_so(project: TempProject) -> None:
    project.env["PLAIT_NOTIFY_BELL"] = "off"
    project.task("01-walls", "true")
    terminal = project.terminal("run", "--yes")
    assert terminal.wait() == 0
    assert BELL not in terminal.output


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_it_is_quiet_where_there_is_no_terminal(project: TempProject, words: list[str]) -> None:
    project.task("01-walls", "true")
    process = project.start("run", "--yes", *words)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert BELL not in out


def test_it_is_quiet_beside_json(project: TempProject) -> None:
    project.task("01-walls", "true")
    terminal = project.terminal("run", "--yes", "--json")
    assert terminal.wait() == 0
    assert BELL not in terminal.output


def test_ctrl_c_needs_no_bell(project: TempProject) -> None:
    project.task("01-walls", "touch begun; sleep 600")
    terminal = project.terminal("run", "--yes")
    project.wait_for_file("begun")
    terminal.wait_for("01-walls")
    terminal.type("\x03")
    assert terminal.wait() == 130
    assert BELL not in terminal.output


def test_who_watches_the_status_hears_it_too(project: TempProject) -> None:
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
