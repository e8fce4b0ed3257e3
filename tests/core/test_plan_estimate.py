from __future__ import annotations

from plait.core import estimate
from plait.core.graph import build_checked_plan
from plait.core.plan import Plan
from plait.core.settings import Mode, Settings, Spend
from plait.core.state import State
from plait.core.task import Need, Origin, Phase, Task
from plait.testing.script import Script


def plan(*tasks: Task, phases: tuple[Phase, ...] = ()) -> Plan:
    checked = build_checked_plan(tasks, phases=phases)
    assert checked.plan is not None, checked.problems
    return checked.plan


def test_initial_tasks_depend_on_needs_phases_and_files_and_not_on_limits() -> None:
    tasks = (
        Task("a", touches=("x.py",)),
        Task("b", touches=("x.py",), estimate=9000),
        Task("c", needs=(Need("a"),)),
        Task("d", phase="2"),
        Task("e", phase="1"),
        *(Task(f"f{n}") for n in range(9)),
    )
    started = estimate.find_initial_tasks(
        plan(*tasks, phases=(Phase("1"), Phase("2", after=("1",)))), Settings(max_parallel=1, mode=Mode.QUEUE)
    )
    assert started[0] == "b"
    assert set(started) == {"b", "e", *(f"f{n}" for n in range(9))}


def test_without_history_there_is_no_estimate() -> None:
    assert estimate.describe_basis(State(), plan(Task("a")).tasks, Settings()) is None


def test_history_sets_the_estimated_duration() -> None:
    script = Script("a")
    script.wait(99)
    script.exit_attempt("a")
    settings = Settings(max_parallel=2)
    new = plan(Task("x"), Task("y"), Task("z"))
    assert estimate.describe_basis(script.state, new.tasks, settings) is not None
    assert estimate.estimate_task(script.state, settings, Task("x")) == 100
    length = estimate.estimate_batch(script.state, new, settings)
    assert length is not None
    assert 200 <= length < 201
    before = script.state.seq
    estimate.estimate_batch(script.state, new, settings)
    assert script.state.seq == before, "the state itself is left alone"


def test_an_estimate_says_what_it_is_based_on_and_one_unknown_task_leaves_none() -> None:
    settings = Settings(agents=("claude",))
    script = Script("a", settings=settings)
    script.wait(99)
    script.exit_attempt("a")
    own, again, new = Task("x", estimate=60), Task("a"), Task("z")
    unknown = Task("u", agent="codex")

    def basis(*tasks: Task, settings: Settings = settings) -> str | None:
        return estimate.describe_basis(script.state, tasks, settings)

    assert basis(own) == "by the tasks' own estimates"
    assert basis(again) == "by earlier runs of the same tasks"
    assert basis(new) == "by 1 earlier attempt of claude"
    assert basis(new, settings=Settings(agents=("claude",), gate="make test")) == (
        "by 1 earlier attempt of claude, the gate assumed to take as long as a task"
    )
    assert basis(own, new) == "by the tasks' own estimates, 1 earlier attempt of claude"
    assert basis(own, again, new, unknown) is None


def test_a_task_takes_as_long_as_it_took_before() -> None:
    """Also in another batch of the same source, and whatever its agent's usual pace is."""
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.wait(30)
    script.exit_attempt("a")
    script.wait(300)
    script.exit_attempt("b")
    assert estimate.estimate_task(script.state, Settings(), Task("a")) == 31
    assert estimate.estimate_task(script.state, Settings(), Task("b")) == 301
    assert estimate.estimate_task(script.state, Settings(), Task("b", estimate=7)) == 7
    assert estimate.estimate_task(script.state, Settings(), Task("b", origin=Origin("another.md"))) != 301


def test_history_sets_the_estimated_cost() -> None:
    script = Script("a", "b", "c", settings=Settings(agents=("claude",)))
    for name, dollars in (("a", 1), ("b", 2), ("c", 9)):
        script.exit_attempt(name, spend=Spend(dollars * 1_000_000, 100 * dollars))
    new = plan(Task("x"), Task("y", agent="claude"), Task("z"))
    assert estimate.estimate_cost(script.state, new, Settings(agents=("claude",))) == Spend(6_000_000, 600)
    assert estimate.estimate_cost(script.state, new, Settings(agents=("codex",))) is None, "one of them is a stranger"


def test_an_agent_without_known_costs_has_no_estimate() -> None:
    script = Script("a")
    script.exit_attempt("a")
    assert estimate.estimate_cost(script.state, plan(Task("x")), Settings()) is None
