"""The real coding tools, driven end to end: a real repository, real worktrees, and a scripted model behind them.

In every test run two of them are tried, with PLAIT_AGENTS_LONG all that can be installed.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress

import psutil
import pytest

from tests.support.model_server.messages import Role
from tests.support.real_agents import API_KEY, INSTALLED_TOOLS, TOOL_TIMEOUT_SECONDS, RealAgentProject
from tests.support.waiting import wait_until

LONG = bool(os.environ.get("PLAIT_AGENTS_LONG"))
TOOLS = tuple(INSTALLED_TOOLS) if LONG else ("claude", "codex")

ENDLESS = "tail -f /dev/null"  # some tools run no plain sleep

Shop = Callable[[str], RealAgentProject]

each = pytest.mark.parametrize("name", TOOLS)
# The short form does most things with one of its two tools.
codex = pytest.mark.parametrize("name", TOOLS if LONG else ("codex",))
claude = pytest.mark.parametrize("name", TOOLS if LONG else ("claude",))
stubborn = pytest.mark.parametrize("name", ("claude", "codex") if LONG else ("claude",))


@each
def test_what_it_edits_is_merged_and_what_it_took_is_known(shop: Shop, name: str) -> None:
    here = shop(name)
    here.write_job("01-a", "SCRIPTED-WRITE a.txt from the first")
    here.write_job("02-b", "SCRIPTED-WRITE deep/b.txt from the second")
    here.commit_all()
    before = here.snapshot_user_files()
    code, said = here.run("--retries", "0")
    assert code == 0, said + here.transcript()
    merged = here.read_merged_files()
    assert (merged["a.txt"], merged["deep/b.txt"]) == ("from the first", "from the second")
    assert merged.keys() - {"a.txt", "deep/b.txt"} <= {"plait.toml"}
    assert here.snapshot_user_files() == before
    for task in here.read_tasks().values():
        assert (task["status"], task["attempt"], task["agent"]) == ("done", 1, name)
        assert bool(task["sessionId"]) == here.tool.resumes
        assert task["cost"]["usd"] > 0
        assert task["cost"]["tokens"] > 0 or not here.tool.tokens
    here.wait_for_exit()
    assert here.find_leftovers() == []


@codex
def test_two_refusals_use_up_no_retry(shop: Shop, name: str) -> None:
    here = shop(name)
    here.write_job("01-a", "SCRIPTED-WRITE a.txt at last")
    here.commit_all()
    here.use_server("429:2;after=1")
    code, said = here.run("--retries", "0")
    assert code == 0, said + here.transcript()
    assert here.read_merged_files()["a.txt"] == "at last"
    assert [request.fault for request in here.server.requests_from("job")][:3] == ["429", "429", ""]


@stubborn
def test_a_limit_that_outlasts_the_tools_patience_is_waited_out(shop: Shop, name: str) -> None:
    here = shop(name)
    here.write_job("01-a", "SCRIPTED-WRITE a.txt at last")
    here.commit_all()
    here.use_server(f"429:{here.tool.max_refusals};after=1")
    here.limit_retries()
    code, said = here.run("--retries", "0", "--json")
    assert code == 0, said + here.transcript()
    assert here.read_tasks()["01-a"]["attempt"] == 2
    events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    (again,) = (event for event in events if event["type"] == "batch:task:retry")
    assert (again["category"], again["counted"]) == ("rate_limit", False)
    assert {"limit:opened", "limit:closed"} <= {event["type"] for event in events}


@codex
def test_a_wrong_key_fails_the_task_at_once(shop: Shop, name: str) -> None:
    here = shop(name)
    here.write_job("01-a", "SCRIPTED-WRITE a.txt never")
    here.commit_all()
    here.use_server("401")
    code, said = here.run("--retries", "3")
    assert code == 1, said
    task = here.read_tasks()["01-a"]
    assert (task["status"], task["category"], task["attempt"]) == ("failed", "auth", 1), here.transcript()


@codex
def test_a_provider_that_does_not_answer_ends_with_the_idle_timeout(shop: Shop, name: str) -> None:
    here = shop(name)
    here.write_job("01-a", "SCRIPTED-WRITE a.txt never")
    here.commit_all()
    here.use_server("hang")
    code, said = here.run("--retries", "0", "--idle-timeout", f"{here.tool.start_seconds:.0f}s")
    assert code == 1, said
    task = here.read_tasks()["01-a"]
    assert (task["status"], task["category"]) == ("timed_out", "idle"), here.transcript()
    assert here.server.requests_from("job"), here.transcript()
    here.wait_for_exit()


def at_work(here: RealAgentProject) -> subprocess.Popen[str]:
    """A task that does not end by itself: its tool runs a command, or waits for its provider."""
    if here.tool.shell:
        here.write_job("01-a", "SCRIPTED-WRITE a.txt first", f"SCRIPTED-SH {ENDLESS}")
    else:
        here.write_job("01-a", "SCRIPTED-WRITE a.txt first")
        here.use_server("hang:1")
    here.commit_all()
    front = here.start_run()

    def asked() -> object:
        return ENDLESS in commands(here) if here.tool.shell else here.server.requests_from("job")

    wait_until(asked, TOOL_TIMEOUT_SECONDS)
    wait_until(lambda: here.read_tasks()["01-a"]["sessionId"] or not here.tool.resumes, TOOL_TIMEOUT_SECONDS)
    return front


def commands(here: RealAgentProject) -> list[str]:
    """What everybody on the machine sees of all that runs here."""
    seen = []
    for process in here.processes():
        with suppress(psutil.Error):
            seen.append(" ".join(process.cmdline()))
    return seen


@each
def test_nothing_is_left_of_a_cancelled_task_and_nobody_saw_its_key(shop: Shop, name: str) -> None:
    here = shop(name)
    front = at_work(here)
    assert not [words for words in commands(here) if API_KEY in words]
    assert here.plait("cancel", "--yes").code == 0
    here.finish(front)
    here.wait_for_exit()
    assert here.statuses() == {"01-a": "cancelled"}
    kept = (path for path in (here.top / ".git" / "plait").rglob("*") if path.is_file())
    assert not [path for path in kept if API_KEY.encode() in path.read_bytes()]


@claude
def test_feedback_goes_on_with_the_same_session(shop: Shop, name: str) -> None:
    here = shop(name)
    front = at_work(here)
    session = here.read_tasks()["01-a"]["sessionId"]
    assert here.plait("feedback", "01-a", "SCRIPTED-WRITE b.txt second").code == 0
    answer = here.finish(front)
    assert answer.code == 0, f"{answer}{here.transcript()}"
    merged = here.read_merged_files()
    assert (merged["a.txt"], merged["b.txt"]) == ("first", "second")
    assert here.read_tasks()["01-a"]["sessionId"] == session
    remembers(here)


@codex
def test_what_a_check_says_goes_back_into_the_same_session(shop: Shop, name: str) -> None:
    here = shop(name)
    here.write_job("01-a", "SCRIPTED-WRITE a.txt first")
    here.write("check.sh", "test -e b.txt || { echo SCRIPTED-WRITE b.txt second; exit 1; }")
    here.commit_all()
    code, said = here.run("--verify", "sh check.sh", "--retries", "1")
    assert code == 0, said + here.transcript()
    assert here.read_merged_files()["b.txt"] == "second"
    assert here.read_tasks()["01-a"]["attempt"] == 2
    remembers(here)


def remembers(here: RealAgentProject) -> None:
    """The last words follow on the first ones in one session, or come together with them where there are no sessions."""
    said = [turn.text for turn in here.server.requests[-1].turns if turn.role is not Role.MODEL]
    first = {index for index, text in enumerate(said) if "SCRIPTED-WRITE a.txt first" in text}
    second = {index for index, text in enumerate(said) if "SCRIPTED-WRITE b.txt second" in text}
    assert first, said
    assert second, said
    if here.tool.resumes:
        assert min(first) < min(second), said
    else:
        assert first & second, said
