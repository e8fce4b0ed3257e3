"""The merge queue: conflicts, the gate and its bisection, rebuilds."""

from __future__ import annotations

from dataclasses import replace

from plait.core.capacity import cluster_capacity
from plait.core.decisions import (
    AttemptStarted,
    BatchPaused,
    Change,
    GateEnding,
    MergeStarted,
    RebuildStarted,
    TaskEnded,
)
from plait.core.reports import (
    GateDone,
    GateLost,
    MergeDone,
    MergedTask,
    MergeFailed,
    RebuildConflict,
    RebuildDone,
    RebuildFailed,
)
from plait.core.requests import CancelBatch, ChangeSettings, Drop, Resume, Retry, Stop, Unpause
from plait.core.settings import Backoff, ExecutorKind, Mode, OnConflict, Settings
from plait.core.status import Category, EndWhy, PauseCause, TaskStatus
from plait.core.task import Need, Task
from plait.core.views import find_batch_status
from plait.testing.script import BATCH, Script, gate_sizes, started_tasks, task_needing

GATED = Settings(gate="make check", max_parallel=0)


def merging(script: Script) -> list[str]:
    return [task.task.id for task in script.batch().tasks if task.merging is not None]


def test_merges_happen_one_at_a_time_in_the_plans_order() -> None:
    script = Script("a", "b", "c")
    script.answers_merges = False
    for name in "cba":
        script.exit_attempt(name)
    assert merging(script) == ["c"]
    assert script.explain("b") == "b is merging: merges after c"
    decisions = script.apply(MergeDone(BATCH, "c", 1, "base+c"))
    assert MergeStarted(BATCH, "a", 1, "base", "tip-a", "base+c") in decisions


def test_a_conflicted_task_ends_and_the_others_continue() -> None:
    script = Script("a", "b")
    script.answers_merges = False
    script.exit_attempt("a")
    script.conflict_merge("a", "src/app.py")
    assert script.explain("a") == "a is conflicted: its change conflicts with what was merged before: src/app.py"
    assert script.running_tasks() == ["b"]


def test_a_conflict_can_fail_the_batch() -> None:
    settings = Settings(on_conflict=OnConflict.FAIL, mode=Mode.QUEUE, auto_approve=True)
    script = Script("a", "b", task_needing("c", "a"), settings=settings)
    script.answers_merges = False
    script.exit_attempt("a")
    script.conflict_merge("a", "x")
    assert script.explain("b") == "b is skipped: the batch stopped because a conflicted"
    assert script.explain("c") == "c is blocked: needs a, which conflicted"


def test_a_conflict_can_be_repaired_on_the_new_base() -> None:
    script = Script("a", "b", settings=Settings(on_conflict=OnConflict.REPAIR, repairs=1))
    script.exit_attempt("b")
    script.answers_merges = False
    script.exit_attempt("a")
    again = script.conflict_merge("a", "x.py")
    assert started_tasks(again) == ["a"]
    alive = next(iter(script.task("a").alive.values())).decision
    assert (alive.base, alive.feedback) == (
        "base+b",
        "Merging your change conflicted in x.py. Make it again on the new base.",
    )
    assert alive.repairs == Change("a", "base", "tip-a")
    script.exit_attempt("a")
    script.conflict_merge("a", "x.py")
    assert script.status("a") == "conflicted"


def test_a_failed_merge_is_retried_a_limited_number_of_times() -> None:
    script = Script("a", settings=Settings(backoff=Backoff(base=10, jitter=0)))
    script.answers_merges = False
    script.exit_attempt("a")
    for n in range(1, 9):
        script.apply(MergeFailed(BATCH, "a", n, "disk full"))
        assert script.explain("a") == "a is merging: merging again soon: the merge failed: disk full"
        script.wait(1000)
    script.apply(MergeFailed(BATCH, "a", 9, "disk full"))
    assert script.explain("a") == "a is failed: the merge failed: disk full"


def test_done_means_gated_where_there_is_a_gate() -> None:
    script = Script("a", task_needing("b", "a"), settings=GATED)
    assert gate_sizes(script.exit_attempt("a")) == [1]
    assert script.explain("a") == "a is merging: the gate runs on the merged result"
    assert script.status("b") == "waiting"
    script.finish_gate(passed=True)
    assert script.status("a") == "done"
    assert script.running_tasks() == ["b"]


