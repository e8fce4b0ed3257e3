"""What is not begun: nothing is started, the exit code is 2, and the message says what to do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("walls")


@pytest.fixture
def walls(project: TempProject) -> None:
    project.task("01-walls", "touch walls")
    project.write("plan.md", "# Plan\n\n## Phase 1: House\n\n- [ ] 1.1 Put up the walls")
    (project.top / "empty").mkdir()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("empty", "empty"),
        ("nowhere.md", "nowhere.md"),
        ("tasks -s 77", "77"),
        ("tasks --isolation worktree", "no commit yet"),
        ("tasks --isolation worktree --base nowhere", "no commit called nowhere"),
        ("tasks --pr", "--isolation worktree"),
        ("tasks --pr --push", "--push"),
        ("tasks --no-pr --draft", "--no-pr"),
        ("tasks --executor slurm", "ray"),
        ("tasks --retries many", "--retries"),
        ("tasks --resume -s 01", "--resume"),
        ("plan.md -a nobody", "nobody"),
        ("tasks -a claude --agent-command true", "--agent-command"),
    ],
)
def test_invalid_command_lines_are_refused(project: TempProject, words: str, message: str) -> None:
    answer = project.plait("run", *words.split())
    assert answer.code == 2, answer
    assert message in answer.err
    assert not project.state().batches
    project.wait_for_exit()


def test_a_task_without_an_agent_is_reported_with_its_location(project: TempProject) -> None:
    project.task("02-paint")
    project.task("03-door", agent="claude")
    answer = project.plait("run", "tasks")
    assert answer.code == 2, answer
    assert "tasks/02-paint.md" in answer.err
    assert "--agent-command" in answer.err
    assert "tasks/03-door.md" in answer.err
    assert not (project.top / "walls").exists()


def test_nothing_left_to_do_is_not_an_error(project: TempProject) -> None:
    project.write("done/01-floor.md", "---\nstatus: done\nrun: touch floor\n---\n# Floor")
    answer = project.plait("run", "done")
    assert (answer.code, answer.out) == (0, "Everything selected is complete: there is nothing to do.\n")
    project.wait_for_exit()


def test_yes_does_not_trust_the_repositorys_commands(project: TempProject) -> None:
    project.write("plait.toml", '[run]\nverify = "touch verified"')
    answer = project.plait("run", "tasks", "--yes")
    assert answer.code == 2
    assert "plait.toml:2: run.verify = touch verified" in answer.err
    assert "--verify" in answer.err
    assert not (project.top / "walls").exists()
    assert project.plait("run", "tasks", "--verify", "touch checked").code == 0
    assert (project.top / "checked").exists()
    assert not (project.top / "verified").exists()


def test_the_users_own_settings_are_trusted(project: TempProject) -> None:
    own = project.top.parent / "home" / "config" / "plait"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('[run]\nverify = "touch checked"\n')
    assert project.plait("run", "tasks").code == 0
    assert (project.top / "checked").exists()


def test_a_gate_needs_worktrees(project: TempProject) -> None:
    own = project.top.parent / "home" / "config" / "plait"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('[run]\ngate = "true"\n')
    answer = project.plait("run", "tasks")
    assert answer.code == 2
    assert "PLAIT_ISOLATION" in answer.err
    assert "in-place batches merge nothing" in answer.err


def test_a_task_of_an_open_batch_is_refused(project: TempProject) -> None:
    project.task("01-walls", "touch begun; until [ -e go ]; do sleep 0.02; done; echo once >> count")
    first = project.start("run", "tasks")
    project.wait_for_file("begun")
    second = project.plait("run", "tasks")
    assert second.code == 2
    assert project.batch().id in second.err
    assert "plait run --resume" in second.err
    (project.top / "go").touch()
    assert project.finish(first).code == 0
    assert project.read("count") == "once\n"


def test_of_two_concurrent_runs_of_the_same_task_one_is_refused(project: TempProject) -> None:
    project.task("01-walls", "until [ -e go ]; do sleep 0.02; done; echo once >> count")
    fronts = [project.start("run", "tasks") for _ in range(3)]
    wait_until(lambda: sum(front.poll() is not None for front in fronts) == 2)
    (project.top / "go").touch()
    codes = sorted(project.finish(front).code for front in fronts)
    assert codes == [0, 2, 2]
    assert project.read("count") == "once\n"


SPY = "from pathlib import Path\n\nPath({!r}).touch()\n"


@pytest.mark.parametrize(
    ("settings", "verb"),
    [
        ('[run]\nagent = "spy.agent:Agent"', "run"),
        ('[run]\nagent = "spy.agent:Agent"', "run --dry-run"),
        ('[run]\nfallback = "spy.agent:Agent"', "run"),
        ('[run]\nfallback = "spy.agent:Agent"', "run --dry-run"),
        ('[run]\njudge = "spy.agent:Agent"', "run"),
        ('[sources]\nformat = "spy.format"', "run"),
        ('[sources]\nformat = "spy.format"', "plan"),
        ('[sources]\nformat = "spy.format"', "plan --json"),
        ('[sources]\nformat = "spy.format"', "next"),
    ],
)
def test_modules_named_by_the_repository_are_not_loaded_before_they_are_trusted(
    project: TempProject, settings: str, verb: str
) -> None:
    project.write("spy/__init__.py", SPY.format(str(project.top / "loaded")))
    project.write("plait.toml", settings)
    answer = project.plait(*verb.split(), env=project.python_path(project.top))
    assert answer.code == 2, answer
    assert "plait.toml:2" in answer.err + answer.out
    assert not (project.top / "loaded").exists()


def test_a_task_file_changes_only_its_own_task(project: TempProject) -> None:
    """The one that sets everything comes first and last in the alphabet."""
    for name in ("00-first", "99-last"):
        project.task(name, "touch mine", agent="shell", env="{PATH: /nowhere, A: b}", verify="false", retries=0)
    answer = project.plait("run", "tasks", "-s", "00-first, 01-walls, 99-last", "--yes", "--json")
    assert answer.code == 1
    assert project.statuses() == {"00-first": "failed", "01-walls": "done", "99-last": "failed"}


def test_a_task_file_cannot_choose_a_module_to_load(project: TempProject) -> None:
    project.write("spy/__init__.py", SPY.format(str(project.top / "loaded")))
    project.task("02-paint", agent="spy.agent:Agent")
    answer = project.plait("run", "tasks", env=project.python_path(project.top))
    assert answer.code == 2, answer
    assert "02-paint has a module as its agent (spy.agent:Agent)" in answer.err
    assert not (project.top / "loaded").exists()


def test_a_cluster_needs_the_ray_extra(project: TempProject) -> None:
    """It is said before anything is started."""
    completed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.modules['ray'] = None; from plait.cli.app import run_cli; sys.exit(run_cli(sys.argv[1:]))",
            *("run", "tasks", "--isolation", "worktree", "--executor", "ray"),
        ],
        cwd=project.top,
        env=project.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr == "plait: the executor ray needs Ray, which is not installed: pip install 'plait[ray]'\n"
    assert not project.state().batches
    project.wait_for_exit()
