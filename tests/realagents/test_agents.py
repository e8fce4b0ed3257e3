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
from tests.support.real_agents import KEY, KINDS, Workshop

LONG = bool(os.environ.get("PLAIT_AGENTS_LONG"))
TOOLS = tuple(KINDS) if LONG else ("claude", "codex")

ENDLESS = "tail -f /dev/null"  # some tools run no plain sleep

Shop = Callable[[str], Workshop]

each = pytest.mark.parametrize("name", TOOLS)
# The short form does most things with one of its two tools.
codex = pytest.mark.parametrize("name", TOOLS if LONG else ("codex",))
claude = pytest.mark.parametrize("name", TOOLS if LONG else ("claude",))
stubborn = pytest.mark.parametrize("name", ("claude", "codex") if LONG else ("claude",))


@each
def test_what_it_edits_is_merged_and_what_it_took_is_known(shop: Shop, name: str) -> None:
    here = shop(name)
    here.job("01-a", "SCRIPTED-WRITE a.txt from the first")
    here.job("02-b", "SCRIPTED-WRITE deep/b.txt from the second")
    here.begin()
    before = here.own()
    code, said = here.run("--retries", "0")
    assert code == 0, said + here.transcript()
    merged = here.merged()
    assert (merged["a.txt"], merged["deep/b.txt"]) == ("from the first", "from the second")
    assert merged.keys() - {"a.txt", "deep/b.txt"} <= {"plait.toml"}
    assert here.own() == before
    for task in here.told().values():
        assert (task["status"], task["attempt"], task["agent"]) == ("done", 1, name)
        assert bool(task["sessionId"]) == here.kind.resumes
        assert task["cost"]["usd"] > 0
        assert task["cost"]["tokens"] > 0 or not here.kind.tokens
    here.until_quiet()
    assert here.leftovers() == []


@codex
def test_two_refusals_use_up_no_retry(shop: Shop, name: str) -> None:
    here = shop(name)
    here.job("01-a", "SCRIPTED-WRITE a.txt at last")
    here.begin()
    here.provide("429:2;after=1")
    code, said = here.run("--retries", "0")
    assert code == 0, said + here.transcript()
    assert here.merged()["a.txt"] == "at last"
    assert [request.fault for request in here.server.of("job")][:3] == ["429", "429", ""]


@stubborn
def test_a_limit_that_outlasts_the_tools_patience_is_waited_out(shop: Shop, name: str) -> None:
    here = shop(name)
    here.job("01-a", "SCRIPTED-WRITE a.txt at last")
    here.begin()
    here.provide(f"429:{here.kind.refusals};after=1")
    here.hurry()
    code, said = here.run("--retries", "0", "--json")
    assert code == 0, said + here.transcript()
    assert here.told()["01-a"]["attempt"] == 2
    events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    (again,) = (event for event in events if event["type"] == "batch:task:retry")
    assert (again["category"], again["counted"]) == ("rate_limit", False)
    assert {"limit:opened", "limit:closed"} <= {event["type"] for event in events}


@codex
def test_a_wrong_key_fails_the_task_at_once(shop: Shop, name: str) -> None:
    here = shop(name)
    here.job("01-a", "SCRIPTED-WRITE a.txt never")
    here.begin()
    here.provide("401")
    code, said = here.run("--retries", "3")
    assert code == 1, said
    task = here.told()["01-a"]
    assert (task["status"], task["category"], task["attempt"]) == ("failed", "auth", 1), here.transcript()


@codex
def test_a_provider_that_does_not_answer_ends_with_the_idle_timeout(shop: Shop, name: str) -> None:
    here = shop(name)
    here.job("01-a", "SCRIPTED-WRITE a.txt never")
    here.begin()
    here.provide("hang")
    code, said = here.run("--retries", "0", "--idle-timeout", f"{here.kind.start:.0f}s")
    assert code == 1, said
    task = here.told()["01-a"]
    assert (task["status"], task["category"]) == ("timed_out", "idle"), here.transcript()
    assert here.server.of("job"), here.transcript()
    here.until_quiet()


def at_work(here: Workshop) -> subprocess.Popen[str]:
    """A task that does not end by itself: its tool runs a command, or waits for its provider."""
    if here.kind.shell:
        here.job("01-a", "SCRIPTED-WRITE a.txt first", f"SCRIPTED-SH {ENDLESS}")
    else:
        here.job("01-a", "SCRIPTED-WRITE a.txt first")
        here.provide("hang:1")
    here.begin()
    front = here.begun()
    here.until(lambda: ENDLESS in commands(here) if here.kind.shell else here.server.of("job"))
    here.until(lambda: here.told()["01-a"]["sessionId"] or not here.kind.resumes)
    return front


def commands(here: Workshop) -> list[str]:
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
    assert not [words for words in commands(here) if KEY in words]
    assert here.plait("cancel", "--yes").code == 0
    here.answer(front)
    here.until_quiet()
    assert here.statuses() == {"01-a": "cancelled"}
    kept = (path for path in (here.top / ".git" / "plait").rglob("*") if path.is_file())
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]


@claude
def test_feedback_goes_on_with_the_same_session(shop: Shop, name: str) -> None:
    here = shop(name)
    front = at_work(here)
    session = here.told()["01-a"]["sessionId"]
    assert here.plait("feedback", "01-a", "SCRIPTED-WRITE b.txt second").code == 0
    answer = here.answer(front)
    assert answer.code == 0, f"{answer}{here.transcript()}"
    merged = here.merged()
    assert (merged["a.txt"], merged["b.txt"]) == ("first", "second")
    assert here.told()["01-a"]["sessionId"] == session
    remembers(here)


@codex
def test_what_a_check_says_goes_back_into_the_same_session(shop: Shop, name: str) -> None:
    here = shop(name)
    here.job("01-a", "SCRIPTED-WRITE a.txt first")
    here.write("check.sh", "test -e b.txt || { echo SCRIPTED-WRITE b.txt second; exit 1; }")
    here.begin()
    code, said = here.run("--verify", "sh check.sh", "--retries", "1")
    assert code == 0, said + here.transcript()
    assert here.merged()["b.txt"] == "second"
    assert here.told()["01-a"]["attempt"] == 2
    remembers(here)


def remembers(here: Workshop) -> None:
    """The last words follow on the first ones in one session, or come together with them where there are no sessions."""
    said = [turn.text for turn in here.server.requests[-1].turns if turn.role is not Role.MODEL]
    first = {index for index, text in enumerate(said) if "SCRIPTED-WRITE a.txt first" in text}
    second = {index for index, text in enumerate(said) if "SCRIPTED-WRITE b.txt second" in text}
    assert first, said
    assert second, said
    if here.kind.resumes:
        assert min(first) < min(second), said
    else:
        assert first & second, said