def test_one_gate_covers_all_that_was_merged_meanwhile() -> None:
    script = Script("a", "b", "c", settings=GATED)
    script.exit_attempt("a")
    assert gate_sizes(script.exit_attempt("b")) == []
    script.exit_attempt("c")
    assert script.explain("b") == "b is merging: merged; the gate is next"
    assert gate_sizes(script.finish_gate(passed=True)) == [3]
    script.finish_gate(passed=True)
    assert script.batch().ended == "completed"


def test_bisection_finds_the_culprit_and_keeps_the_rest() -> None:
    script = Script("a", "b", "c", "d", task_needing("e", "c"), settings=GATED)
    script.answers_merges = False
    for name in "abcd":
        script.exit_attempt(name)
    script.answers_merges = True
    script.apply(MergeDone(BATCH, "a", 1, "base+a"))
    asked = []
    while (gate := script.batch().gate) is not None and script.task("c").status is None:
        asked.append(gate.size)
        script.finish_gate(passed=gate.size < 3)
    assert asked == [4, 2, 3]
    assert script.explain("c") == "c is failed: the gate failed with its change"
    assert script.explain("e") == "e is blocked: needs c, which failed"
    assert script.batch().head == "base+a+b+d"
    script.finish_gate(passed=True)
    assert [script.status(name) for name in "abd"] == ["done", "done", "done"]


def test_a_gate_that_fails_on_the_base_pauses_the_batch() -> None:
    script = Script("a", settings=GATED)
    script.exit_attempt("a")
    assert gate_sizes(script.finish_gate(passed=False)) == [0]
    decisions = script.finish_gate(passed=False)
    assert [d.cause for d in decisions if isinstance(d, BatchPaused)] == [PauseCause.GATE]
    assert gate_sizes(script.request(lambda name: Unpause(name, BATCH))) == [1]
    script.finish_gate(passed=True)
    assert script.status("a") == "done"


def test_a_gate_that_times_out_on_the_base_says_after_how_long() -> None:
    script = Script("a", settings=replace(GATED, gate_timeout=120.0))
    script.exit_attempt("a")
    script.finish_gate(passed=False)
    script.wait(121.0)
    script.finish_gate(passed=False)
    assert (
        find_batch_status(script.batch())[1]
        == "the gate fails on the base, before any task's change: timed out after 2m"
    )


def test_the_first_task_is_the_culprit_only_if_the_base_passes() -> None:
    script = Script("a", settings=GATED)
    script.exit_attempt("a")
    script.finish_gate(passed=False)
    decisions = script.finish_gate(passed=True)
    assert [(d.task, d.category) for d in decisions if isinstance(d, TaskEnded)] == [("a", Category.GATE)]
    assert script.batch().head == "base"


def test_a_lost_gate_runs_again_and_pauses_the_batch_after_three() -> None:
    script = Script("a", settings=GATED)
    script.exit_attempt("a")
    for n in (1, 2):
        assert gate_sizes(script.apply(GateLost(BATCH, n, "its machine died"))) == [1]
    decisions = script.apply(GateLost(BATCH, 3, "its machine died"))
    assert [d.why for d in decisions if isinstance(d, BatchPaused)] == ["the gate was lost 3 times in a row"]


def test_a_gate_that_is_cut_off_with_its_cluster_is_not_counted() -> None:
    script = Script("a", settings=GATED)
    script.exit_attempt("a")
    for n in range(1, 5):
        assert gate_sizes(script.apply(GateLost(BATCH, n, "the cluster can't be reached", outage=True))) == [1]


def test_a_gate_waits_for_a_cluster_that_is_gone() -> None:
    script = Script("a", settings=replace(GATED, executor=ExecutorKind.RAY))
    script.exit_attempt("a")
    lost = script.apply(cluster_capacity(0, "the cluster can't be reached"), GateLost(BATCH, 1, "it was cut off"))
    assert gate_sizes(lost) == []
    assert script.explain("a") == "a is merging: merged; the cluster can't be reached"
    assert gate_sizes(script.apply(cluster_capacity(2))) == [1]


def test_a_gate_ends_at_its_deadline() -> None:
    script = Script("a", settings=Settings(gate="make", gate_timeout=60))
    script.exit_attempt("a")
    assert script.wait(61) == [GateEnding(BATCH, 1, EndWhy.TIMEOUT)]


