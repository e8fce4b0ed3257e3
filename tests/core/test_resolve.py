"""A person resolves a conflict: what they made is verified, merged and gated as any result; no agent runs for it."""

from __future__ import annotations

import pytest

from plait.core.decisions import AttemptStarted, Change, Decision, MergeStarted, RebuildStarted, RequestRefused
from plait.core.reports import MergeConflicted
from plait.core.requests import Drop, Feedback, Recheck, Resolve, Retry
from plait.core.settings import OnConflict, Settings
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.testing.script import BATCH, Script, task_needing

HEAD = "base+a"
FAIL = Settings(on_conflict=OnConflict.FAIL, retries=0)


def conflicted(settings: Settings = FAIL) -> Script:
    """The change of "b" conflicts with that of "a", which is merged."""
    script = Script("a", "b", "c", settings=settings)
    for name in ("a", "b"):
        script.answers_merges = name == "a"
        while script.task(name).alive:  # it is written, and verified
            script.exit_attempt(name)
    script.apply(MergeConflicted(BATCH, "b", 1, ("x",)))
    script.answers_merges = True
    assert script.status("b") == "conflicted"
    return script


def resolve(script: Script, onto: str = "", tip: str = "tip-b") -> list[Decision]:
    onto = onto or script.batch().head
    return script.request(lambda name: Resolve(name, BATCH, "b", onto, tip, "resolved-b", (1, 2, 3)))


def refuse(script: Script, onto: str = "", tip: str = "tip-b") -> str:
    (answer,) = (each for each in resolve(script, onto, tip) if isinstance(each, RequestRefused))
    return answer.why


def list_steps(decisions: list[Decision]) -> list[Step]:
    return [each.attempt.step for each in decisions if isinstance(each, AttemptStarted)]


def test_a_resolution_is_verified_merged_and_gated_without_an_agent() -> None:
    script = conflicted(Settings(on_conflict=OnConflict.FAIL, retries=0, verify="make", gate="make all"))
    (check,) = (each for each in resolve(script, HEAD) if isinstance(each, AttemptStarted))
    assert (check.attempt, check.base, check.command) == (Attempt(BATCH, "b", Step.VERIFY, 2), "resolved-b", "make")
    (merge,) = (each for each in script.exit_attempt("b") if isinstance(each, MergeStarted))
    assert (merge.base, merge.tip, merge.onto) == (HEAD, "resolved-b", HEAD)
    assert script.task("b").diffstat == (1, 2, 3)
    script.finish_gate(passed=True)  # what had been merged before
    assert script.status("b") == "merging"
    script.finish_gate(passed=True)
    assert script.status("b") == "done"
    assert script.batch().merges[1].change == Change("b", HEAD, "resolved-b")


def test_a_resolution_that_fails_its_check_ends_the_task_and_is_kept() -> None:
    script = conflicted(Settings(on_conflict=OnConflict.FAIL, retries=3, verify="make"))
    resolve(script)
    assert list_steps(script.exit_attempt("b", Category.TASK)) == []
    assert script.status("b") == "failed"
    assert list_steps(script.request(lambda name: Recheck(name, BATCH, "b"))) == [Step.VERIFY]
    script.exit_attempt("b")
    assert script.batch().merges[-1].change.tip == "resolved-b"


def test_a_resolution_that_conflicts_can_be_resolved_again() -> None:
    script = conflicted()
    script.answers_merges = False
    resolve(script)
    script.apply(MergeConflicted(BATCH, "b", 2, ("y",)))
    assert script.status("b") == "conflicted"
    script.answers_merges = True
    assert refuse(script) == "the change of b has changed since: resolved-b, not tip-b"
    resolve(script, tip="resolved-b")
    assert script.status("b") == "done"


def test_it_is_refused_if_the_branch_has_moved_on() -> None:
    script = conflicted()
    script.exit_attempt("c")
    assert refuse(script, HEAD) == "the batch branch has moved on: c was merged"
    assert refuse(script, "base") == "the batch branch has moved on: a, c were merged"
    assert refuse(script, "nowhere") == "the batch branch was rebuilt"
    assert script.status("b") == "conflicted"


def test_it_is_refused_while_the_branch_is_rebuilt() -> None:
    script = conflicted()
    script.answers_merges = False
    (rebuild,) = (e for e in script.request(lambda name: Drop(name, BATCH, "a")) if isinstance(e, RebuildStarted))
    assert rebuild.without == ("a",)
    assert refuse(script) == "the batch branch is being rebuilt: look at the conflict when that is done"


@pytest.mark.parametrize("name", ["a", "c"])
def test_a_task_without_a_conflict_is_refused(name: str) -> None:
    script = conflicted()
    asked = script.apply(Resolve("r", BATCH, name, script.batch().head, f"tip-{name}", "resolved"))
    (answer,) = (each for each in asked if isinstance(each, RequestRefused))
    state = "is done" if name == "a" else "has not ended"
    assert answer.why == f"{name} {state}: it has no conflict to resolve"


def test_a_dropped_task_is_refused() -> None:
    script = conflicted()
    script.request(lambda name: Drop(name, BATCH, "b"))
    assert refuse(script) == "b is skipped: it has no conflict to resolve"


def test_a_copy_of_the_request_changes_nothing() -> None:
    script = conflicted()
    request = Resolve("once", BATCH, "b", script.batch().head, "tip-b", "resolved-b")
    script.apply(request)
    assert script.status("b") == "done"
    assert script.apply(request) == []


def test_what_the_conflict_blocked_stays_blocked_until_it_is_retried() -> None:
    script = Script("a", task_needing("b", "a"), settings=FAIL)
    script.answers_merges = False
    script.exit_attempt("a")
    script.apply(MergeConflicted(BATCH, "a", 1, ("x",)))
    script.answers_merges = True
    script.request(lambda name: Resolve(name, BATCH, "a", "base", "tip-a", "resolved-a"))
    assert (script.status("a"), script.status("b")) == ("done", "blocked")
    assert list_steps(script.request(lambda name: Retry(name, BATCH, "b"))) == [Step.WRITE]


@pytest.mark.parametrize("feedback", [False, True])
def test_an_agent_that_repairs_a_conflict_is_told_of_it(*, feedback: bool) -> None:
    script = conflicted()
    (start,) = (
        each
        for each in script.request(
            lambda name: Feedback(name, BATCH, "b", "keep both") if feedback else Retry(name, BATCH, "b")
        )
        if isinstance(each, AttemptStarted)
    )
    assert (start.base, start.repairs) == (HEAD, Change("b", "base", "tip-b"))
    assert start.feedback == ("keep both" if feedback else "")
