"""The steering verbs: what is asked for, task by task, and what became of it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import closing
from io import BytesIO, TextIOWrapper

import pytest

from plait.client.project_state import read_past_batches
from plait.core.reports import AttemptExited, Outcome
from plait.core.requests import CancelTask, Feedback, Request, Retry, Stop
from plait.core.settings import Backoff, Budget, Mode, Spend
from plait.core.status import Category
from plait.git.location import RepoLocation
from plait.store.inbox import open_inbox
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE, open_project_journal
from tests.support.cli_runner import Say
from tests.support.journal_writer import JournalWriter
from tests.support.stub_engine import StubEngines


@pytest.fixture
def failed(writer: JournalWriter, engines: StubEngines) -> None:
    """a failed and holds c back, b was cancelled and needs a, d is done; the batch has ended."""
    writer.submit("beef", "a", "b<a", "c<a", "d")
    writer.exit_attempt("d")
    writer.apply(CancelTask("c1", "beef", "b"))
    writer.exit_attempt("a", Category.TASK, "no luck")
    engines.start_and_wait()


@pytest.fixture
def running(writer: JournalWriter, engines: StubEngines) -> None:
    """Two of three at work."""
    writer.submit("beef", "a", "b", "c", max_parallel=2)
    engines.start_and_wait()


@pytest.fixture
def queue(writer: JournalWriter, engines: StubEngines) -> None:
    writer.submit("beef", "a", "b", "c", mode=Mode.QUEUE)
    engines.start_and_wait()


def statuses(place: RepoLocation) -> dict[str, str]:
    state = read_past_batches(place).state
    assert state is not None
    return {task.task.id: task.status.value if task.status else "" for task in state.batches["beef"].tasks}


def asked(place: RepoLocation) -> list[Request]:
    """What the journal says that people asked for, of some kinds."""
    with closing(open_project_journal(place)) as reader:
        events = [record.event for record in reader.read()]
    return [event for event in events if isinstance(event, Retry | Feedback | Stop)]


@pytest.mark.usefixtures("running")
def test_cancelling_tasks_prints_the_status_of_each(say: Say) -> None:
    answer = say("cancel", "beef", "a", "c")
    assert str(answer) == (
        "a is running: ending attempt 1: it was cancelled\nc is cancelled: cancelled by request\nexit 0\n"
    )


@pytest.mark.usefixtures("running")
def test_without_a_batch_the_tasks_of_the_newest_one_are_used(say: Say) -> None:
    assert say("cancel", "c").out == "c is cancelled: cancelled by request\n"


@pytest.mark.usefixtures("running")
def test_a_refusal_is_printed_with_its_reason(say: Say) -> None:
    assert say("cancel", "c").code == 0
    answer = say("cancel", "c", "b")
    assert answer.code == 1
    assert answer.out == "b is running: ending attempt 1: it was cancelled\n"
    assert answer.err == "plait: c is already cancelled\n"


@pytest.mark.usefixtures("running")
def test_json_has_a_result_for_each_task(say: Say) -> None:
    say("cancel", "c")
    answer = say("cancel", "c", "b", "--json")
    assert answer.code == 1
    assert json.loads(answer.out) == {
        "batchId": "beef",
        "results": [
            {
                "taskId": "c",
                "result": "refused",
                "reason": "c is already cancelled",
                "status": "cancelled",
                "tasks": [],
            },
            {
                "taskId": "b",
                "result": "granted",
                "reason": "ending attempt 1: it was cancelled",
                "status": "running",
                "tasks": ["b"],
            },
        ],
    }
    assert answer.err == ""


@pytest.mark.usefixtures("running")
def test_a_whole_batch_can_be_cancelled(say: Say, place: RepoLocation) -> None:
    assert str(say("cancel")) == "batch beef is being cancelled: stopping 2 attempts\nexit 0\n"
    assert statuses(place)["c"] == "cancelled"
    assert str(say("cancel")) == "stderr: plait: batch beef is already being cancelled\nexit 1\n"


@pytest.mark.usefixtures("failed")
def test_an_ended_batch_cannot_be_cancelled(say: Say) -> None:
    assert str(say("cancel", "--yes")) == "stderr: plait: batch beef has ended (partial)\nexit 1\n"


def at_a_terminal(place: RepoLocation, answer: str, *words: str) -> tuple[int, str]:
    """The exit code and all that a person sees, who types this."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "plait", "-C", str(place.top), *words],
        stdin=child,
        stdout=child,
        stderr=child,
        start_new_session=True,
    )
    os.close(child)
    os.write(parent, answer.encode())
    seen = b""
    try:
        while data := os.read(parent, 4096):
            seen += data
    except OSError:  # Linux tells the end so
        pass
    os.close(parent)
    return process.wait(60), seen.decode()