def test_a_stop_ends_the_gate_and_resuming_runs_it_again() -> None:
    script = Script("a", settings=GATED)
    script.exit_attempt("a")
    assert GateEnding(BATCH, 1, EndWhy.STOP) in script.request(lambda name: Stop(name, BATCH))
    assert gate_sizes(script.finish_gate(passed=False)) == []  # that it was killed is nobody's fault
    assert gate_sizes(script.request(lambda name: Resume(name, BATCH))) == [1]


def test_a_gate_result_does_not_count_after_the_branch_changed() -> None:
    script = Script("a", "b", settings=GATED)
    script.answers_merges = False
    script.exit_attempt("b")
    script.apply(MergeDone(BATCH, "b", 1, "base+b"))
    script.answers_merges = True
    script.exit_attempt("a")  # the gate runs on base+b
    script.request(lambda name: Drop(name, BATCH, "b"))
    gate = script.batch().gate
    assert gate is not None
    assert gate.ending
    decisions = script.apply(GateDone(BATCH, 1, passed=False))
    assert gate_sizes(decisions) == [1]
    assert script.batch().head == "base+a"


def test_after_a_drop_the_gate_runs_again() -> None:
    script = Script("a", "b", settings=GATED)
    script.exit_attempt("a")
    script.finish_gate(passed=True)
    script.exit_attempt("b")
    script.finish_gate(passed=True)
    assert script.batch().ended == "completed"
    assert gate_sizes(script.request(lambda name: Drop(name, BATCH, "a"))) == [1]
    script.finish_gate(passed=True)
    assert script.batch().ended == "completed"


def test_the_gate_runs_on_what_a_drop_left() -> None:
    """The two passed together; that the first one passes alone is not known."""
    script = Script("a", "b", settings=GATED)
    script.answers_merges = False
    script.exit_attempt("a")
    script.exit_attempt("b")
    script.answers_merges = True
    assert gate_sizes(script.apply(MergeDone(BATCH, "a", 1, "base+a"))) == [2]
    script.finish_gate(passed=True)
    assert gate_sizes(script.request(lambda name: Drop(name, BATCH, "b"))) == [1]
    assert script.batch().ended is None
    script.finish_gate(passed=True)
    assert script.batch().ended == "completed"


def test_a_repair_knows_its_earlier_change_until_it_has_been_made_again() -> None:
    script = Script("a", "b", settings=Settings(on_conflict=OnConflict.REPAIR, verify="make", backoff=Backoff(0)))
    script.answers_merges = False
    script.exit_attempt("a")
    script.exit_attempt("a")
    script.conflict_merge("a", "x")
    earlier = Change("a", "base", "tip-a")
    script.exit_attempt("a", Category.TASK)
    script.wait(1)
    assert next(iter(script.task("a").alive.values())).decision.repairs == earlier
    script.exit_attempt("a", tip="tip-2")
    again = script.exit_attempt("a", Category.VERIFY)
    assert [order.repairs for order in again if isinstance(order, AttemptStarted)] == [None]


def test_a_change_that_no_longer_applies_after_a_drop_is_a_conflict() -> None:
    script = Script("a", "b")
    script.exit_attempt("a")
    script.exit_attempt("b")
    script.answers_merges = False
    decisions = script.request(lambda name: Drop(name, BATCH, "a"))
    assert RebuildStarted(BATCH, 1, ("a",), (Change("b", "base", "tip-b"),)) in decisions
    script.apply(RebuildDone(BATCH, 1, (), (RebuildConflict("b", ("x.py",)),)))
    assert script.task("b").status is TaskStatus.CONFLICTED
    assert script.batch().head == "base"


def test_nothing_is_merged_or_started_while_the_branch_is_rebuilt() -> None:
    script = Script(*"abcde", settings=Settings(max_parallel=3))
    script.exit_attempt("a")
    script.answers_merges = False
    script.request(lambda name: Drop(name, BATCH, "a"))
    assert started_tasks(script.exit_attempt("b")) == []
    assert script.explain("b") == "b is merging: rebuilding the batch branch without a"
    decisions = script.apply(RebuildDone(BATCH, 1, ()))
    assert merging(script) == ["b"]
    assert started_tasks(decisions) == []
    assert started_tasks(script.apply(MergeDone(BATCH, "b", 1, "base+b"))) == ["e"]


def test_the_next_task_starts_from_what_is_being_merged() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.answers_merges = False
    assert started_tasks(script.exit_attempt("a")) == []
    (start,) = (each for each in script.apply(MergeDone(BATCH, "a", 1, "base+a")) if isinstance(each, AttemptStarted))
    assert (start.attempt.task, start.base) == ("b", "base+a")


