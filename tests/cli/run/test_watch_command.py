"""`plait watch`: the live display of a batch that runs already, and how it is left."""

from __future__ import annotations

from tests.support.temp_project import TempProject

WAITS = "touch begun; until [ -e go ]; do sleep 0.02; done"


def start_in_background(project: TempProject) -> str:
    answer = project.plait("run", "--yes", "--detach")
    project.wait_for_file("begun")
    batch = project.batch().id
    assert f"plait watch {batch}" in answer.out
    return batch


def test_watch_shows_the_display_until_the_batch_ends(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    batch = start_in_background(project)
    terminal = project.terminal("watch")
    terminal.wait_for("0/1 tasks")
    terminal.wait_for("d detach · ? help")
    assert "Ctrl+C stop" not in terminal.text
    (project.top / "go").touch()
    assert terminal.wait() == 0
    assert f"batch {batch} completed · 1 done" in terminal.text
    assert terminal.is_restored


def test_ctrl_c_ends_watching_and_not_the_batch(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    batch = start_in_background(project)
    terminal = project.terminal("watch", batch)
    terminal.wait_for("0/1 tasks")
    terminal.type("\x03")
    assert terminal.wait() == 0
    assert f"To watch it: plait watch {batch}" in terminal.text
    assert project.batch().paused is None
    (project.top / "go").touch()
    project.wait_for_exit()
    assert project.statuses() == {"01-walls": "done"}


def test_watching_an_ended_batch_shows_how_it_ended(project: TempProject) -> None:
    project.task("01-walls", "false")
    assert project.plait("run", "--yes", "--retries", "0").code == 1
    answer = project.plait("watch")
    assert answer.code == 1
    assert "1 failed" in answer.out


def test_the_newest_unfinished_batch_is_watched_before_a_newer_one_that_has_ended(project: TempProject) -> None:
    project.task("01-walls", "true")
    project.task("02-paint", "true")
    assert project.plait("run", "--yes", "-s", "01-walls", "--mode", "queue").code == 3
    assert project.plait("run", "--yes", "-s", "02-paint").code == 0
    answer = project.plait("watch")
    assert answer.code == 3
    assert "waits for you  01-walls" in answer.out
    assert project.plait("watch", "--json").code == 3


def test_without_a_batch_watch_says_how_to_start_one(project: TempProject) -> None:
    answer = project.plait("watch")
    assert answer.code == 2
    assert "there is no batch yet" in answer.err