@pytest.mark.usefixtures("running")
def test_cancelling_a_batch_asks_at_a_terminal(place: RepoLocation) -> None:
    code, seen = at_a_terminal(place, "n\n", "cancel")
    assert code == 1
    assert "Cancel batch beef: stop a, b and give up 3 of 3 tasks? [y/N]" in seen
    assert "Nothing was cancelled." in seen
    assert statuses(place) == {"a": "", "b": "", "c": ""}
    code, seen = at_a_terminal(place, "y\n", "cancel")
    assert (code, statuses(place)["c"]) == (0, "cancelled")


@pytest.mark.usefixtures("running")
def test_yes_skips_the_question(place: RepoLocation) -> None:
    code, seen = at_a_terminal(place, "", "cancel", "--yes")
    assert code == 0
    assert "[y/N]" not in seen


@pytest.mark.usefixtures("running")
def test_a_batch_can_be_paused_and_unpaused(say: Say) -> None:
    assert str(say("pause")) == "batch beef is paused: paused by request\nexit 0\n"
    assert str(say("pause", "be")) == "stderr: plait: batch beef is already paused\nexit 1\n"
    assert str(say("unpause")) == "batch beef is running: 2 running, 3 of 3 left\nexit 0\n"
    assert str(say("resume")) == "stderr: plait: batch beef is not paused\nexit 1\n"


def test_a_stopped_batch_can_be_resumed(writer: JournalWriter, engines: StubEngines, say: Say) -> None:
    writer.submit("beef", "a")
    writer.apply(Stop("s", "beef"))
    writer.exit_attempt("a", Category.KILLED)
    engines.start_and_wait()
    assert say("unpause").err == "plait: batch beef was stopped: resume it\n"
    assert str(say("resume", "beef")) == "batch beef is running: 1 running, 1 of 1 left\nexit 0\n"


@pytest.mark.parametrize("verb", ["pause", "unpause", "resume"])
@pytest.mark.usefixtures("running")
def test_pause_unpause_and_resume_refuse_tasks(verb: str, say: Say) -> None:
    answer = say(verb, "beef", "a")
    assert answer.code == 2
    assert answer.err.startswith(f"plait: {verb} applies to a whole batch\n")


@pytest.mark.usefixtures("queue")
def test_approve_without_a_task_approves_the_next_one(say: Say) -> None:
    assert str(say("approve")) == "a is running: attempt 1 by shell\nexit 0\n"
    assert str(say("approve")) == "b is waiting: starts after a\nexit 0\n"


@pytest.mark.usefixtures("queue")
def test_approve_with_a_task_approves_that_one(say: Say) -> None:
    assert str(say("approve", "c")) == "c is waiting: starts after a\nexit 0\n"
    assert str(say("approve", "c")) == "stderr: plait: c does not need approval\nexit 1\n"


@pytest.mark.usefixtures("queue")
def test_approve_all_stops_asking(say: Say) -> None:
    assert str(say("approve", "--all")) == "batch beef is running: 1 running, 3 of 3 left\nexit 0\n"
    assert str(say("approve")) == "stderr: plait: batch beef needs no approval\nexit 1\n"
    assert say("approve", "--all", "a").code == 2


@pytest.mark.usefixtures("running")
def test_without_a_queue_there_is_nothing_to_approve(say: Say) -> None:
    for words in ([], ["--all"], ["a"]):
        assert str(say("approve", *words)) == "stderr: plait: batch beef needs no approval\nexit 1\n"


@pytest.mark.usefixtures("failed")
def test_retry_without_tasks_retries_all_failures_in_dependency_order(say: Say, place: RepoLocation) -> None:
    answer = say("retry", "--no-wait")
    assert str(answer) == "a is running: attempt 2 by shell; also c\nb is waiting: needs a\nexit 0\n"
    assert statuses(place) == {"a": "", "b": "", "c": "", "d": "done"}


@pytest.mark.usefixtures("failed")
def test_retry_with_a_task_retries_that_one(say: Say, place: RepoLocation) -> None:
    assert say("retry", "beef", "b").err == "plait: b is cancelled: retry a instead\n"
    assert say("retry", "b", "a", "--no-wait").code == 0
    assert statuses(place) == {"a": "", "b": "", "c": "", "d": "done"}


