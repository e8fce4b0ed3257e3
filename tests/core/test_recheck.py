"""A recheck verifies finished work again and merges it; no agent runs for it, whatever happens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plait.client.task_actions import list_recheckable, list_retryable
from plait.core.decisions import AttemptStarted, Decision, RequestRefused
from plait.core.reports import AttemptLost, MergeConflicted, MergeFailed
from plait.core.requests import CancelTask, ChangeSettings, Drop, Feedback, Recheck, Retry
from plait.core.settings import Backoff, Isolation, OnConflict, Settings
from plait.core.status import Category
from plait.core.task import Attempt, Step, Task
from plait.testing.script import BATCH, Script, task_needing

CHECKED = Settings(verify="make", retries=0, backoff=Backoff(1, jitter=0))


def unverified(*tasks: Task | str, settings: Settings = CHECKED) -> Script:
    """The first task was written, and its verification failed."""
    script = Script(*(tasks or ("a",)), settings=settings)
    script.exit_attempt("a")
    script.exit_attempt("a", Category.TASK)
    assert script.status("a") == "failed"
    return script


def recheck(script: Script, name: str = "a") -> list[Decision]:
    return script.request(lambda request: Recheck(request, BATCH, name))


def change_settings(script: Script, **changes: Any) -> None:  # Any: the fields' own types
    settings = replace(script.batch().settings, **changes)
    script.request(lambda name: ChangeSettings(name, BATCH, settings, tuple(changes)))


def refuse(script: Script, request: Recheck) -> str:
    """The reason why it is refused."""
    (answer,) = (each for each in script.apply(request) if isinstance(each, RequestRefused))
    return answer.why


def list_steps(decisions: list[Decision]) -> list[Step]:
    return [each.attempt.step for each in decisions if isinstance(each, AttemptStarted)]


def test_finished_work_is_verified_and_merged_without_an_agent() -> None:
    script = unverified()
    assert list_recheckable(script.batch()) == (script.task("a"),)
    (check,) = (each for each in recheck(script) if isinstance(each, AttemptStarted))
    assert (check.attempt, check.base, check.command) == (Attempt(BATCH, "a", Step.VERIFY, 2), "tip-a", "make")
    script.exit_attempt("a")
    assert script.status("a") == "done"
    assert [entry.change.tip for entry in script.batch().merges] == ["tip-a"]


def test_without_a_check_finished_work_is_merged() -> None:
    script = unverified()
    change_settings(script, verify=None)
    assert list_steps(recheck(script)) == []
    assert script.status("a") == "done"


def test_work_that_fails_again_ends_the_task_though_retries_are_left_and_can_be_rechecked_again() -> None:
    script = unverified()
    change_settings(script, retries=3)
    recheck(script)
    assert list_steps(script.exit_attempt("a", Category.TASK)) == []
    assert script.status("a") == "failed"
    assert list_steps(recheck(script)) == [Step.VERIFY]


def test_a_lost_check_is_made_again() -> None:
    script = unverified()
    recheck(script)
    script.apply(AttemptLost(Attempt(BATCH, "a", Step.VERIFY, 2), "the machine restarted"))
    assert list_steps(script.wait(1000)) == [Step.VERIFY]


def test_a_conflict_ends_the_task_though_it_could_be_repaired() -> None:
    script = unverified(settings=Settings(verify="make", retries=0, on_conflict=OnConflict.REPAIR))
    script.answers_merges = False
    recheck(script)
    script.exit_attempt("a")
    decisions = script.apply(MergeConflicted(BATCH, "a", 1, ("x",)))
    assert list_steps(decisions) == []
    assert script.status("a") == "conflicted"


def test_work_that_is_gone_ends_the_task() -> None:
    script = unverified()
    script.answers_merges = False
    recheck(script)
    script.exit_attempt("a")
    gone = AttemptLost(Attempt(BATCH, "a", Step.MERGE, 1), "it was pruned")
    assert list_steps(script.apply(MergeFailed(BATCH, "a", 1, "gone"), gone)) == []
    assert script.status("a") == "failed"
    assert refuse(script, Recheck("again", BATCH, "a")) == (
        "a has no finished work to verify (the attempt was lost: gone): retry it instead"
    )


def test_a_task_that_failed_the_gate_is_merged_and_gated_again() -> None:
    script = Script("a", settings=Settings(gate="make", retries=0))
    script.exit_attempt("a")
    script.finish_gate(passed=False)
    script.finish_gate(passed=True)  # on the base
    assert script.status("a") == "failed"
    recheck(script)
    script.finish_gate(passed=True)
    assert script.status("a") == "done"


def test_a_dropped_change_comes_back() -> None:
    script = Script("a", settings=Settings(retries=0))
    script.exit_attempt("a")
    script.request(lambda name: Drop(name, BATCH, "a"))
    recheck(script)
    assert script.status("a") == "done"


def test_blocked_tasks_stay_blocked_until_they_are_retried() -> None:
    script = unverified("a", task_needing("b", "a"))
    recheck(script)
    assert list_steps(script.exit_attempt("a")) == []
    assert script.status("b") == "blocked"
    assert list_retryable(script.batch()) == (script.task("b"),)
    assert list_steps(script.request(lambda name: Retry(name, BATCH, "b"))) == [Step.WRITE]


def test_in_place_the_checkout_is_verified() -> None:
    script = unverified(settings=Settings(verify="make", retries=0, isolation=Isolation.IN_PLACE))
    assert list_steps(recheck(script)) == [Step.VERIFY]
    script.exit_attempt("a")
    assert script.status("a") == "done"


def test_a_recheck_waits_for_the_files_of_the_task() -> None:
    script = unverified(Task("a", touches=("x",)), Task("b", touches=("x",)))
    assert list_steps(recheck(script)) == []
    assert list_steps(script.exit_attempt("b")) == [Step.VERIFY]
    assert list_steps(script.exit_attempt("b")) == [Step.VERIFY]
    script.exit_attempt("a")
    assert (script.status("a"), script.status("b")) == ("done", "done")


def test_feedback_during_a_recheck_has_the_agent_write_again() -> None:
    script = unverified()
    recheck(script)
    script.request(lambda name: Feedback(name, BATCH, "a", "use tabs"))
    assert list_steps(script.exit_attempt("a")) == [Step.WRITE]


@pytest.mark.parametrize("category", [Category.TASK, Category.AUTH])
def test_a_task_whose_agent_did_not_finish_is_refused(category: Category) -> None:
    script = Script("a", settings=CHECKED)
    script.exit_attempt("a", category)
    assert "has no finished work to verify" in refuse(script, Recheck("again", BATCH, "a"))
    assert list_recheckable(script.batch()) == ()


def test_running_done_and_blocked_tasks_are_refused() -> None:
    script = Script("a", task_needing("b", "a"), "c", settings=Settings(retries=0))
    assert refuse(script, Recheck("again-1", BATCH, "a")) == "a has not ended"
    script.exit_attempt("c")
    assert refuse(script, Recheck("again-2", BATCH, "c")) == "c is done"
    script.request(lambda name: CancelTask(name, BATCH, "a"))
    script.exit_attempt("a")
    assert refuse(script, Recheck("again-3", BATCH, "b")) == "b is blocked: retry a instead"
