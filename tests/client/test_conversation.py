"""A task's conversation: what happened in order, and what each attempt was told and by whom."""

from __future__ import annotations

import pytest

from plait.client.conversation import ConversationEntry, draft_conversation
from plait.client.diff import find_resolution_range
from plait.client.history import read_history
from plait.client.task_notes import EntryKind
from plait.core.requests import Drop, Feedback, FileChoice, Resolve, ResolvedFile, Retry
from plait.core.settings import OnConflict, Settings
from plait.core.status import Category, TaskStatus
from plait.core.task import Attempt, Step
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


def list_entries(script: Script, task: str = "a") -> list[ConversationEntry]:
    draft = draft_conversation(read_history(script.records, BATCH), script.batch(), script.task(task))
    return [each.entry for each in draft.drafts]


def list_kinds(script: Script, task: str = "a") -> list[str]:
    return [entry.kind.value for entry in list_entries(script, task)]


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


def test_a_resolution_stands_between_the_conflict_and_the_merge() -> None:
    script = Script("a", "b", settings=Settings(on_conflict=OnConflict.FAIL, retries=0, verify="check"))
    for name in ("a", "b"):
        script.answers_merges = name == "a"
        while script.task(name).alive:
            script.exit_attempt(name)
        script.wait(1)
    script.conflict_merge("b", "roof.py")
    script.answers_merges = True
    files = (ResolvedFile("roof.py", FileChoice.TASK), ResolvedFile("wall.py", FileChoice.EDITED))
    head = script.batch().head
    script.request(lambda name: Resolve(name, BATCH, "b", head, "tip-b", "resolved", (2, 3, 1), files))
    script.wait(1)
    script.exit_attempt("b")
    kinds = list_kinds(script, "b")
    assert kinds[:-2] == ["attempt", "attempt", "merge", "ended", "resolve", "attempt"]
    assert {*kinds[-2:]} == {"merge", "ended"}  # at the same second
    entry = list_entries(script, "b")[4]
    assert entry.resolution is not None
    assert [(file.path, file.choice) for file in entry.resolution.files] == [("roof.py", "task"), ("wall.py", "edited")]
    assert (entry.commit, entry.resolution.resolution) == ("resolved", 1)
    history = read_history(script.records, BATCH)
    found = find_resolution_range(script.task("b"), 1, history.list_resolutions("b"))
    assert (found.base, found.tip, found.attempt) == (head, "resolved", Attempt(BATCH, "b", Step.WRITE, 1))


def test_a_retry_says_what_the_task_was() -> None:
    script = Script("a", settings=Settings(on_conflict=OnConflict.FAIL, retries=0))
    script.answers_merges = False
    script.exit_attempt("a")
    script.conflict_merge("a", "roof.py")
    script.request(lambda name: Retry(name, BATCH, "a"))
    (retry,) = (entry for entry in list_entries(script) if entry.kind is EntryKind.RETRY)
    assert retry.status is TaskStatus.CONFLICTED


def test_a_rebuild_is_an_entry_of_the_tasks_whose_commit_it_makes_again() -> None:
    script = Script("a", "b", "c")
    for name in ("a", "b", "c"):
        script.exit_attempt(name)
        script.wait(1)
    script.request(lambda name: Drop(name, BATCH, "b"))
    assert [
        (entry.without, entry.commit) for entry in list_entries(script, "c") if entry.kind is EntryKind.REBUILD
    ] == [(["b"], script.batch().head)]
    assert "rebuild" not in list_kinds(script, "a") + list_kinds(script, "b")


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