@pytest.mark.usefixtures("running")
def test_without_failures_there_is_nothing_to_retry(say: Say) -> None:
    expected = "Batch beef has nothing to retry: no task failed, timed out, conflicted or was cancelled.\nexit 0\n"
    assert str(say("retry")) == expected
    assert json.loads(say("retry", "--json").out) == {"batchId": "beef", "results": []}


@pytest.mark.usefixtures("failed")
def test_a_task_can_be_retried_with_another_agent(say: Say, place: RepoLocation) -> None:
    answer = say("retry", "a", "--agent", "nobody-knows-it")
    assert answer.code == 2
    assert "there is no agent called nobody-knows-it" in answer.err
    assert asked(place) == []
    assert say("retry", "a", "--agent", "shell", "--no-wait").code == 0
    assert [request.agent for request in asked(place) if isinstance(request, Retry)] == ["shell"]


@pytest.mark.usefixtures("failed")
def test_a_task_can_be_dropped(say: Say) -> None:
    assert str(say("drop", "a")) == "a is skipped: dropped by request\nexit 0\n"
    assert str(say("drop", "a")) == "stderr: plait: a is already skipped\nexit 1\n"
    answer = say("drop", "beef")
    assert answer.code == 2
    assert answer.err.startswith("plait: name the tasks of batch beef to drop\n")


@pytest.mark.usefixtures("failed")
def test_feedback_starts_a_new_attempt_with_its_text(say: Say, place: RepoLocation) -> None:
    assert say("feedback", "beef", "a", "mind the gap").code == 0
    assert [request.text for request in asked(place) if isinstance(request, Feedback)] == ["mind the gap"]


@pytest.mark.usefixtures("failed")
def test_feedback_can_be_read_from_standard_input(
    say: Say, place: RepoLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO("zwölf\nlines \xff".encode("latin-1"))))
    assert say("feedback", "a", "-").code == 0
    assert [request.text for request in asked(place) if isinstance(request, Feedback)] == ["zw�lf\nlines �"]


@pytest.mark.usefixtures("failed")
def test_feedback_needs_a_text(say: Say) -> None:
    assert str(say("feedback", "a", " ")) == "stderr: plait: the feedback is empty\nexit 1\n"
    assert say("feedback", "a").code == 2


VERBS = ("cancel", "pause", "unpause", "approve", "retry", "resume", "drop")


@pytest.mark.parametrize("verb", VERBS)
def test_without_a_batch_every_command_is_refused(verb: str, say: Say, place: RepoLocation) -> None:
    answer = say(verb, "7f3a")
    assert str(answer) == "stderr: plait: there is no batch yet\nstderr:   Start one with `plait run`.\nexit 2\n"
    data = json.loads(say(verb, "--json").out)
    assert data["problems"][0]["message"] == "there is no batch yet"
    assert not place.state.exists()


def test_an_unanswered_request_is_reported_as_saved(
    writer: JournalWriter, place: RepoLocation, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.submit("beef", "a")
    monkeypatch.setattr("plait.client.session.ANSWER_TIMEOUT_SECONDS", 0.05)
    with closing(open_journal_writer(place.state / JOURNAL_FILE)):  # the lease is held, and no request is answered
        answer = say("pause")
        assert answer.code == 1
        assert answer.err.startswith("plait: batch beef: request saved, but no engine answered")
        (expected,) = json.loads(say("cancel", "a", "--json").out)["results"]
        assert (expected["result"], expected["status"]) == ("accepted", "running")
    with closing(open_inbox(place.state / INBOX_FILE)) as inbox:
        assert len(inbox.pending()) == 2


@pytest.mark.usefixtures("running")
def test_control_characters_in_task_names_are_replaced(say: Say) -> None:
    answer = say("cancel", "\x1b[2J")
    assert answer.code == 2
    assert "\x1b" not in answer.err


def test_answering_no_to_a_budget_question_does_not_start_the_task(
    say: Say, writer: JournalWriter, engines: StubEngines
) -> None:
    """Any words to a task that asks whether it may spend more let it."""
    writer.submit("beef", "a", task_budget=Budget(1_000_000), retries=3, backoff=Backoff(base=0, jitter=0))
    (attempt,) = writer.batch.alive
    writer.apply(AttemptExited(attempt, Outcome(Category.TASK, 1, spend=Spend(800_000))))
    engines.start_and_wait()
    answer = say("feedback", "beef", "a", "No!")
    assert answer.code == 2
    assert "plait cancel beef a gives it up" in answer.err
    assert say("feedback", "beef", "a", "no luck so far, go on").code == 0
