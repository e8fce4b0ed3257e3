"""Where trust counts: a repository's own commands are run, or its modules loaded, only after a person said so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.temp_project import TempProject

VERIFY = '[run]\nverify = "touch {}"'


@pytest.fixture(autouse=True)
def walls(yard: TempProject) -> None:
    yard.task("01-walls", "touch walls")
    yard.write("plait.toml", VERIFY.format("verified"))


def test_what_was_trusted_runs_and_what_changed_then_does_not(yard: TempProject) -> None:
    assert "plait trust\n" in yard.plait("run", "tasks", "--yes").err
    assert yard.plait("trust", "--yes").code == 0
    assert yard.plait("run", "tasks").code == 0
    assert (yard.top / "verified").exists()
    yard.write("plait.toml", VERIFY.format("other"))
    answer = yard.plait("run", "tasks", "--yes")
    assert answer.code == 2
    assert "plait.toml:2: run.verify = touch other (changed; it was: touch verified)" in answer.err
    assert not (yard.top / "other").exists()


def test_a_yes_at_the_terminal_is_remembered(yard: TempProject) -> None:
    terminal = yard.terminal("run", "tasks", "--yes")
    terminal.wait_for("Do you trust these commands? [y/N]")
    terminal.type("y\n")
    assert terminal.wait() == 0
    assert yard.plait("run", "tasks").code == 0
    yard.plait("trust", "--revoke")
    assert yard.plait("run", "tasks").code == 2


def test_plait_trust_asks_at_a_terminal(yard: TempProject) -> None:
    for said, code, trusted in (("\n", 130, 3), ("y\n", 0, 0)):
        terminal = yard.terminal("trust")
        terminal.wait_for("Do you trust these commands? [y/N]")
        assert "touch verified  (run.verify, plait.toml:2) new" in terminal.text
        terminal.type(said)
        assert terminal.wait() == code
        assert yard.plait("trust", "--json").code == trusted


def test_a_repository_is_trusted_where_it_is_and_not_where_one_stands(yard: TempProject, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "--quiet", str(yard.top), str(other)], check=True, capture_output=True)
    (other / "plait.toml").write_text(f"{VERIFY.format('verified')}\n")
    (other / "tasks").mkdir()
    (other / "tasks" / "01-walls.md").write_bytes((yard.top / "tasks" / "01-walls.md").read_bytes())
    yard.plait("trust", "--yes")
    answer = yard.plait("-C", str(other), "run", "--yes")
    assert answer.code == 2
    assert f"plait -C {other} trust" in answer.err
    assert yard.plait("-C", str(other), "trust", "--yes").code == 0
    assert yard.plait("-C", str(other), "run").code == 0


SPY = "from pathlib import Path\n\nPath({!r}).touch()\n"


@pytest.mark.parametrize("verb", ["plan", "next", "run --dry-run"])
def test_planning_loads_what_is_trusted_and_nothing_else(yard: TempProject, verb: str) -> None:
    yard.write("spy/__init__.py", SPY.format(str(yard.top / "loaded")))
    yard.write("plait.toml", '[sources]\nformat = "spy.format"')
    env = {"PYTHONPATH": str(yard.top)}
    assert yard.plait(*verb.split(), env=env).code == 2
    assert not (yard.top / "loaded").exists()
    yard.plait("trust", "--yes", env=env)
    assert not (yard.top / "loaded").exists()
    yard.plait(*verb.split(), env=env)
    assert (yard.top / "loaded").exists()


def test_planning_runs_nothing_of_a_task_file(yard: TempProject) -> None:
    yard.task("02-paint", "touch painted", verify="touch checked")
    for verb in ("plan", "next", "run --dry-run", "trust"):
        yard.plait(*verb.split())
    assert not {"walls", "painted", "checked", "verified"} & {path.name for path in yard.top.iterdir()}
