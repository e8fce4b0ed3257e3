"""Where trust counts: a repository's own commands are run, or its modules loaded, only after a person has agreed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.temp_project import TempProject

VERIFY = '[run]\nverify = "touch {}"'


@pytest.fixture(autouse=True)
def walls(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    project.write("plait.toml", VERIFY.format("verified"))


def test_trusted_commands_run_until_they_change(project: TempProject) -> None:
    assert "plait trust\n" in project.plait("run", "tasks", "--yes").err
    assert project.plait("trust", "--yes").code == 0
    assert project.plait("run", "tasks").code == 0
    assert (project.top / "verified").exists()
    project.write("plait.toml", VERIFY.format("other"))
    answer = project.plait("run", "tasks", "--yes", "--again")
    assert answer.code == 2
    assert "plait.toml:2: run.verify = touch other (changed; it was: touch verified)" in answer.err
    assert not (project.top / "other").exists()


def test_trust_given_at_the_terminal_is_saved(project: TempProject) -> None:
    terminal = project.terminal("run", "tasks", "--yes")
    terminal.wait_for("Do you trust these commands? [y/N]")
    terminal.type("y\n")
    assert terminal.wait() == 0
    assert project.plait("run", "tasks").code == 0
    project.plait("trust", "--revoke")
    assert project.plait("run", "tasks", "--again").code == 2


def test_plait_trust_asks_at_a_terminal(project: TempProject) -> None:
    for keys, code, trusted in (("\n", 130, 3), ("y\n", 0, 0)):
        terminal = project.terminal("trust")
        terminal.wait_for("Do you trust these commands? [y/N]")
        assert "touch verified  (run.verify, plait.toml:2) new" in terminal.text
        terminal.type(keys)
        assert terminal.wait() == code
        assert project.plait("trust", "--json").code == trusted


def test_trust_belongs_to_the_repository_not_to_the_current_folder(project: TempProject, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "--quiet", str(project.top), str(other)], check=True, capture_output=True)
    (other / "plait.toml").write_text(f"{VERIFY.format('verified')}\n")
    (other / "tasks").mkdir()
    (other / "tasks" / "01-walls.md").write_bytes((project.top / "tasks" / "01-walls.md").read_bytes())
    project.plait("trust", "--yes")
    answer = project.plait("-C", str(other), "run", "--yes")
    assert answer.code == 2
    assert f"plait -C {other} trust" in answer.err
    assert project.plait("-C", str(other), "trust", "--yes").code == 0
    assert project.plait("-C", str(other), "run").code == 0


SPY = "from pathlib import Path\n\nPath({!r}).touch()\n"


@pytest.mark.parametrize("verb", ["plan", "next", "run --dry-run"])
def test_planning_loads_only_trusted_modules(project: TempProject, verb: str) -> None:
    project.write("spy/__init__.py", SPY.format(str(project.top / "loaded")))
    project.write("plait.toml", '[sources]\nformat = "spy.format"')
    env = project.python_path(project.top)
    assert project.plait(*verb.split(), env=env).code == 2
    assert not (project.top / "loaded").exists()
    project.plait("trust", "--yes", env=env)
    assert not (project.top / "loaded").exists()
    project.plait(*verb.split(), env=env)
    assert (project.top / "loaded").exists()


def test_planning_runs_no_command_of_a_task_file(project: TempProject) -> None:
    project.task("02-paint", "touch painted", verify="touch checked")
    for verb in ("plan", "next", "run --dry-run", "trust"):
        project.plait(*verb.split())
    assert not {"walls", "painted", "checked", "verified"} & {path.name for path in project.top.iterdir()}
