from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from plait.core.events import Event, Record
from plait.core.graph import build_checked_plan
from plait.core.reports import AttemptPhase, MergeFailed, SourcesWritten
from plait.core.requests import CancelTask, Drop, Retry, Stop, Submit
from plait.core.settings import Settings, WriteBack
from plait.core.status import Category
from plait.core.task import Attempt, Need, Origin, Phase, Step, Task
from plait.sources.source_model import SourceStatus
from plait.sources.writeback_queue import SourceUpdate, WritebackQueue
from plait.testing.script import BATCH, Script

SOURCES = ("todo:TODO.md", "plan:docs/plan.md", "jobs:jobs")


def make_script(*tasks: Task, write_back: WriteBack = WriteBack.CHECKOUT) -> Script:
    plan = build_checked_plan(tasks).plan
    assert plan is not None
    script = Script(start=False)
    settings = Settings(retries=0, write_back=write_back)
    script.apply(Submit("r0", BATCH, plan, settings, base="base", sources=SOURCES))
    return script


def task(name: str, *needs: str, file: str = "TODO.md") -> Task:
    return Task(name, f"Do {name}", needs=tuple(Need(on) for on in needs), origin=Origin(file, 7))


def list_updates(*records: Record) -> list[SourceUpdate]:
    return [update for account in WritebackQueue(records).list_open_batches() for update in account.list_updates()]


def list_statuses(script: Script) -> dict[str, SourceStatus]:
    return {change.id: change.status for update in list_updates(*script.records) for change in update.changes}


def test_a_running_task_is_pending_and_a_waiting_one_is_not() -> None:
    assert list_statuses(make_script(task("1"), task("2", "1"))) == {"1": SourceStatus.DOING}


def test_a_model_job_is_verified_from_that_phase_until_it_is_written_again_or_ends() -> None:
    script = make_script(task("1", file="jobs/1.md"), task("2"))

    def enter_phase(name: str) -> dict[str, bool]:
        written = script.records[-1].seq
        script.apply(SourcesWritten(BATCH, ("1", "2"), written))
        for one in ("1", "2"):
            script.apply(AttemptPhase(Attempt(BATCH, one, Step.WRITE, 1), name))
        return list_verifying()

    def list_verifying() -> dict[str, bool]:
        return {change.id: change.verifying for update in list_updates(*script.records) for change in update.changes}

    assert enter_phase("writing") == {}
    assert enter_phase("verification") == {"1": True}
    assert enter_phase("writing again") == {"1": False}
    assert enter_phase("verification") == {"1": True}
    script.exit_attempt("1", Category.TASK)
    assert list_verifying() == {"1": False}
    assert enter_phase("verification") == {}


def test_the_end_of_a_task_has_its_reason() -> None:
    script = make_script(task("1"), task("2", "1"), task("3"))
    script.exit_attempt("1", Category.TASK)
    script.exit_attempt("3")
    assert list_statuses(script) == {"1": SourceStatus.FAILED, "2": SourceStatus.BLOCKED, "3": SourceStatus.DONE}
    reasons = {change.id: change.reason for update in list_updates(*script.records) for change in update.changes}
    assert "1" in reasons["2"]


def test_a_change_has_the_needs_and_the_phase_of_its_task() -> None:
    first, second = task("plan:1.1", file="docs/plan.md"), task("plan:1.2", "plan:1.1", file="docs/plan.md")
    plan = build_checked_plan([first, replace(second, phase="1")], phases=[Phase("1", reason="Phase 1: Quay")]).plan
    assert plan is not None
    script = Script(start=False)
    script.apply(Submit("r0", BATCH, plan, Settings(retries=0), base="base", sources=SOURCES))
    script.exit_attempt("plan:1.1")
    (update,) = list_updates(*script.records)
    assert [(change.id, change.phase, change.needs) for change in update.changes] == [
        ("1.1", "", ()),
        ("1.2", "Phase 1: Quay", ("1.1",)),
    ]


