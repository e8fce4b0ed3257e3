"""Which tasks start, in which order, and within which limits."""

from __future__ import annotations

from plait.core.decisions import AttemptStarted
from plait.core.explain import explain_status
from plait.core.reports import MergeDone, PressureChanged
from plait.core.requests import Approve, ChangeEngineSettings, ChangeSettings, Pause, Unpause
from plait.core.settings import Budget, EngineSettings, Isolation, Mode, Order, Settings, Spend
from plait.core.status import Category
from plait.core.task import NeedKind, Phase, Task
from plait.testing.script import BATCH, Script, started_tasks, task_needing


def test_independent_tasks_start_at_once_up_to_the_limit() -> None:
    script = Script("a", "b", "c", settings=Settings(max_parallel=2))
    assert script.running_tasks() == ["a", "b"]
    assert script.status("c") == "queued"
    assert script.explain("c") == "c is queued: 2 of the batch's 2 slots are taken"


def test_a_freed_slot_is_given_to_the_next_task() -> None:
    script = Script("a", "b", "c", settings=Settings(max_parallel=2))
    assert started_tasks(script.exit_attempt("a")) == ["c"]


def test_zero_means_no_limit() -> None:
    script = Script(start=False)
    script.request(lambda name: ChangeEngineSettings(name, EngineSettings(parallel_limit=0), ("parallel_limit",)))
    script.submit(*map(str, range(9)), settings=Settings(max_parallel=0))
    assert len(script.running_tasks()) == 9


def test_a_task_waits_for_all_its_needs_and_starts_from_their_merged_code() -> None:
    script = Script("a", "b", task_needing("c", "a", "b"))
    assert script.explain("c") == "c is waiting: needs a, b"
    assert started_tasks(script.exit_attempt("a")) == []
    decisions = script.exit_attempt("b")
    assert started_tasks(decisions) == ["c"]
    assert [decision.base for decision in decisions if isinstance(decision, AttemptStarted)] == ["base+a+b"]


def test_a_task_starts_as_soon_as_its_own_needs_are_done() -> None:
    script = Script("slow", "quick", task_needing("next", "quick"))
    assert started_tasks(script.exit_attempt("quick")) == ["next"]
    assert "slow" in script.running_tasks()


def test_the_longest_path_goes_first() -> None:
    script = Script("lone", "first", task_needing("second", "first"), settings=Settings(max_parallel=1))
    assert script.running_tasks() == ["first"]


def test_the_order_can_be_quick_first_or_fifo() -> None:
    tasks = (Task("long", estimate=900), Task("short", estimate=60))
    quick = Script(*tasks, settings=Settings(max_parallel=1, order=Order.QUICK_FIRST))
    fifo = Script(*tasks, settings=Settings(max_parallel=1, order=Order.FIFO))
    assert quick.running_tasks() == ["short"]
    assert fifo.running_tasks() == ["long"]


def test_priority_goes_before_the_longest_path() -> None:
    script = Script("long", task_needing("tail", "long"), Task("urgent", priority=0), settings=Settings(max_parallel=1))
    assert script.running_tasks() == ["urgent"]


def test_one_file_is_worked_on_by_one_task_until_it_is_merged() -> None:
    script = Script(Task("a", touches=("src/app.py",)), Task("b", touches=("src/app.py",)))
    script.answers_merges = False
    assert script.running_tasks() == ["a"]
    assert script.explain("b") == "b is waiting: touches src/app.py, held by a"
    assert started_tasks(script.exit_attempt("a")) == []
    merging = script.task("a").merging
    assert merging == 1
    script.answers_merges = True
    assert started_tasks(script.apply(MergeDone(BATCH, "a", 1, "base+a"))) == ["b"]


def test_a_file_is_free_when_its_holder_fails() -> None:
    script = Script(Task("a", touches=("x",)), Task("b", touches=("x",)), settings=Settings(retries=0, max_parallel=4))
    assert started_tasks(script.exit_attempt("a", Category.TASK)) == ["b"]


def test_an_exclusive_group_holds_across_batches() -> None:
    script = Script(Task("a", exclusive="db"))
    script.submit(Task("a", exclusive="db"), batch="b2")
    assert script.explain("a", "b2") == "a is waiting: is in the exclusive group db, held by a of batch b1"


def test_files_are_locked_per_branch_and_shared_by_in_place_batches() -> None:
    script = Script(Task("a", touches=("x",)))
    assert started_tasks(script.submit(Task("a", touches=("x",)), batch="b2")) == ["a"]
    script = Script(Task("a", touches=("x",)), settings=Settings(isolation=Isolation.IN_PLACE))
    assert (
        started_tasks(
            script.submit(Task("b", touches=("x",)), settings=Settings(isolation=Isolation.IN_PLACE), batch="b2")
        )
        == []
    )


