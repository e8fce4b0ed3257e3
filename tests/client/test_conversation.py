"""A task's conversation: what happened in order, and what each attempt was told and by whom."""

from __future__ import annotations

import pytest

from plait.client.conversation import draft_conversation
from plait.client.history import read_history
from plait.core.requests import Drop, Feedback, Retry
from plait.core.settings import OnConflict, Settings
from plait.core.status import Category
from plait.core.task import Step
from plait.testing.script import BATCH, Script

COMMENTS = "2 comments on the changes, by file and line:\n\na.py:3\nWhy?"


def list_told(script: Script, task: str = "a") -> list[tuple[int, list[tuple[str, str]], str | None]]:
    """Of each write attempt: what it was told by whom, and the check whose output it saw."""
    attempts = read_history(script.records, BATCH).list_attempts(task)
    return [
        (
            past.attempt.n,
            [(part.source.value, part.text) for part in past.told],
            f"verify-{past.told_check.n}" if past.told_check is not None else None,
        )
        for past in attempts
        if past.attempt.step is Step.WRITE
    ]


def list_kinds(script: Script, task: str = "a") -> list[str]:
    draft = draft_conversation(read_history(script.records, BATCH), script.batch(), script.task(task))
    return [each.entry.kind.value for each in draft.drafts]


def test_an_attempt_is_told_which_check_failed_until_one_succeeds() -> None:
    script = Script("a", settings=Settings(verify="check", retries=2))
    script.exit_attempt("a")
    script.exit_attempt("a", Category.VERIFY, detail="2 tests fail")
    script.exit_attempt("a")
    script.exit_attempt("a", Category.VERIFY, detail="1 test fails")
    (first, second, third) = list_told(script)
    assert first == (1, [], None)
    assert [source for source, _ in second[1]] == ["check"]
    assert "2 tests fail" in second[1][0][1]
    assert second[2] == "verify-1"
    assert "1 test fails" in third[1][0][1]
    assert "2 tests fail" not in str(third)  # attempt 2 succeeded, so its feedback is used up
    assert third[2] == "verify-2"


@pytest.mark.parametrize(("text", "source"), [("of stone", "person"), (COMMENTS, "review")])
def test_feedback_of_a_person_waits_until_an_attempt_is_told(text: str, source: str) -> None:
    script = Script("a", settings=Settings(retries=0))
    script.exit_attempt("a", Category.TASK)
    script.request(lambda name: Feedback(name, BATCH, "a", text))
    assert list_told(script) == [(1, [], None), (2, [(source, text)], None)]
    script.request(lambda name: Feedback(name, BATCH, "a", "and quickly"))
    assert list_kinds(script)[-1] == "feedback"


def test_an_answer_is_told_as_one() -> None:
    script = Script("a")
    script.wait(1)
    script.exit_attempt("a", Category.QUESTION, question="Which colour?")
    script.request(lambda name: Feedback(name, BATCH, "a", "blue"))
    assert list_told(script)[1] == (2, [("answer", "blue")], None)
    assert list_kinds(script) == ["attempt", "question", "attempt"]


def test_a_conflict_and_the_feedback_about_it() -> None:
    script = Script("a", settings=Settings(on_conflict=OnConflict.REPAIR))
    script.answers_merges = False
    script.exit_attempt("a")
    script.conflict_merge("a", "roof.py")
    assert [source for source, _ in list_told(script)[1][1]] == ["conflict"]
    draft = draft_conversation(read_history(script.records, BATCH), script.batch(), script.task("a"))
    (merge,) = (each.entry for each in draft.drafts if each.entry.kind.value == "merge")
    assert (merge.result, merge.files) == ("conflicted", ["roof.py"])


def test_requests_and_ends_are_entries() -> None:
    script = Script("a", settings=Settings(retries=0))
    script.exit_attempt("a", Category.TASK)
    script.request(lambda name: Retry(name, BATCH, "a"))
    script.wait(1)
    script.exit_attempt("a")
    script.wait(1)
    script.request(lambda name: Drop(name, BATCH, "a"))
    kinds = list_kinds(script)
    assert kinds[:4] == ["attempt", "ended", "retry", "attempt"]
    assert "merge" in kinds
    assert kinds[-2:] == ["drop", "ended"]


def test_the_failure_is_the_check_that_failed() -> None:
    script = Script("a", settings=Settings(verify="check", retries=0))
    script.exit_attempt("a")
    script.exit_attempt("a", Category.VERIFY)
    failed = draft_conversation(read_history(script.records, BATCH), script.batch(), script.task("a")).failed
    assert failed is not None
    assert failed.step is Step.VERIFY
