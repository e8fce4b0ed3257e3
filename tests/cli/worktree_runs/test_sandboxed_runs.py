"""`plait run --sandbox worktree`: setup, agent, verify and gate are confined, and the result is merged as ever."""

from __future__ import annotations

import json
import os
import sys

import pytest

from tests.support.temp_project import TempProject, remove_programs_from_path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is for Linux")
RUN = ("run", "tasks", "--yes", "--retries", "0")
REPORT = 'if [ -e "$HOME/secret" ]; then echo {0}=open; else echo {0}=confined; fi >>{1}'


@pytest.fixture
def secretive(project: TempProject) -> TempProject:
    """Its user has a secret at home."""
    (project.folder / "home" / "secret").write_text("secret\n")
    setup, check = REPORT.format("setup", "made.txt"), "grep -q agent=confined out.txt && test ! -e ~/secret"
    config = f"[run]\nverify = '{check}'\ngate = '{check}'\n[workspace]\nsetup = '{setup}'\n"
    (project.folder / "home" / "config" / "plait").mkdir(parents=True)
    (project.folder / "home" / "config" / "plait" / "config.toml").write_text(config)
    project.task(
        "01-a", f"cat made.txt; {REPORT.format('agent', 'out.txt')}; git add -A; git commit -qm mine; git log -1"
    )
    project.commit_all()
    return project


def test_everything_that_runs_what_an_agent_wrote_is_confined(secretive: TempProject) -> None:
    before = secretive.snapshot_user_files()
    answer = secretive.plait(*RUN, "--sandbox", "worktree")
    assert answer.code == 0, answer
    assert "sandbox worktree" in answer.out
    assert secretive.read_merged_files()["out.txt"] == "agent=confined"
    assert "setup=confined" in secretive.plait("logs", "--raw").out
    assert secretive.batch().settings.sandbox == "worktree"
    assert secretive.snapshot_user_files() == before
    secretive.wait_for_exit()
    assert not list((secretive.top / ".git").rglob("sandbox"))


def test_checks_can_run_outside(secretive: TempProject) -> None:
    env = {"PLAIT_SANDBOX_INCLUDE_CHECKS": "false"}
    answer = secretive.plait(*RUN, "--sandbox", "worktree", env=env)
    assert answer.code == 1  # verify sees the secret
    assert "setup=open" in secretive.plait("logs", "--raw", "--step", "write").out


def test_without_bubblewrap_nothing_starts_and_auto_says_so(secretive: TempProject) -> None:
    env = {"PATH": remove_programs_from_path(os.environ["PATH"], frozenset({"bwrap"}))}
    refused = secretive.plait(*RUN, "--sandbox", "worktree", env=env)
    assert refused.code == 2
    assert "the sandbox worktree doesn't work here: bubblewrap (bwrap) isn't installed" in refused.err
    assert "apt-get install bubblewrap" in refused.err
    planned = secretive.plait("run", "tasks", "--dry-run", "--json", "--sandbox", "auto", env=env)
    plan = json.loads(planned.out)
    assert plan["sandbox"] == "off"
    assert any("there is no sandbox on this machine" in problem["message"] for problem in plan["problems"])
    assert "worktree doesn't work here: bubblewrap (bwrap) isn't installed" in secretive.plait("doctor", env=env).out


def test_a_task_asks_for_a_sandbox_and_doctor_tries_it(project: TempProject) -> None:
    (project.folder / "home" / "secret").write_text("secret\n")
    project.task("01-a", REPORT.format("agent", "a.txt"), sandbox="worktree")
    project.task("02-b", REPORT.format("agent", "b.txt"))
    project.commit_all()
    assert project.plait(*RUN).code == 0
    files = project.read_merged_files()
    assert (files["a.txt"], files["b.txt"]) == ("agent=confined", "agent=open")
    assert "worktree (bubblewrap" in project.plait("doctor").out