def test_tasks_with_a_declared_conflict_do_not_run_in_parallel() -> None:
    script = Script(Task("a", conflicts_with=("b",)), "b")
    assert script.running_tasks() == ["a"]
    assert script.explain("b") == "b is waiting: must not run at the same time as a"


def test_a_heavy_task_takes_its_slots_and_is_not_overtaken() -> None:
    tasks = ("a", "b", Task("heavy", slots=3, priority=0), "c")
    script = Script(*tasks, settings=Settings(max_parallel=3))
    assert script.running_tasks() == ["heavy"]
    script = Script("a", Task("heavy", slots=3), "c", settings=Settings(max_parallel=3, order=Order.FIFO))
    assert script.running_tasks() == ["a"]
    assert script.explain("heavy") == "heavy is queued: 1 of the batch's 3 slots are taken (3 wanted)"
    assert started_tasks(script.exit_attempt("a")) == ["heavy"]


def test_a_task_heavier_than_the_limit_takes_all_of_it() -> None:
    script = Script(Task("heavy", slots=99), settings=Settings(max_parallel=2))
    assert script.batch().slots == 2


def test_tasks_are_shared_among_agents_by_their_load() -> None:
    script = Script("a", "b", "c", "d", settings=Settings(agents=("claude", "codex")))
    assert script.state.agents == {"claude": 2, "codex": 2}


def test_an_agents_own_limit_holds_over_all_batches() -> None:
    script = Script(start=False)
    script.request(
        lambda name: ChangeEngineSettings(name, EngineSettings(agent_limits=(("claude", 1),)), ("agent_limits",))
    )
    script.submit("a", "b", Task("c", agent="codex"), settings=Settings(agents=("claude",)))
    assert script.running_tasks() == ["a", "c"]
    assert script.explain("b") == "b is waiting: claude is busy (1 of 1 running)"


def test_batches_share_the_engine() -> None:
    script = Script("a", "b", "c", "d", "e")
    assert started_tasks(script.submit("x", "y", batch="b2")) == []
    assert script.explain("x", "b2") == "x is queued: 4 of 4 slots are taken"
    assert started_tasks(script.exit_attempt("a")) == ["x"]


def test_nothing_starts_under_memory_pressure_and_nothing_is_killed() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.apply(PressureChanged("512 MB of memory are left"))
    assert script.running_tasks() == ["a"]
    assert started_tasks(script.exit_attempt("a")) == []
    assert script.explain("b") == "b is waiting: the machine is short of resources (512 MB of memory are left)"
    assert started_tasks(script.apply(PressureChanged(None))) == ["b"]


def test_a_paused_batch_starts_nothing_until_it_is_unpaused() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.request(lambda name: Pause(name, BATCH))
    assert started_tasks(script.exit_attempt("a")) == []
    assert script.status("a") == "done"
    assert script.explain("b") == "b is waiting: the batch is paused: paused by request"
    assert started_tasks(script.request(lambda name: Unpause(name, BATCH))) == ["b"]


def test_a_queue_runs_one_task_at_a_time_in_written_order_with_approval() -> None:
    script = Script("a", Task("b", priority=0), settings=Settings(mode=Mode.QUEUE))
    assert script.running_tasks() == []
    assert script.explain("a") == "a is waiting: needs approval"
    assert script.explain("b") == "b is waiting: starts after a"
    assert started_tasks(script.request(lambda name: Approve(name, BATCH))) == ["a"]
    assert started_tasks(script.exit_attempt("a")) == []
    assert started_tasks(script.request(lambda name: Approve(name, BATCH))) == ["b"]


def test_an_auto_approved_queue_runs_one_task_at_a_time() -> None:
    script = Script("a", "b", settings=Settings(mode=Mode.QUEUE, auto_approve=True))
    assert script.running_tasks() == ["a"]
    assert script.explain("b") == "b is waiting: starts after a"
    assert started_tasks(script.exit_attempt("a")) == ["b"]


def test_a_queue_does_not_skip_a_task_that_waits_for_its_retry() -> None:
    script = Script("a", "b", settings=Settings(mode=Mode.QUEUE, auto_approve=True))
    assert started_tasks(script.exit_attempt("a", Category.NETWORK)) == []
    assert started_tasks(script.wait(60)) == ["a"]


def test_a_lowered_limit_ends_nothing_and_starts_nothing() -> None:
    script = Script("a", "b", "c", "d", settings=Settings(max_parallel=3))
    script.request(lambda name: ChangeSettings(name, BATCH, Settings(max_parallel=1), ("max_parallel",)))
    assert len(script.running_tasks()) == 3
    script.exit_attempt("a")
    assert started_tasks(script.exit_attempt("b")) == []
    assert started_tasks(script.exit_attempt("c")) == ["d"]


