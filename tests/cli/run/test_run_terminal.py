"""On a terminal: the plan is shown and confirmed, keys steer, and the terminal is left as it was found."""

from __future__ import annotations

import pytest

from tests.support.temp_project import TempProject, plait_command
from tests.support.terminal import Terminal
from tests.support.waiting import wait_until

WAITS = "touch begun; until [ -e go ]; do sleep 0.02; done"


def test_the_plan_is_shown_and_confirmed(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    project.task("02-paint", "true", needs="[01-walls]")
    terminal = project.terminal("run")
    terminal.wait_for("Run these 2 tasks? [Y/n]")
    assert "wave 2 of 2" in terminal.text
    assert "in place" in terminal.text
    assert not (project.top / "walls").exists()
    terminal.type("\n")
    assert terminal.wait() == 0
    assert "completed · 2 done" in terminal.text
    assert terminal.is_restored


@pytest.mark.parametrize("keys", ["n\n", "what\nno\n", "\x03", "\x04"])
def test_answering_no_starts_nothing(project: TempProject, keys: str) -> None:
    project.task("01-walls", "touch walls")
    terminal = project.terminal("run")
    terminal.wait_for_prompt("Run this task?")
    terminal.type(keys)
    assert terminal.wait() == 130
    assert not project.state().batches
    project.wait_for_exit()
    assert terminal.is_restored


def test_a_terminal_that_cannot_move_its_cursor_gets_lines(project: TempProject) -> None:
    project.task("01-walls", "true")
    terminal = Terminal(["env", "TERM=dumb", *plait_command("run", "--yes")], cwd=project.top, env=project.env)
    project.terminals.append(terminal)
    assert terminal.wait() == 0
    assert "started (shell, attempt 1)" in terminal.text
    assert "\x1b" not in terminal.text


def test_yes_skips_the_question(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    terminal = project.terminal("run", "--yes")
    assert terminal.wait() == 0
    assert "[Y/n]" not in terminal.text


def test_yes_does_not_answer_the_trust_question(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    project.write("plait.toml", '[run]\nverify = "touch verified"')
    terminal = project.terminal("run", "tasks", "--yes")
    terminal.wait_for("Do you trust these commands? [y/N]")
    assert "touch verified" in terminal.text
    terminal.type("\n")
    assert terminal.wait() == 2
    assert not project.state().batches
    again = project.terminal("run", "tasks", "--yes")
    again.wait_for("[y/N]")
    again.type("y\n")
    assert again.wait() == 0
    assert (project.top / "verified").exists()


def test_earlier_activities_stay_below_the_tasks(project: TempProject) -> None:
    wait = "until [ -e {} ]; do sleep 0.02; done"
    project.task("01-walls", f"echo laying bricks\n{wait.format('go')}\necho plastering\n{wait.format('end')}")
    terminal = project.terminal("run", "--yes")
    terminal.wait_for("laying bricks")
    assert "01  laying bricks" not in terminal.text  # its row shows it
    (project.top / "go").touch()
    terminal.wait_for("plastering")
    terminal.wait_for("01  laying bricks")
    (project.top / "end").touch()
    assert terminal.wait() == 0


def test_ctrl_c_stops_the_batch_and_prints_how_to_resume(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    terminal = project.terminal("run", "--yes")
    project.wait_for_file("begun")
    terminal.wait_for("01-walls")
    terminal.type("\x03")
    assert terminal.wait() == 130
    assert "plait run --resume" in terminal.text
    assert terminal.is_restored
    project.wait_for_exit()


def test_the_d_key_detaches(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    terminal = project.terminal("run", "--yes")
    project.wait_for_file("begun")
    terminal.type("d")
    assert terminal.wait() == 0
    assert "continues in the background" in terminal.text
    (project.top / "go").touch()
    project.wait_for_exit()
    assert project.statuses() == {"01-walls": "done"}


@pytest.mark.parametrize("key", ["a", "\n"])
def test_the_a_key_approves(project: TempProject, key: str) -> None:
    project.task("01-walls", "touch walls")
    terminal = project.terminal("run", "--yes", "--mode", "queue")
    terminal.wait_for("waits for approval")
    assert not (project.top / "walls").exists()
    terminal.type(key)
    assert terminal.wait() == 0
    assert (project.top / "walls").exists()


def test_the_p_key_pauses_and_resumes(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    project.task("02-paint", "touch paint", needs="[01-walls]")
    terminal = project.terminal("run", "--yes")
    project.wait_for_file("begun")
    terminal.type("p")
    wait_until(lambda: project.batch().paused)
    (project.top / "go").touch()
    wait_until(lambda: project.statuses()["01-walls"] == "done")
    assert not (project.top / "paint").exists()
    terminal.type("p")
    assert terminal.wait() == 0


def test_closing_the_window_does_not_stop_the_batch(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    terminal = project.terminal("run", "--yes")
    project.wait_for_file("begun")
    terminal.hang_up()
    terminal.process.wait(timeout=60)
    (project.top / "go").touch()
    project.wait_for_exit()
    assert project.statuses() == {"01-walls": "done"}
