"""Predicted conflicts are shown at both tasks, end with either, and decide nothing."""

from __future__ import annotations

from plait.core.reports import ConflictCleared, ConflictPredicted
from plait.core.requests import CancelTask
from plait.core.settings import OnConflict, Settings
from plait.core.status import Category
from plait.core.views import make_task_view
from plait.testing.script import BATCH, Script


def predict(script: Script, task: str) -> dict[str, tuple[str, ...]]:
    return dict(make_task_view(script.state, script.batch(), script.task(task)).predicted_conflicts)


def test_a_predicted_conflict_is_shown_at_both_tasks_and_decides_nothing() -> None:
    script = Script("a", "b")
    assert script.apply(ConflictPredicted(BATCH, "a", "b", ("x.py", "y.py"))) == []
    assert script.explain("a") == "a is running: attempt 1 by shell; would conflict with b in x.py, y.py"
    assert script.explain("b") == "b is running: attempt 1 by shell; would conflict with a in x.py, y.py"


def test_conflicts_with_the_branch_and_long_lists_are_shortened() -> None:
    script = Script("a")
    script.apply(ConflictPredicted(BATCH, "a", "", tuple("vwxyz")))
    assert script.explain("a").endswith("; would conflict with the batch branch in v, w, x and 2 more")


def test_a_cleared_prediction_is_not_shown() -> None:
    script = Script("a", "b")
    script.apply(ConflictPredicted(BATCH, "a", "b", ("x",)), ConflictCleared(BATCH, "b", "a"))
    assert (predict(script, "a"), predict(script, "b")) == ({}, {})


def test_a_prediction_is_removed_when_either_task_ends() -> None:
    script = Script("a", "b", settings=Settings(retries=0))
    script.apply(ConflictPredicted(BATCH, "a", "b", ("x",)), ConflictPredicted(BATCH, "b", "", ("y",)))
    script.exit_attempt("a", Category.TASK)
    assert (predict(script, "a"), predict(script, "b")) == ({}, {"": ("y",)})
    script.apply(ConflictPredicted(BATCH, "b", "a", ("x",)))
    assert predict(script, "b") == {"": ("y",)}


def test_a_repair_starts_without_the_prediction() -> None:
    script = Script("a", "b", settings=Settings(on_conflict=OnConflict.REPAIR))
    script.answers_merges = False
    script.exit_attempt("a")
    script.apply(ConflictPredicted(BATCH, "a", "b", ("x",)))
    script.conflict_merge("a", "x")
    assert (predict(script, "a"), predict(script, "b")) == ({}, {})


def test_a_prediction_about_unknown_tasks_changes_nothing() -> None:
    script = Script("a", "b")
    script.request(lambda name: CancelTask(name, BATCH, "b"))
    for task, other in (("a", "a"), ("a", "nobody"), ("nobody", "a"), ("nobody", "")):
        script.apply(ConflictPredicted(BATCH, task, other, ("x",)), ConflictCleared(BATCH, task, other))
    script.apply(ConflictPredicted("nowhere", "a", "b", ("x",)))
    assert predict(script, "a") == {}