PHASES = (Phase("one", total=5), Phase("two", after=("one",), total=1))
ONE = tuple(Task(f"1.{n}", phase="one") for n in range(1, 6))


def test_a_phase_opens_when_enough_of_the_earlier_one_is_done() -> None:
    script = Script(*ONE, Task("2.1", phase="two"), phases=PHASES, settings=Settings(max_parallel=0))
    for n in (1, 2, 3):
        assert started_tasks(script.exit_attempt(f"1.{n}")) in ([], ["1.5"])
    assert script.explain("2.1") == "2.1 is waiting: its phase two is not open yet (one: 3 of 5 done, 80% needed)"
    assert explain_status(script.state, script.batch(), script.task("2.1")).short == "after one (3 of 5 done)"
    assert started_tasks(script.exit_attempt("1.4")) == ["2.1"]


def test_a_phase_opens_when_nothing_earlier_is_left_to_run() -> None:
    settings = Settings(max_parallel=0, retries=0)
    script = Script(*ONE[:2], Task("2.1", phase="two"), phases=(Phase("one", total=2), PHASES[1]), settings=settings)
    script.exit_attempt("1.1", Category.TASK)
    assert started_tasks(script.exit_attempt("1.2", Category.TASK)) == ["2.1"]


def test_a_strict_phase_that_can_not_be_reached_blocks_the_later_ones() -> None:
    settings = Settings(retries=0, phase_gate=1.0)
    script = Script(*ONE[:2], Task("2.1", phase="two"), phases=(Phase("one", total=2), PHASES[1]), settings=settings)
    script.exit_attempt("1.1", Category.TASK)
    assert script.explain("2.1") == "2.1 is blocked: its phase two can't open (one: 0 of 2 done, 100% needed)"


def test_a_task_with_needs_is_not_held_by_its_phase() -> None:
    early = task_needing("2.1", "1.1")
    script = Script(
        *ONE[:3],
        Task("2.1", needs=early.needs, phase="two"),
        phases=PHASES,
        settings=Settings(max_parallel=0),
    )
    assert "2.1" in started_tasks(script.exit_attempt("1.1"))


def test_a_phase_may_open_with_one_task() -> None:
    phases = (PHASES[0], Phase("two", after=("one",), total=1, opens_with="1.1"))
    script = Script(*ONE[:3], Task("2.1", phase="two"), phases=phases, settings=Settings(max_parallel=0))
    assert script.explain("2.1") == "2.1 is waiting: its phase two opens when 1.1 is done"
    assert "2.1" in started_tasks(script.exit_attempt("1.1"))


def test_a_chained_task_says_what_it_comes_after() -> None:
    script = Script("a", task_needing("b", "a", kind=NeedKind.CHAIN))
    assert script.explain("b") == "b is waiting: comes after a"


def test_a_task_that_waits_for_a_merge_says_which_one() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.answers_merges = False
    assert started_tasks(script.exit_attempt("a")) == []
    assert script.explain("b") == "b is queued: starts after a is merged"


def test_a_task_that_waits_for_a_wider_one_says_which_one() -> None:
    script = Script("a", "b", Task("wide", slots=2, priority=0), settings=Settings(max_parallel=3))
    script.request(lambda name: ChangeEngineSettings(name, EngineSettings(parallel_limit=3), ("parallel_limit",)))
    script.submit(Task("wider", slots=3), batch="b2")
    script.exit_attempt("a")
    assert script.running_tasks() == ["wide"]
    assert script.explain("wider", "b2") == "wider is queued: 2 of 3 slots are taken (3 wanted)"
    assert script.explain("b") == "b is queued: starts after wider of batch b2, which waits for 3 slots"


def test_a_task_that_waits_for_a_verification_says_which_one() -> None:
    script = Script(Task("wide", slots=2, verify="make"), "b", "c", "d", settings=Settings(order=Order.FIFO))
    assert script.running_tasks() == ["wide", "b", "c"]
    script.request(lambda name: ChangeEngineSettings(name, EngineSettings(parallel_limit=3), ("parallel_limit",)))
    script.exit_attempt("wide")
    assert script.explain("wide") == "wide is verifying: 2 of 3 slots are taken (2 wanted)"
    assert script.explain("d") == "d is queued: starts after wide is verified"


def test_a_budget_pause_does_not_hold_back_a_verification() -> None:
    script = Script(
        Task("a", verify="make"), "b", settings=Settings(max_parallel=1, budget=Budget(1000), reserve=Spend(800))
    )
    script.exit_attempt("a", spend=Spend(900))
    assert script.explain("a") == "a is verifying: attempt 1 by the check"
