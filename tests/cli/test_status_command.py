"""`plait status`, `plait history` and `plait explain`: what is so, read from the journal alone."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from plait.cli.commands.status import describe_branch as branch_lines_of, format_publication
from plait.core.decisions import PublishStarted
from plait.core.reports import (
    AttemptAsked,
    AttemptExited,
    AttemptLaunched,
    AttemptPhase,
    CommitWaiting,
    MergeConflicted,
    MergeDone,
    Outcome,
    PublishDone,
    PublishFailed,
    RateLimited,
    Report,
)
from plait.core.requests import CancelBatch, Feedback, Pause, Ship, Stop, Submit
from plait.core.settings import Backoff, Budget, Isolation, Mode, Publish, Spend
from plait.core.status import Category
from plait.core.task import Attempt, Need, NeedKind, Origin, Step, Task
from plait.core.views import make_batch_view
from plait.git.location import RepoLocation, find_repo
from plait.store.inbox import open_inbox
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE
from plait.store.state_claim import claim_state
from tests.support.cli_runner import Say
from tests.support.journal_writer import SETTINGS, JournalWriter, build_plan
from tests.support.stub_engine import StubEngines

NOON = 1_794_744_000.0  # 2026-11-15 12:00 UTC


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RepoLocation]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield find_repo(tmp_path)
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def writer(place: RepoLocation) -> JournalWriter:
    return JournalWriter(place, NOON)


@pytest.fixture
def ended(writer: JournalWriter) -> None:
    """a is done, b failed and holds c back."""
    writer.submit("beef", "a", "b", "c<b")
    writer.exit_attempt("a")
    writer.exit_attempt("b", Category.TASK, "no luck")


def test_without_a_batch_status_says_so(say: Say, place: RepoLocation) -> None:
    assert str(say("status")) == "There is no batch yet: start one with `plait run`.\nexit 0\n"
    assert json.loads(say("status", "--json").out) == {"engine": None, "batches": [], "limits": []}
    assert str(say("history")) == "There is no batch yet: start one with `plait run`.\nexit 0\n"
    assert json.loads(say("history", "--json").out) == {"batches": []}
    assert say("status", "7f3a").code == 2
    assert not place.state.exists()


@pytest.mark.usefixtures("ended")
def test_all_batches_are_listed_newest_first(say: Say, writer: JournalWriter) -> None:
    writer.submit("cafe", "x")
    writer.exit_attempt("x")
    assert str(say("status")) == (
        "cafe  completed  1/1 done · 1s\n"
        "beef  partial    1/3 done · 1 failed · 1 blocked · 2s (3s of agent time)\nexit 0\n"
    )


@pytest.mark.usefixtures("ended")
def test_one_batch_is_shown_with_its_tasks(say: Say) -> None:
    assert str(say("status", "be")) == (
        "batch beef · partial · 1/3 done · 1 failed · 1 blocked · 2s (3s of agent time)\n"
        "1 done, 2 not done\n"
        "submitted 2026-11-15 12:00\n"
        "\n"
        "  a  done              1s  A\n"
        "  b  failed            2s  the agent failed: no luck\n"
        "  c  blocked               needs b, which failed\n"
        "exit 0\n"
    )


@pytest.mark.usefixtures("ended")
def test_json_has_the_documented_fields(say: Say) -> None:
    data = json.loads(say("status", "--json").out)
    assert data["engine"] is None
    (batch,) = data["batches"]
    assert batch["id"] == "beef"
    assert batch["createdAt"] == "2026-11-15T12:00:01.000Z"
    progress = batch["progress"]
    assert (progress["completed"], progress["failed"], progress["blocked"], progress["total"]) == (1, 1, 1, 3)
    assert [task["status"] for task in batch["tasks"]] == ["done", "failed", "blocked"]
    assert json.loads(say("status", "beef", "--json").out) == data


def test_old_batches_are_listed_only_by_history(say: Say, writer: JournalWriter) -> None:
    for number in range(13):
        writer.submit(f"b{number:03}", "x")
        writer.exit_attempt("x")
    lines = say("status").out.splitlines()
    assert len(lines) == 11
    assert lines[0].startswith("b012  ")
    assert lines[-1] == "and 3 older ones: plait history"
    assert len(say("history").out.splitlines()) == 13
    assert len(json.loads(say("status", "--json").out)["batches"]) == 13


@pytest.mark.usefixtures("ended")
def test_history_shows_date_and_duration(say: Say) -> None:
    assert str(say("history")) == (
        "2026-11-15 12:00  beef  partial         2s  1/3 done · 1 failed · 1 blocked · 3s of agent time\nexit 0\n"
    )
    (batch,) = json.loads(say("history", "--json").out)["batches"]
    assert (batch["seconds"], batch["reason"]) == (2.0, "1 done, 2 not done")
    assert "tasks" not in batch


def test_a_batch_that_waits_for_a_person_is_highlighted(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", "b", mode=Mode.QUEUE)
    assert "a: needs approval" in say("status").out
    writer.apply(Pause("p", "beef"))
    assert "paused by request" in say("status").out


def test_a_program_that_may_ask_for_a_passphrase_is_shown_while_others_run(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", "b", isolation=Isolation.WORKTREE)
    attempt = Attempt("beef", "a", Step.WRITE, 1)
    writer.apply(AttemptExited(attempt, Outcome(Category.OK, 0, uncommitted=True)))
    writer.apply(CommitWaiting(attempt, 1, "gpg"))
    said = say("status").out
    assert "1 running" in said
    assert "a: committing the result: waiting for gpg, which signs the commit and may ask for a passphrase" in said


def test_the_engine_is_shown(say: Say, engines: StubEngines) -> None:
    engines.start_and_wait()
    pid = engines.started[0].pid
    assert re.search(rf"(?m)^engine {pid}, since 20..-..-.. ..:..$", say("status").out)
    data = json.loads(say("status", "--json").out)["engine"]
    assert data["pid"] == pid
    assert data["since"].endswith("Z")


def test_pending_work_without_an_engine_is_reported(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a")
    assert "work is pending but no engine is running: plait run --resume" in say("status").out


def test_a_submitted_batch_is_pending_until_an_engine_takes_it(say: Say, place: RepoLocation) -> None:
    claim_state(place.state)
    with closing(open_inbox(place.state / INBOX_FILE)) as inbox:
        inbox.put(Submit("s", "beef", build_plan("a", "b").without_texts(), SETTINGS))
    assert say("status").out.startswith("beef  pending    0/2 done")
    assert json.loads(say("status", "--json").out)["batches"][0]["status"] == "pending"


@pytest.mark.usefixtures("ended")
def test_a_damaged_inbox_hides_only_pending_requests(say: Say, place: RepoLocation) -> None:
    (place.state / INBOX_FILE).write_bytes(b"no database" * 1000)
    assert say("status").out.startswith("beef  partial")


@pytest.mark.usefixtures("ended")
def test_a_damaged_journal_is_reported(say: Say, place: RepoLocation) -> None:
    (place.state / JOURNAL_FILE).write_bytes(b"no database" * 1000)
    answer = say("status")
    assert answer.code == 1
    assert "is not a plait journal" in answer.err
    assert "is not a plait journal" in json.loads(say("status", "--json").out)["problems"][0]["message"]


def test_control_characters_of_tasks_are_replaced(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", Task("evil\x1b[2J", title="\x1b]0;title\x07"), "b")
    attempt = Attempt("beef", "evil\x1b[2J", Step.WRITE, 1)
    writer.apply(AttemptPhase(attempt, "\x1b[31mred\n\n"), AttemptAsked(attempt, "\x9b2Jwhat?"))
    for words in (["status"], ["status", "beef"], ["explain", "evil"], ["history"]):
        answer = say(*words)
        assert answer.code == 0
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", answer.out), words


def plait(place: RepoLocation, *words: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "plait", "-C", str(place.top), *words]
    return subprocess.Popen(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.usefixtures("ended")
def test_status_does_not_import_rich_markdown_or_psutil(place: RepoLocation) -> None:
    code = (
        "import sys; from plait.cli.app import run_cli\n"
        f"assert run_cli(['-C', {str(place.top)!r}, 'status']) == 0\n"
        "print([name for name in ('rich', 'psutil', 'asyncio') if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stderr == "[]\n"


def test_watching_ends_with_the_batch(
    place: RepoLocation, writer: JournalWriter, engines: StubEngines, say: Say
) -> None:
    writer.submit("beef", "a", "b", max_parallel=0, mode=Mode.QUEUE)
    engines.start_and_wait()
    watch = plait(place, "status", "beef", "--watch")
    assert watch.stdout is not None
    seen = watch.stdout.readline()
    assert seen.startswith("batch beef · pending · 0/2 done")
    assert say("cancel", "beef").code == 0
    rest, err = watch.communicate(timeout=60)
    assert (watch.returncode, err) == (0, "")
    assert "batch beef · cancelled · 0/2 done · 2 cancelled" in rest


def test_watch_shows_as_many_tasks_as_fit(place: RepoLocation, writer: JournalWriter) -> None:
    writer.submit("beef", *(f"t{number:03}" for number in range(300)))
    writer.exit_attempt("t002", Category.TASK)
    writer.apply(CancelBatch("c", "beef"))
    for attempt in list(writer.batch.alive):
        writer.exit_attempt(attempt.task, Category.KILLED)
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    line = [sys.executable, "-m", "plait", "-C", str(place.top), "status", "beef", "--watch"]
    watch = subprocess.Popen(line, stdin=child, stdout=child, stderr=child)
    os.close(child)
    seen = b""
    with suppress(OSError):  # Linux tells the end so
        while data := os.read(parent, 4096):
            seen += data
    os.close(parent)
    assert watch.wait(60) == 0
    shown = seen.decode().splitlines()
    assert len(shown) <= 24
    assert any("t002" in line and "failed" in line for line in shown)
    assert any("and 284 cancelled" in line for line in shown)


def test_watch_ends_when_interrupted(place: RepoLocation, writer: JournalWriter) -> None:
    writer.submit("beef", "a", mode=Mode.QUEUE)
    watch = plait(place, "status", "--watch", "--json")
    assert watch.stdout is not None
    assert watch.stdout.readline() == "{\n"
    watch.send_signal(signal.SIGINT)
    watch.communicate(timeout=60)
    assert watch.returncode == 130


def test_explain_shows_why_a_task_waits_and_its_dependencies(say: Say, writer: JournalWriter) -> None:
    needs = (
        Need("b", reason="said so", at=Origin("c.md", 3)),
        Need("a", NeedKind.CHAIN, "one wall", Origin("plan.md", 7)),
        Need("gone"),
    )
    writer.submit("beef", "a", "b<a", Task("c", "Third", needs=needs, origin=Origin("c.md", 1)))
    assert str(say("explain", "c")) == (
        "c is waiting: needs b, a\n"
        "Third · c.md:1 · batch beef\n"
        "\n"
        "needs\n"
        "  b  waiting  said so (c.md:3)  needs a\n"
        "  a  running  chain, one wall (plan.md:7)  attempt 1 by shell\n"
        "  gone  not in this batch\n"
        "\n"
        "It runs when its dependencies are done; waiting for a (running: attempt 1 by shell).\n"
        "exit 0\n"
    )


def test_explain_shows_the_attempts(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", retries=1, backoff=Backoff(base=0.0), verify="make test")
    writer.exit_attempt("a", Category.TASK, "no luck")
    writer.exit_attempt("a")
    writer.exit_attempt("a", Category.VERIFY, "2 tests failed")
    assert str(say("explain", "a")) == (
        "a is failed: verification failed: 2 tests failed (after 2 attempts)\n"
        "A · batch beef\n"
        "\n"
        "attempts\n"
        "  write-1   shell         1s  task: no luck\n"
        "            retried: the agent failed: no luck\n"
        "  write-2   shell         1s  ok\n"
        "  verify-1  verify        1s  verify: 2 tests failed\n"
        "\n"
        "plait retry beef a retries it; plait recheck beef a verifies its finished work again, without an agent; "
        "plait feedback beef a 'text' retries it with your feedback.\n"
        "exit 0\n"
    )


def test_explain_prints_json(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", "b<a")
    writer.exit_attempt("a", Category.TASK, "no luck")
    data = json.loads(say("explain", "beef", "b", "--json").out)
    assert (data["status"], data["reason"], data["waiting"]) == ("blocked", "needs a, which failed", None)
    assert data["needs"] == [{"id": "a", "kind": "need", "reason": "", "at": None, "status": "failed"}]
    assert data["way"] == "plait retry beef a retries it, together with a."
    (attempt,) = json.loads(say("explain", "a", "--json").out)["attempts"]
    assert attempt == {
        "step": "write",
        "attempt": 1,
        "agent": "shell",
        "startedAt": "2026-11-15T12:00:01.000Z",
        "completedAt": "2026-11-15T12:00:02.000Z",
        "category": "task",
        "exitCode": 1,
        "detail": "no luck",
        "endedFor": None,
        "retriedFor": None,
        "cost": {"tokens": 0, "usd": 0.0},
        "diffstat": None,
        "commit": None,
        "told": [],
        "toldCheck": None,
        "node": None,
    }


def test_explain_says_what_an_attempt_was_told(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a")
    writer.exit_attempt("a", Category.TASK, "no luck")
    writer.apply(Feedback("f1", "beef", "a", "mind the doors"))
    first, second = [line for line in say("explain", "a").out.splitlines() if "write-" in line or "feedback (" in line][
        1:
    ]
    assert first.split()[0] == "write-2"
    assert second.strip() == "feedback (person): mind the doors"


@pytest.mark.parametrize(
    ("settings", "way"),
    [
        ({"mode": Mode.QUEUE}, "plait approve beef a lets it start."),
        ({}, "Nothing is missing."),
    ],
)
def test_explain_shows_the_next_step(settings: dict[str, object], way: str, say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", "b", **settings)
    assert say("explain", "a").out.splitlines()[-1] == way


def test_the_next_step_of_a_backoff_is_a_time(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", retries=1, backoff=Backoff(base=60.0, jitter=0.0))
    writer.exit_attempt("a", Category.NETWORK)
    assert say("explain", "a").out.splitlines()[-1] == "Retrying at 12:01:02."


def test_the_next_step_of_a_pause_is_to_unpause(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", "b", max_parallel=1)
    writer.apply(Pause("p", "beef"))
    assert say("explain", "b").out.splitlines()[-1] == "plait unpause beef continues the batch."
    writer.apply(CancelBatch("c", "beef"))
    assert say("explain", "b").out.splitlines()[-1].startswith("plait retry beef b retries it")


def test_an_unavailable_provider_is_shown_with_its_reset_time(say: Say, place: RepoLocation) -> None:
    writer, until = JournalWriter(place), time.time() + 2 * 3600 + 20
    writer.submit("beef", "a", "b", max_parallel=1, providers=(("shell", "acme"),))
    writer.apply(RateLimited("acme", until))
    clock = time.strftime("%H:%M", time.localtime(until))
    result = rf"acme is unavailable until {clock}, (2h 00m|1h 59m) left \(the provider refused\)\n"
    assert re.search(result, say("status").out)
    assert re.search(result, say("status", "beef").out)
    writer.exit_attempt("a")
    way = say("explain", "b").out.splitlines()[-1]
    assert re.fullmatch(
        rf"It runs by itself when its agent is free again, not before {clock}:\d\d \((2h [01]m|1h 59m) left\)\.",
        way,
    )


def test_the_next_step_of_a_budget_is_shown(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", task_budget=Budget(1_000_000), retries=3, backoff=Backoff(base=0, jitter=0))
    (attempt,) = writer.batch.alive
    writer.apply(AttemptExited(attempt, Outcome(Category.TASK, 1, spend=Spend(800_000))))
    first, *_, last = say("explain", "a").out.splitlines()
    assert "the task's budget is reached: $0.80 of $1.00 spent, another attempt may cost $0.80. Continue?" in first
    assert last.startswith("plait feedback beef a 'continue' allows that attempt")
    assert last.endswith("plait cancel beef a gives it up.")


def test_a_batch_without_budget_is_not_reported_to_continue_by_itself(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", "b", max_parallel=1, budget=Budget(1_000_000))
    (attempt,) = writer.batch.alive
    writer.apply(AttemptExited(attempt, Outcome(Category.OK, 0, spend=Spend(990_000))))
    way = say("explain", "b").out.splitlines()[-1]
    assert way == "plait run --resume --budget AMOUNT continues the batch, if that is enough."


def test_a_failed_login_shows_how_to_log_in(say: Say, writer: JournalWriter) -> None:
    tasks = [Task(name, agent="claude") for name in "abc"]
    writer.submit("beef", *tasks, max_parallel=1)
    writer.exit_attempt("a", Category.AUTH, "no key")
    writer.exit_attempt("b", Category.AUTH, "no key")
    ways = [say("explain", name).out.splitlines()[-1] for name in "ac"]
    assert ways[0].startswith("Log in first (claude, then /login); then plait retry beef a retries it")
    assert ways[1].startswith("plait resume beef continues the batch with this terminal")


def test_output_of_a_stopped_tool_is_not_shown_as_its_error(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a")
    writer.apply(Stop("s", "beef"))
    writer.exit_attempt("a", Category.TASK, "[diagnostic] stop_reason=null")
    output = say("explain", "a").out
    assert "stopped by plait (stop)\n" in output
    assert "diagnostic" not in output.partition("attempts")[2]


def test_a_short_provider_limit_is_shown_in_seconds(say: Say, writer: JournalWriter) -> None:
    writer.submit("beef", "a", "b", max_parallel=1, providers=(("shell", "acme"),))
    writer.apply(RateLimited("acme", time.time() + 50))
    writer.exit_attempt("a")
    assert re.search(r"\(\d+s left\)\.$", say("explain", "b").out.rstrip())


HEAD = "0123456789abcdef"


@pytest.fixture
def merged(writer: JournalWriter) -> JournalWriter:
    """One task, merged into the batch branch; nothing is published."""
    settings = replace(SETTINGS, isolation=Isolation.WORKTREE)
    writer.apply(Submit("s", "beef", build_plan("a").without_texts(), settings, base="base", branch="plait/batch-beef"))
    (attempt,) = writer.batch.alive
    writer.apply(AttemptExited(attempt, Outcome(Category.OK, 0, tip="tip", diffstat=(2, 12, 3))))
    writer.apply(MergeDone("beef", "a", writer.batch.tasks[0].merging or 0, HEAD))
    return writer


def ship(writer: JournalWriter, answer: Callable[[PublishStarted], Report]) -> None:
    writer.apply(Ship(f"ship-{writer.state.seq}", "beef", Publish.PR))
    assert writer.batch.publishing is not None
    writer.apply(answer(writer.batch.publishing))


def branch_lines(say: Say) -> list[str]:
    """Between the words about the batch and its tasks."""
    lines = say("status", "beef").out.splitlines()
    return lines[3 : lines.index("")]


@pytest.mark.usefixtures("merged")
def test_an_unpublished_branch_shows_how_to_publish_it(say: Say) -> None:
    assert branch_lines(say) == ["branch plait/batch-beef at 0123456789, not published: plait pr beef"]
    assert "  a  done              1s  +12 \u22123  0123456789  A\n" in say("status", "beef").out
    assert say("status").out == "beef  completed  1/1 done · 2s\n"
    assert say("explain", "a").out.splitlines()[-1] == (
        "Nothing is missing: it is done. plait pr beef publishes it with the batch branch."
    )


def test_a_pull_request_is_shown_also_if_it_is_older_than_the_branch(say: Say, merged: JournalWriter) -> None:
    url = "https://example.org/pull/7"
    ship(merged, lambda order: PublishDone("beef", order.n, url, HEAD))
    assert branch_lines(say) == [
        "branch plait/batch-beef at 0123456789, pushed",
        f"pull request {url}",
    ]
    assert say("status").out == f"beef  completed  1/1 done · 2s · {url}\n"
    assert say("history").out.endswith(f" 1/1 done · {url}\n")
    assert json.loads(say("history", "--json").out)["batches"][0]["prUrl"] == url
    merged.batch.head = "fedcba9876543210"
    view = make_batch_view(merged.state, merged.batch)
    assert next(branch_lines_of(view))[0] == (
        "branch plait/batch-beef at fedcba9876; the published commit 0123456789 is older: plait pr beef"
    )
    assert format_publication(view) == f"older than its branch: {url}"


def test_a_branch_that_was_only_pushed_says_why_it_has_no_pull_request(say: Say, merged: JournalWriter) -> None:
    ship(merged, lambda order: PublishDone("beef", order.n, "", HEAD))
    none = "no pull request: this remote is not on GitHub, GitLab or Gitea"
    assert branch_lines(say) == [f"branch plait/batch-beef at 0123456789, pushed; {none}"]
    assert say("status").out == "beef  completed  1/1 done · 2s · pushed\n"


def test_a_failed_publication_shows_the_reason_and_what_to_do(say: Say, merged: JournalWriter) -> None:
    ship(merged, lambda order: PublishFailed("beef", order.n, "no token\x1b[2J", "gh auth login\nor so"))
    assert branch_lines(say) == [
        "branch plait/batch-beef at 0123456789",
        "not published: no token\ufffd[2J",
        "  gh auth login",
        "  or so",
    ]
    assert say("status").out.endswith(" · not published\n")


def test_a_running_task_shows_its_workspace_and_a_failed_one_its_branch(say: Say, writer: JournalWriter) -> None:
    settings = replace(SETTINGS, isolation=Isolation.WORKTREE, verify="make test")
    writer.apply(
        Submit(
            "s",
            "beef",
            build_plan("a", "b").without_texts(),
            settings,
            base="base",
            branch="plait/batch-beef",
        )
    )
    first, second = writer.batch.alive
    writer.apply(AttemptLaunched(second, 4, "/worktrees/task-b"))
    writer.apply(AttemptExited(first, Outcome(Category.OK, 0, tip="tip", diffstat=(1, 1, 0))))
    writer.exit_attempt("a", Category.VERIFY)
    lines = say("status", "beef").out.splitlines()
    assert "     on branch plait/task-beef-a" in lines
    assert "     in /worktrees/task-b" in lines


def test_a_task_in_the_merge_queue_shows_what_it_waits_for(say: Say, writer: JournalWriter) -> None:
    settings = replace(SETTINGS, isolation=Isolation.WORKTREE, gate="make test")
    writer.apply(
        Submit(
            "s",
            "beef",
            build_plan("a", "b").without_texts(),
            settings,
            base="base",
            branch="plait/batch-beef",
        )
    )
    for attempt in list(writer.batch.alive):
        writer.apply(AttemptExited(attempt, Outcome(Category.OK, 0, tip="tip")))
    assert say("explain", "b").out.splitlines()[-1] == "It is merged when its turn comes."
    writer.apply(MergeDone("beef", "a", writer.batch.tasks[0].merging or 0, HEAD))
    assert say("explain", "a").out.splitlines()[-1] == (
        "The gate runs as soon as what is ready to be merged is merged too: one run for all of it."
    )
    writer.apply(MergeConflicted("beef", "b", writer.batch.tasks[1].merging or 0, ("x",)))
    assert say("explain", "a").out.startswith("a is merging: the gate runs on the merged result\n")
    assert say("explain", "b").out.splitlines()[-1] == (
        "plait retry beef b retries it on the current batch branch; plait diff beef b shows it."
    )
