from __future__ import annotations

from dataclasses import replace

from plait.core.events import Event, Record
from plait.core.graph import build_checked_plan
from plait.core.reports import SourcesWritten
from plait.core.requests import CancelTask, Drop, Stop, Submit
from plait.core.settings import Settings, WriteBack
from plait.core.status import Category
from plait.core.task import Need, Origin, Phase, Task
from plait.sources.source_model import SourceStatus
from plait.sources.writeback_queue import SourceUpdate, WritebackQueue
from plait.testing.script import BATCH, Script

SOURCES = ("todo:TODO.md", "plan:docs/plan.md")


def script(*tasks: Task, write_back: WriteBack = WriteBack.CHECKOUT) -> Script:
    plan = build_checked_plan(tasks).plan
    assert plan is not None
    told = Script(start=False)
    settings = Settings(retries=0, write_back=write_back)
    told.apply(Submit("r0", BATCH, plan, settings, base="base", sources=SOURCES))
    return told


def task(name: str, *needs: str, file: str = "TODO.md") -> Task:
    return Task(name, f"Do {name}", needs=tuple(Need(on) for on in needs), origin=Origin(file, 7))


def bills(*records: Record) -> list[SourceUpdate]:
    return [bill for account in WritebackQueue(records).list_open_batches() for bill in account.list_updates()]


def marks(told: Script) -> dict[str, SourceStatus]:
    return {change.id: change.status for bill in bills(*told.records) for change in bill.changes}


def test_a_task_that_runs_is_in_progress_and_one_that_waits_is_not_owed() -> None:
    assert marks(script(task("1"), task("2", "1"))) == {"1": SourceStatus.DOING}


def test_the_end_is_told_with_its_reason() -> None:
    told = script(task("1"), task("2", "1"), task("3"))
    told.exit_attempt("1", Category.TASK)
    told.exit_attempt("3")
    assert marks(told) == {"1": SourceStatus.FAILED, "2": SourceStatus.BLOCKED, "3": SourceStatus.DONE}
    reasons = {change.id: change.reason for bill in bills(*told.records) for change in bill.changes}
    assert "1" in reasons["2"]


def test_a_change_tells_what_a_task_needs_and_in_which_phase_it_is() -> None:
    first, second = task("plan:1.1", file="docs/plan.md"), task("plan:1.2", "plan:1.1", file="docs/plan.md")
    plan = build_checked_plan([first, replace(second, phase="1")], phases=[Phase("1", reason="Phase 1: Quay")]).plan
    assert plan is not None
    told = Script(start=False)
    told.apply(Submit("r0", BATCH, plan, Settings(retries=0), base="base", sources=SOURCES))
    told.exit_attempt("plan:1.1")
    (bill,) = bills(*told.records)
    assert [(change.id, change.phase, change.needs) for change in bill.changes] == [
        ("1.1", "", ()),
        ("1.2", "Phase 1: Quay", ("1.1",)),
    ]


def test_each_source_is_told_of_its_own_tasks_by_its_own_ids() -> None:
    told = script(task("todo:1"), task("plan:1", file="docs/plan.md"))
    assert [(bill.format, bill.path, [change.id for change in bill.changes]) for bill in bills(*told.records)] == [
        ("todo", "TODO.md", ["1"]),
        ("plan", "docs/plan.md", ["1"]),
    ]


def test_a_task_is_owed_to_one_source_only() -> None:
    """Or a folder that takes no status would settle the debt of a file in it."""
    tasks = (task("1", file="plan.md"), task("2", file="02-x.md"), task("3", file="sub/03-x.md"))
    plan = build_checked_plan(tasks).plan
    assert plan is not None
    told = Script(start=False)
    sources = ("folder:.", "plan:plan.md", "folder:sub")
    told.apply(Submit("r0", BATCH, plan, Settings(), base="base", sources=sources))
    assert [(bill.path, bill.tasks) for bill in bills(*told.records)] == [
        (".", ("2",)),
        ("plan.md", ("1",)),
        ("sub", ("3",)),
    ]


def test_what_was_written_is_not_owed_and_what_came_later_is() -> None:
    told = script(task("1"), task("2"))
    upto = told.records[-1].seq
    told.exit_attempt("1")
    told.apply(SourcesWritten(BATCH, ("1", "2"), upto))
    assert marks(told) == {"1": SourceStatus.DONE}
    told.apply(SourcesWritten(BATCH, ("1",), told.records[-1].seq))
    assert marks(told) == {}


def test_cancelled_and_stopped_work_is_open_again_and_dropped_work_is_not_wanted() -> None:
    told = script(task("1"), task("2"), task("3"))
    told.request(lambda name: CancelTask(name, BATCH, "1"))
    told.exit_attempt("1", Category.KILLED)
    told.request(lambda name: Drop(name, BATCH, "2"))
    told.exit_attempt("2", Category.KILLED)
    told.request(lambda name: Stop(name, BATCH))
    told.exit_attempt("3", Category.KILLED)
    assert marks(told) == {"1": SourceStatus.TODO, "2": SourceStatus.SKIPPED, "3": SourceStatus.TODO}


def test_nothing_is_owed_to_a_checkout_that_is_not_to_be_written() -> None:
    assert marks(script(task("1"), write_back=WriteBack.OFF)) == {}
    assert marks(script(task("1"), write_back=WriteBack.BRANCH)) == {}
    assert marks(script(task("1"), write_back=WriteBack.BOTH)) == {"1": SourceStatus.DOING}


def test_facts_about_what_is_unknown_change_nothing() -> None:
    events: list[Event] = [SourcesWritten("nowhere", ("1",), 3), CancelTask("r", "nowhere", "1")]
    assert bills(*(Record(seq, 1.0, event) for seq, event in enumerate(events, 1))) == []