def test_a_late_rebuild_report_changes_nothing() -> None:
    script = Script("a")
    script.exit_attempt("a")
    script.apply(RebuildDone(BATCH, 9, (MergedTask("a", "elsewhere"),)))
    assert script.batch().head == "base+a"


def test_a_failed_rebuild_is_retried_and_then_pauses_the_batch() -> None:
    script = Script("a", "b")
    script.exit_attempt("a")
    script.answers_merges = False
    script.request(lambda name: Drop(name, BATCH, "a"))
    for n in (1, 2):
        again = script.apply(RebuildFailed(BATCH, n, "disk full"))
        assert [d.n for d in again if isinstance(d, RebuildStarted)] == [n + 1]
    decisions = script.apply(RebuildFailed(BATCH, 3, "disk full"))
    assert [d.cause for d in decisions if isinstance(d, BatchPaused)] == [PauseCause.BRANCH]
    again = script.request(lambda name: Unpause(name, BATCH))
    assert [d.n for d in again if isinstance(d, RebuildStarted)] == [4]


def test_only_a_gate_on_the_base_proves_the_base_good() -> None:
    script = Script("a", "b", settings=GATED)
    script.exit_attempt("a")
    script.finish_gate(passed=True)
    script.exit_attempt("b")
    script.finish_gate(passed=True)
    script.request(lambda name: Drop(name, BATCH, "a"))  # which may have mended what was broken before
    assert gate_sizes(script.finish_gate(passed=False)) == [0]


def test_a_retried_need_does_not_wait_for_a_merged_dependent() -> None:
    settings = Settings(gate="g", on_conflict=OnConflict.REPAIR, max_parallel=0)
    tasks = ("c", Task("a", touches=("x",)), Task("b", needs=(Need("a"),), touches=("x",)))
    script = Script(*tasks, settings=settings)
    for name in "cab":
        script.exit_attempt(name)
        if name != "b":
            script.finish_gate(passed=True)
    script.answers_merges = False
    script.request(lambda name: Drop(name, BATCH, "c"))
    script.apply(RebuildDone(BATCH, 1, (MergedTask("b", "base+b"),), (RebuildConflict("a", ("x",)),)))
    assert script.running_tasks() == ["a"]


def test_a_conflict_of_an_earlier_generation_does_not_count() -> None:
    script = Script("x", "a")
    script.exit_attempt("x")
    script.exit_attempt("a")
    script.answers_merges = False
    script.request(lambda name: Drop(name, BATCH, "x"))
    script.request(lambda name: Retry(name, BATCH, "a"))
    script.apply(RebuildDone(BATCH, 1, (), (RebuildConflict("a", ("x.py",)),)))
    assert script.running_tasks() == ["a"]


def test_a_repair_that_changes_nothing_does_not_merge_the_old_change() -> None:
    settings = Settings(on_conflict=OnConflict.REPAIR)
    script = Script(Task("a", allow_empty=True), settings=settings)
    script.answers_merges = False
    script.exit_attempt("a")
    script.conflict_merge("a", "x")
    script.exit_attempt("a", tip=None)
    assert script.explain("a") == "a is done: nothing to change"


def test_a_conflict_fails_the_batch_whatever_failed_before() -> None:
    settings = Settings(on_conflict=OnConflict.FAIL, max_parallel=2, retries=0)
    script = Script("a", "b", "c", "d", task_needing("e", "d"), settings=settings)
    script.answers_merges = False
    script.exit_attempt("a", Category.TASK)
    script.exit_attempt("b")
    script.conflict_merge("b", "x")
    assert script.status("e") == "skipped"


def test_cancelling_a_batch_ends_its_gate() -> None:
    script = Script("a", "b", settings=GATED)
    script.exit_attempt("a")
    assert GateEnding(BATCH, 1, EndWhy.CANCEL) in script.request(lambda name: CancelBatch(name, BATCH))
    script.exit_attempt("b", Category.KILLED)
    script.apply(GateDone(BATCH, 1, passed=False))
    assert script.batch().ended == "cancelled"


def test_a_removed_gate_is_not_waited_for() -> None:
    script = Script("a", settings=GATED)
    script.exit_attempt("a")
    script.finish_gate(passed=False)
    script.finish_gate(passed=False)
    assert script.batch().paused is not None
    script.request(lambda name: ChangeSettings(name, BATCH, Settings(gate=None), ("gate",)))
    assert script.batch().ended == "completed"
