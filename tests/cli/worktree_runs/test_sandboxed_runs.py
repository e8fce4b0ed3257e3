"""`plait run --sandbox worktree`: setup, agent, verify and gate are confined, and the result is merged as ever."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading

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
    assert json.loads(secretive.plait("status", "--json").out)["batches"][0]["settings"]["sandbox"] == "worktree"
    assert "sandbox worktree" in secretive.plait("status", secretive.batch().id).out
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
    (said,) = [each["message"] for each in plan["problems"] if "there is no sandbox on this machine" in each["message"]]
    assert said.count("bubblewrap (bwrap) isn't installed") == 1
    assert "worktree doesn't work here: bubblewrap (bwrap) isn't installed" in secretive.plait("doctor", env=env).out


def test_the_plan_names_the_strongest_sandbox_that_works(secretive: TempProject) -> None:
    assert json.loads(secretive.plait("plan", "tasks", "--json", "--sandbox", "auto").out)["sandbox"] == "strict"
    assert "sandbox       strict" in secretive.plait("plan", "tasks", "--sandbox", "auto").out


def test_the_plan_names_the_sandboxes_of_agents_and_tasks(secretive: TempProject) -> None:
    config = secretive.folder / "home" / "config" / "plait" / "config.toml"
    config.write_text('[agents.sandboxes]\ncodex = "auto"\nclaude = "off"\n')
    secretive.task("02-b", "true", sandbox="auto")
    planned = secretive.plait("plan", "tasks").out
    assert "sandbox       off (codex: strict)" in planned
    assert "02-b  02-b  (agent shell, sandbox strict)" in planned
    assert "sandbox off (codex: strict)" in secretive.plait("run", "tasks", "--dry-run").out


def test_a_container_without_a_filter_is_no_stronger(secretive: TempProject) -> None:
    """Than strict, and the plan says what it lacks."""
    (secretive.folder / "bin").mkdir()
    (secretive.folder / "bin" / "docker").write_text(
        '#!/bin/sh\ncase "$*" in inspect*) echo 999999999;; *"echo up"*) echo up; read line;; esac\n'
    )
    (secretive.folder / "bin" / "docker").chmod(0o755)
    path = remove_programs_from_path(os.environ["PATH"], frozenset({"podman", "docker"}))
    env = {"PATH": f"{secretive.folder / 'bin'}:{path}", "PLAIT_SANDBOX_IMAGE": "image"}
    plan = json.loads(secretive.plait("plan", "tasks", "--json", "--sandbox", "container", env=env).out)
    assert plan["sandbox"] == "container"
    assert any("agents in containers can reach any host" in problem["message"] for problem in plan["problems"])
    assert (
        json.loads(secretive.plait("plan", "tasks", "--json", "--sandbox", "auto", env=env).out)["sandbox"] == "strict"
    )
    assert "docker, image; its network is not filtered" in secretive.plait("doctor", env=env).out


def test_git_uses_no_settings_of_an_agent_in_place_afterwards(project: TempProject) -> None:
    proof = project.folder / "home" / "ran"
    lines = (
        "mkdir evil; cp -r .git/HEAD .git/refs .git/objects evil",
        f"git config -f evil/config core.fsmonitor 'touch {proof}; false'",
        "echo ../evil >.git/commondir; echo 1 >one.txt",
    )
    project.task("01-a", "\n".join(lines))
    project.commit_all()
    answer = project.plait(*RUN, "--sandbox", "worktree", "--isolation", "in-place")
    assert answer.code == 0, answer
    assert (project.top / "one.txt").exists()
    project.git("status")
    assert not (project.top / ".git" / "commondir").exists()
    assert not proof.exists()


def test_a_task_asks_for_a_sandbox_and_doctor_tries_it(project: TempProject) -> None:
    (project.folder / "home" / "secret").write_text("secret\n")
    project.task("01-a", REPORT.format("agent", "a.txt"), sandbox="worktree")
    project.task("02-b", REPORT.format("agent", "b.txt"))
    project.commit_all()
    assert project.plait(*RUN).code == 0
    files = project.read_merged_files()
    assert (files["a.txt"], files["b.txt"]) == ("agent=confined", "agent=open")
    assert "worktree (bubblewrap" in project.plait("doctor").out


def test_variables_of_a_task_act_only_inside(project: TempProject) -> None:
    """They choose neither what the sandbox shows of the home folder, nor what is loaded into the processes around it."""
    home, proof = project.folder / "home", project.folder / "proof"
    (home / ".ssh").mkdir()
    for name in (".ssh/id_rsa", ".netrc"):
        (home / name).write_text("secret\n")
    env = {
        "PATH": f"{home}/.ssh:{os.defpath}",
        "GIT_CONFIG_GLOBAL": str(home / ".netrc"),
        "LD_DEBUG": "files",
        "LD_DEBUG_OUTPUT": str(proof),
        "MINE": "mine",
    }
    project.task(
        "01-a", f"unset LD_DEBUG; cat {home}/.ssh/id_rsa {home}/.netrc >a.txt; echo $PATH $MINE >>a.txt", env=env
    )
    project.commit_all()
    answer = project.plait(*RUN, "--sandbox", "worktree")
    assert answer.code == 0, answer
    assert project.read_merged_files()["a.txt"] == f"{env['PATH']} mine"
    assert not list(project.folder.glob("proof*"))


def test_a_strict_attempt_reaches_listed_hosts_only_and_the_log_names_the_others(project: TempProject) -> None:
    script = "import urllib.request; print(urllib.request.urlopen('{}', timeout=120).read())"
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer_once, args=(server,), daemon=True).start()
        port = server.getsockname()[1]
        urls = (f"http://127.0.0.1:{port}/", "http://blocked.example/")
        lines = [f'{sys.executable} -c "{script.format(url)}"; :' for url in urls]
        project.task("01-a", "\n".join(lines), allow_empty="true")
        project.commit_all()
        answer = project.plait(*RUN, "--sandbox", "strict", env={"PLAIT_SANDBOX_HOSTS": f"127.0.0.1:{port}"})
    output = project.plait("logs", "--raw").out
    assert answer.code == 0, (answer, output)
    assert "b'hello'" in output
    assert "plait: blocked: blocked.example:80" in output


def answer_once(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")


def test_a_host_that_is_written_in_a_wrong_way_starts_nothing(project: TempProject) -> None:
    project.task("01-a", "true")
    project.commit_all()
    refused = project.plait(*RUN, "--sandbox", "strict", env={"PLAIT_SANDBOX_HOSTS": "http://example.org"})
    assert refused.code == 2
    assert "sandbox.hosts: 'http://example.org' is not a host" in refused.err


def test_a_contest_and_its_score_run_in_the_sandbox(project: TempProject) -> None:
    (project.folder / "home" / "secret").write_text("secret\n")
    project.write("tasks/01-a.md", "# a\n\nDo it.")
    project.commit_all()
    command = "sh -c 'echo $PLAIT_TASK_ID >a.txt; git add -A; git commit -qm mine'"
    score = "test ! -e ~/secret && wc -l <a.txt"
    answer = project.plait(*RUN, "--sandbox", "worktree", "-n", "2", "--score", score, "--agent-command", command)
    assert answer.code == 0, answer
    assert "won: its score is 1" in answer.out
