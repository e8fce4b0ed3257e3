"""A finished result that can't be committed waits to be committed: its agent is never run again for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from plait.client.next_step import suggest_next_step
from plait.core.decisions import AttemptStarted, CommitStarted, Decision, RequestRefused
from plait.core.reports import AttemptLost, CommitDone, CommitFailed, CommitWaiting, Outcome
from plait.core.requests import CancelTask, Feedback, Pause, Request, Retry
from plait.core.retry_policy import MAX_COMMIT_TRIES
from plait.core.scheduler.rules import is_engine_needed, list_outstanding
from plait.core.settings import Backoff, Settings
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.testing.script import BATCH, Script, started_tasks, task_needing

QUICK = Settings(agents=("claude", "codex"), verify="make", backoff=Backoff(10, jitter=0))
FIRST = Attempt(BATCH, "a", Step.WRITE, 1)
COMMITTED = Outcome(Category.OK, tip="tip-a")


def uncommitted(settings: Settings = QUICK) -> Script:
    """The agent of `a` has finished, and its result is being committed."""
    script = Script("a", task_needing("b", "a"), settings=settings)
    assert commits(script.exit_attempt("a", tip=None, uncommitted=True)) == [1]
    return script


def commits(decisions: list[Decision]) -> list[int]:
    return [each.n for each in decisions if isinstance(each, CommitStarted)]


def fail(script: Script, *, gone: bool = False) -> list[Decision]:
    n = script.task("a").committing
    assert n is not None
    return script.apply(CommitFailed(FIRST, n, "signing failed", gone))


def give_up(script: Script) -> None:
    while script.task("a").status is None:
        fail(script)
        script.wait(1000)


def retry(script: Script, agent: str | None = None) -> list[Decision]:
    return script.request(lambda name: Retry(name, BATCH, "a", agent))


def commit(script: Script) -> list[Decision]:
    n = script.task("a").committing
    assert n is not None
    return script.apply(CommitDone(FIRST, n, COMMITTED))


def test_a_result_that_is_committed_late_is_verified_and_merged() -> None:
    script = uncommitted()
    assert script.explain("a") == "a is running: committing the result"
    assert script.state.slots == 0
    commit(script)
    assert script.status("a") == "verifying"
    script.exit_attempt("a")
    assert script.status("a") == "done"
    assert script.task("a").attempt_counts[Step.WRITE] == 1


def test_a_failed_commit_is_tried_again_later_and_says_why() -> None:
    script = uncommitted()
    assert commits(fail(script)) == []
    assert script.explain("a") == "a is waiting: committing again soon: can't commit the result: signing failed"
    assert commits(script.wait(20)) == [2]
    assert started_tasks(commit(script)) == ["a"]  # it is verified


def test_a_program_that_may_ask_a_person_is_shown() -> None:
    script = uncommitted()
    script.apply(CommitWaiting(FIRST, 1, "gpg"))
    waits = "waiting for gpg, which signs the commit and may ask for a passphrase"
    assert script.explain("a") == f"a is waiting: committing the result: {waits}"
    fail(script)
    script.wait(20)
    assert script.explain("a") == "a is running: committing the result"
    script.apply(CommitWaiting(FIRST, 1, "gpg"))
    assert script.task("a").awaited_program == ""


def test_a_retry_commits_at_once() -> None:
    script = uncommitted()
    fail(script)
    assert "plait retry b1 a tries again at once" in suggest_next_step(script.state, script.batch(), script.task("a"))
    assert commits(retry(script)) == [2]
    refused = [each for each in retry(script) if isinstance(each, RequestRefused)]
    assert [each.why for each in refused] == ["a has not ended"]


def test_after_many_failures_the_task_fails_and_a_retry_commits_its_result() -> None:
    script = uncommitted()
    give_up(script)
    assert script.explain("a") == "a is failed: can't commit the result: signing failed"
    assert script.task("a").category is Category.COMMIT
    assert script.task("a").commits == MAX_COMMIT_TRIES + 1
    assert "commits its existing result without running the agent again" in suggest_next_step(
        script.state, script.batch(), script.task("a")
    )
    decisions = retry(script)
    assert (commits(decisions), started_tasks(decisions)) == ([MAX_COMMIT_TRIES + 2], [])
    commit(script)
    script.exit_attempt("a")
    assert script.status("a") == "done"


def test_a_cancelled_task_ends_at_once_and_a_retry_commits_its_result() -> None:
    script = uncommitted()
    script.apply(CommitWaiting(FIRST, 1, "gpg"))
    script.request(lambda name: CancelTask(name, BATCH, "a"))
    assert script.status("a") == "cancelled"
    script.apply(CommitDone(FIRST, 1, COMMITTED))
    assert script.status("a") == "cancelled"
    assert commits(retry(script)) == [2]


@pytest.mark.parametrize(
    "request_end", [lambda name: CancelTask(name, BATCH, "a"), lambda name: Feedback(name, BATCH, "a", "use tabs")]
)
def test_a_commit_that_does_not_count_any_more_is_no_work(request_end: Callable[[str], Request]) -> None:
    script = Script("a", settings=replace(QUICK, max_parallel=1))
    script.exit_attempt("a", tip=None, uncommitted=True)
    script.request(lambda name: Pause(name, BATCH))
    assert script.batch().busy_since is not None
    script.request(request_end)
    assert script.batch().busy_since is None


def test_an_agent_or_feedback_has_it_written_again() -> None:
    script = uncommitted()
    give_up(script)
    assert started_tasks(retry(script, "codex")) == ["a"]
    script = uncommitted()
    assert started_tasks(script.request(lambda name: Feedback(name, BATCH, "a", "use tabs"))) == ["a"]
    script.apply(CommitDone(FIRST, 1, COMMITTED))
    assert script.running_tasks() == ["a"]


def test_feedback_to_a_running_attempt_replaces_its_uncommitted_result() -> None:
    script = Script("a", settings=QUICK)
    script.request(lambda name: Feedback(name, BATCH, "a", "use tabs"))
    decisions = script.exit_attempt("a", tip=None, uncommitted=True) + script.wait(1)
    assert (commits(decisions), started_tasks(decisions)) == ([], ["a"])


def test_what_is_gone_is_written_again() -> None:
    script = uncommitted()
    assert started_tasks(fail(script, gone=True) + script.wait(1)) == ["a"]


def test_a_next_engine_makes_the_commit_and_a_pause_does_not_hold_it_back() -> None:
    script = uncommitted()
    assert list_outstanding(script.state) == [CommitStarted(FIRST, 1)]
    script.request(lambda name: Pause(name, BATCH))
    fail(script)
    assert is_engine_needed(script.state)
    assert commits(script.wait(20)) == [2]


def test_a_retry_verifies_a_result_whose_verification_was_lost() -> None:
    script = Script("a", settings=QUICK)
    script.exit_attempt("a")
    while script.task("a").status is None:
        script.apply(AttemptLost(next(iter(script.task("a").alive)), "the node died"))
        script.wait(1000)
    assert script.task("a").category is Category.LOST
    assert "plait retry b1 a verifies its existing result" in suggest_next_step(
        script.state, script.batch(), script.task("a")
    )
    (started,) = [each for each in retry(script) if isinstance(each, AttemptStarted)]
    assert (started.attempt.step, started.base) == (Step.VERIFY, "tip-a")
    script.exit_attempt("a")
    assert script.status("a") == "done"
    assert script.task("a").attempt_counts[Step.WRITE] == 1