def test_the_end_of_a_task_has_the_start_of_its_last_attempt() -> None:
    script = make_script(task("1"), task("2", "1"))
    began = script.records[-1].at
    script.wait(60)
    script.exit_attempt("1", Category.TASK)
    starts = {change.id: change.started for update in list_updates(*script.records) for change in update.changes}
    assert starts == {"1": datetime.fromtimestamp(began, UTC), "2": None}


def test_a_result_that_is_merged_later_has_a_start_too() -> None:
    script = make_script(task("1"))
    script.answers_merges = False
    script.exit_attempt("1")
    while (merging := script.task("1").merging) is not None:
        script.apply(MergeFailed(BATCH, "1", merging, "the disk is full"))
        script.wait(1000)
    assert list_statuses(script) == {"1": SourceStatus.FAILED}
    script.answers_merges = True
    script.wait(60)
    ended = script.now
    script.request(lambda name: Retry(name, BATCH, "1"))
    assert script.task("1").attempt_counts[Step.WRITE] == 1
    (update,) = list_updates(*script.records)
    (change,) = update.changes
    assert change.status is SourceStatus.DONE
    assert change.started is not None
    assert change.started >= datetime.fromtimestamp(ended, UTC)


def test_each_source_gets_its_own_tasks_with_its_own_ids() -> None:
    script = make_script(task("todo:1"), task("plan:1", file="docs/plan.md"))
    assert [
        (update.format, update.path, [change.id for change in update.changes])
        for update in list_updates(*script.records)
    ] == [
        ("todo", "TODO.md", ["1"]),
        ("plan", "docs/plan.md", ["1"]),
    ]


def test_a_task_belongs_to_one_source() -> None:
    """Or a folder that takes no status would settle the debt of a file in it."""
    tasks = (task("1", file="plan.md"), task("2", file="02-x.md"), task("3", file="sub/03-x.md"))
    plan = build_checked_plan(tasks).plan
    assert plan is not None
    script = Script(start=False)
    sources = ("folder:.", "plan:plan.md", "folder:sub")
    script.apply(Submit("r0", BATCH, plan, Settings(), base="base", sources=sources))
    assert [(update.path, update.tasks) for update in list_updates(*script.records)] == [
        (".", ("2",)),
        ("plan.md", ("1",)),
        ("sub", ("3",)),
    ]


def test_written_statuses_are_not_pending_and_later_ones_are() -> None:
    script = make_script(task("1"), task("2"))
    upto = script.records[-1].seq
    script.exit_attempt("1")
    script.apply(SourcesWritten(BATCH, ("1", "2"), upto))
    assert list_statuses(script) == {"1": SourceStatus.DONE}
    script.apply(SourcesWritten(BATCH, ("1",), script.records[-1].seq))
    assert list_statuses(script) == {}


def test_cancelled_and_stopped_tasks_are_open_and_dropped_ones_skipped() -> None:
    script = make_script(task("1"), task("2"), task("3"))
    script.request(lambda name: CancelTask(name, BATCH, "1"))
    script.exit_attempt("1", Category.KILLED)
    script.request(lambda name: Drop(name, BATCH, "2"))
    script.exit_attempt("2", Category.KILLED)
    script.request(lambda name: Stop(name, BATCH))
    script.exit_attempt("3", Category.KILLED)
    assert list_statuses(script) == {"1": SourceStatus.TODO, "2": SourceStatus.SKIPPED, "3": SourceStatus.TODO}


def test_without_checkout_write_back_nothing_is_pending() -> None:
    assert list_statuses(make_script(task("1"), write_back=WriteBack.OFF)) == {}
    assert list_statuses(make_script(task("1"), write_back=WriteBack.BRANCH)) == {}
    assert list_statuses(make_script(task("1"), write_back=WriteBack.BOTH)) == {"1": SourceStatus.DOING}


def test_records_about_unknown_tasks_change_nothing() -> None:
    events: list[Event] = [SourcesWritten("nowhere", ("1",), 3), CancelTask("r", "nowhere", "1")]
    assert list_updates(*(Record(seq, 1.0, event) for seq, event in enumerate(events, 1))) == []
