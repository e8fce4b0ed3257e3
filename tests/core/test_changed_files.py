"""Files that a task changed are locked until it ends."""

from __future__ import annotations

from plait.core.reports import MergeDone
from plait.core.requests import Retry
from plait.core.settings import Backoff, FileConflicts, Isolation, Settings
from plait.core.status import Category
from plait.core.task import Task
from plait.testing.script import BATCH, Script, started_tasks

NOW = Settings(backoff=Backoff(0.0, 1.0, 0.0, 0.0))


def test_changed_files_are_held_until_they_are_merged() -> None:
    script = Script("a", Task("b", touches=("x.py",)), settings=Settings(max_parallel=1))
    script.answers_merges = False
    assert started_tasks(script.exit_attempt("a", files=("x.py",))) == []
    assert script.explain("b") == "b is waiting: touches x.py, held by a"
    script.answers_merges = True
    assert started_tasks(script.apply(MergeDone(BATCH, "a", 1, "base+a"))) == ["b"]


def test_a_task_that_touches_a_folder_waits_for_a_changed_file_in_it() -> None:
    script = Script(
        "a", Task("b", touches=("src/",)), Task("c", touches=("src/y.py",)), settings=Settings(max_parallel=1)
    )
    assert started_tasks(script.exit_attempt("a", Category.TASK, files=("src/ui/x.py",))) == ["c"]
    assert script.explain("b") == "b is waiting: touches src, held by a"


def test_a_changed_file_that_another_task_holds_is_neither_taken_nor_waited_for() -> None:
    """Two that changed each other's files would wait for each other for ever."""
    script = Script(Task("a", touches=("x",)), Task("b", touches=("y",)), settings=NOW)
    script.exit_attempt("a", Category.TASK, files=("y",))
    script.exit_attempt("b", Category.TASK, files=("x",))
    script.wait(1)
    assert sorted(script.running_tasks()) == ["a", "b"]


def test_a_retried_task_waits_for_the_files_it_changed_before() -> None:
    script = Script("a", Task("b", touches=("x",)), settings=Settings(retries=0, max_parallel=1))
    assert started_tasks(script.exit_attempt("a", Category.TASK, files=("x",))) == ["b"]
    script.request(lambda name: Retry(name, BATCH, "a"))
    assert script.status("a") == "waiting"
    assert "touches x, held by b" in script.explain("a")
    assert started_tasks(script.exit_attempt("b")) == ["a"]


def test_another_batch_knows_the_files_of_an_unfinished_task() -> None:
    script = Script("a", "c", settings=Settings(retries=0))
    script.exit_attempt("a", Category.TASK, files=("x",))
    script.exit_attempt("c", files=("x",))
    script.submit("a", "c", Task("b", touches=("x",)), batch="b2")
    assert [name for batch, name in _running(script) if batch == "b2"] == ["a", "c"]
    assert script.explain("b", "b2") == "b is waiting: touches x, held by a"


def test_with_declared_conflicts_changed_files_are_not_locked() -> None:
    settings = Settings(max_parallel=1, file_conflicts=FileConflicts.DECLARED)
    script = Script("a", Task("b", touches=("x",)), settings=settings)
    assert started_tasks(script.exit_attempt("a", Category.TASK, files=("x",))) == ["b"]


def test_in_place_a_file_is_locked_across_batches() -> None:
    settings = Settings(isolation=Isolation.IN_PLACE, verify="make", max_parallel=1)
    script = Script("a", settings=settings)
    script.exit_attempt("a", files=("x",))
    script.submit(Task("b", touches=("x",)), settings=settings, batch="b2")
    assert script.explain("b", "b2") == "b is waiting: touches x, held by a of batch b1"


def test_of_a_huge_change_only_some_files_are_locked() -> None:
    script = Script("a")
    script.answers_merges = False
    script.exit_attempt("a", files=tuple(f"f{n}" for n in range(5000)))
    assert len(script.task("a").locks) <= 64


def _running(script: Script) -> list[tuple[str, str]]:
    return [(name.batch, name.task) for batch in script.state.open.values() for name in batch.alive]
