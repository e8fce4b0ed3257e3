"""The real coding tools, driven end to end: a real repository, real worktrees, and a scripted model behind them.

In every test run two of them are tried, with PLAIT_AGENTS_LONG all that can be installed.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from urllib.parse import urlsplit

import psutil
import pytest

from tests.support.model_server.messages import Role
from tests.support.real_agents import API_KEY, INSTALLED_TOOLS, TOOL_TIMEOUT_SECONDS, RealAgentProject
from tests.support.waiting import wait_until

LONG = bool(os.environ.get("PLAIT_AGENTS_LONG"))
TOOLS = tuple(INSTALLED_TOOLS) if LONG else ("claude", "codex")

ENDLESS = "tail -f /dev/null"  # some tools run no plain sleep

OpenProject = Callable[[str], RealAgentProject]

each = pytest.mark.parametrize("name", TOOLS)
# The short form does most things with one of its two tools.
codex = pytest.mark.parametrize("name", TOOLS if LONG else ("codex",))
claude = pytest.mark.parametrize("name", TOOLS if LONG else ("claude",))
stubborn = pytest.mark.parametrize("name", ("claude", "codex") if LONG else ("claude",))


@each
def test_edits_are_merged_and_the_spending_is_known(open_project: OpenProject, name: str) -> None:
    project = open_project(name)
    project.write_job("01-a", "SCRIPTED-WRITE a.txt from the first")
    project.write_job("02-b", "SCRIPTED-WRITE deep/b.txt from the second")
    project.commit_all()
    before = project.snapshot_user_files()
    code, said = project.run("--retries", "0")
    assert code == 0, said + project.transcript()
    merged = project.read_merged_files()
    assert (merged["a.txt"], merged["deep/b.txt"]) == ("from the first", "from the second")
    assert merged.keys() - {"a.txt", "deep/b.txt"} <= {"plait.toml"}
    assert project.snapshot_user_files() == before
    for task in project.read_tasks().values():
        assert (task["status"], task["attempt"], task["agent"]) == ("done", 1, name)
        assert bool(task["sessionId"]) == project.tool.resumes
        assert task["cost"]["usd"] > 0
        assert task["cost"]["tokens"] > 0 or not project.tool.tokens
    project.wait_for_exit()
    assert project.find_leftovers() == []


@codex
def test_two_refusals_use_up_no_retry(open_project: OpenProject, name: str) -> None:
    project = open_project(name)
    project.write_job("01-a", "SCRIPTED-WRITE a.txt at last")
    project.commit_all()
    project.use_server("429:2;after=1")
    code, said = project.run("--retries", "0")
    assert code == 0, said + project.transcript()
    assert project.read_merged_files()["a.txt"] == "at last"
    assert [request.fault for request in project.server.requests_from("job")][:3] == ["429", "429", ""]


@stubborn
def test_plait_waits_for_a_limit_that_lasts_longer_than_the_tools_retries(open_project: OpenProject, name: str) -> None:
    project = open_project(name)
    project.write_job("01-a", "SCRIPTED-WRITE a.txt at last")
    project.commit_all()
    project.use_server(f"429:{project.tool.max_refusals};after=1")
    project.limit_retries()
    code, said = project.run("--retries", "0", "--json")
    assert code == 0, said + project.transcript()
    assert project.read_tasks()["01-a"]["attempt"] == 2
    events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    (again,) = (event for event in events if event["type"] == "batch:task:retry")
    assert (again["category"], again["counted"]) == ("rate_limit", False)
    assert {"limit:opened", "limit:closed"} <= {event["type"] for event in events}


@codex
def test_a_wrong_key_fails_the_task_at_once(open_project: OpenProject, name: str) -> None:
    project = open_project(name)
    project.write_job("01-a", "SCRIPTED-WRITE a.txt never")
    project.commit_all()
    project.use_server("401")
    code, said = project.run("--retries", "3")
    assert code == 1, said
    task = project.read_tasks()["01-a"]
    assert (task["status"], task["category"], task["attempt"]) == ("failed", "auth", 1), project.transcript()


@codex
def test_a_provider_that_does_not_answer_ends_with_the_idle_timeout(open_project: OpenProject, name: str) -> None:
    project = open_project(name)
    project.write_job("01-a", "SCRIPTED-WRITE a.txt never")
    project.commit_all()
    project.use_server("hang")
    code, said = project.run("--retries", "0", "--idle-timeout", f"{project.tool.start_seconds:.0f}s")
    assert code == 1, said
    task = project.read_tasks()["01-a"]
    assert (task["status"], task["category"]) == ("timed_out", "idle"), project.transcript()
    assert project.server.requests_from("job"), project.transcript()
    project.wait_for_exit()


def start_endless_task(project: RealAgentProject) -> subprocess.Popen[str]:
    """Start a task that does not end by itself: its tool runs a command, or waits for its provider."""
    if project.tool.shell:
        project.write_job("01-a", "SCRIPTED-WRITE a.txt first", f"SCRIPTED-SH {ENDLESS}")
    else:
        project.write_job("01-a", "SCRIPTED-WRITE a.txt first")
        project.use_server("hang:1")
    project.commit_all()
    front = project.start_run()

    def asked() -> object:
        return ENDLESS in list_commands(project) if project.tool.shell else project.server.requests_from("job")

    wait_until(asked, TOOL_TIMEOUT_SECONDS)
    wait_until(lambda: project.read_tasks()["01-a"]["sessionId"] or not project.tool.resumes, TOOL_TIMEOUT_SECONDS)
    return front


def list_commands(project: RealAgentProject) -> list[str]:
    """The command lines of all processes of the project, which every user of the machine can see."""
    seen = []
    for process in project.processes():
        with suppress(psutil.Error):
            seen.append(" ".join(process.cmdline()))
    return seen


@each
def test_a_cancelled_task_leaves_no_process_and_shows_no_key(open_project: OpenProject, name: str) -> None:
    project = open_project(name)
    front = start_endless_task(project)
    assert not [words for words in list_commands(project) if API_KEY in words]
    assert project.plait("cancel", "--yes").code == 0
    project.finish(front)
    project.wait_for_exit()
    assert project.statuses() == {"01-a": "cancelled"}
    kept = (path for path in (project.top / ".git" / "plait").rglob("*") if path.is_file())
    assert not [path for path in kept if API_KEY.encode() in path.read_bytes()]


@claude
def test_feedback_continues_the_session(open_project: OpenProject, name: str) -> None:
    project = open_project(name)
    front = start_endless_task(project)
    session = project.read_tasks()["01-a"]["sessionId"]
    assert project.plait("feedback", "01-a", "SCRIPTED-WRITE b.txt second").code == 0
    answer = project.finish(front)
    assert answer.code == 0, f"{answer}{project.transcript()}"
    merged = project.read_merged_files()
    assert (merged["a.txt"], merged["b.txt"]) == ("first", "second")
    assert project.read_tasks()["01-a"]["sessionId"] == session
    check_session(project)


@codex
def test_the_output_of_a_failed_check_continues_the_session(open_project: OpenProject, name: str) -> None:
    project = open_project(name)
    project.write_job("01-a", "SCRIPTED-WRITE a.txt first")
    project.write("check.sh", "test -e b.txt || { echo SCRIPTED-WRITE b.txt second; exit 1; }")
    project.commit_all()
    code, said = project.run("--verify", "sh check.sh", "--retries", "1")
    assert code == 0, said + project.transcript()
    assert project.read_merged_files()["b.txt"] == "second"
    assert project.read_tasks()["01-a"]["attempt"] == 2
    check_session(project)


def check_session(project: RealAgentProject) -> None:
    """The last request contains both directives: in one session, or together if the tool has no sessions."""
    said = [turn.text for turn in project.server.requests[-1].turns if turn.role is not Role.MODEL]
    first = {index for index, text in enumerate(said) if "SCRIPTED-WRITE a.txt first" in text}
    second = {index for index, text in enumerate(said) if "SCRIPTED-WRITE b.txt second" in text}
    assert first, said
    assert second, said
    if project.tool.resumes:
        assert min(first) < min(second), said
    else:
        assert first & second, said


SANDBOXES = ("worktree", "strict")
# The short form has each tool in one of them.
SANDBOXED = tuple(product(TOOLS, SANDBOXES)) if LONG else (("claude", "strict"), ("codex", "worktree"))


@pytest.mark.parametrize(("name", "mode"), SANDBOXED)
def test_a_sandboxed_tool_works_reports_and_continues_its_session(
    open_project: OpenProject, name: str, mode: str
) -> None:
    """The check runs in the sandbox, too, and the tool's login and sessions are the user's own."""
    project = open_project(name)
    project.env["PLAIT_SANDBOX_VARIABLES"] = "SCRIPTED_KEY"  # which codex's settings name
    project.env["PLAIT_SANDBOX_HOSTS"] = f"127.0.0.1:{urlsplit(project.server.client_url('job')).port}"  # the same
    secret = project.folder / "home" / "secret.txt"
    secret.write_text("secret\n")
    project.write_job("01-a", "SCRIPTED-WRITE a.txt first")
    project.write(
        "check.sh", f"test ! -e {secret} && {{ test -e b.txt || {{ echo SCRIPTED-WRITE b.txt second; exit 1; }}; }}"
    )
    project.commit_all()
    code, said = project.run("--verify", "sh check.sh", "--retries", "1", "--sandbox", mode)
    assert code == 0, said + project.transcript()
    merged = project.read_merged_files()
    assert (merged["a.txt"], merged["b.txt"]) == ("first", "second")
    (task,) = project.read_tasks().values()
    assert (task["status"], task["attempt"]) == ("done", 2)
    assert bool(task["sessionId"]) == project.tool.resumes
    assert task["cost"]["usd"] > 0
    check_session(project)
    assert "b.txt" in project.plait("logs", "01-a", "--step", "write").out  # what it did last
    project.wait_for_exit()
    assert project.find_leftovers() == []
