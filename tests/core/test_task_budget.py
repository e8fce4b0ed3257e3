"""The budget of a task: it asks before it exceeds it, and the others continue."""

from __future__ import annotations

from plait.core.decisions import AnswerAwaited, AttemptStarted
from plait.core.requests import ChangeSettings, Feedback, Retry
from plait.core.scheduler.starts import estimate_reserve
from plait.core.settings import Backoff, Budget, Settings, Spend
from plait.core.status import Category
from plait.core.task import Task
from plait.core.views import waits_for_person
from plait.testing.script import BATCH, Script, started_tasks

AT_ONCE = Backoff(base=0, jitter=0)
OWN = Settings(task_budget=Budget(1_000_000), reserve=Spend(400_000), backoff=AT_ONCE, retries=9)
QUESTION = "the task's budget is reached: $0.70 of $1.00 spent, another attempt may cost $0.70. Continue?"


def asking() -> Script:
    """It has spent 0.70 of 1.00, and an attempt of its agent is known to take that much."""
    script = Script("a", "b", settings=OWN)
    script.exit_attempt("a", Category.TASK, spend=Spend(700_000))
    return script


def test_a_task_that_could_exceed_its_budget_asks_and_the_others_continue() -> None:
    script = asking()
    assert script.running_tasks() == ["b"]
    assert script.explain("a") == f"a is waiting: needs an answer: {QUESTION} (answer with feedback)"
    assert not waits_for_person(script.state, script.batch())
    script.exit_attempt("b")
    assert script.status("b") == "done"
    assert waits_for_person(script.state, script.batch())


def test_an_answer_approves_the_attempt_and_restarts_the_budget() -> None:
    script = asking()
    assert started_tasks(script.request(lambda name: Feedback(name, BATCH, "a", "go on"))) == ["a"]
    assert started_tasks(script.exit_attempt("a", Category.TASK, spend=Spend(700_000))) == [
        "a"
    ]  # 0.70 of 1.00 was paid for
    script.exit_attempt("a", Category.TASK, spend=Spend(700_000))
    assert QUESTION in script.explain("a")


def test_a_larger_budget_answers_the_question() -> None:
    script = asking()
    more = Settings(task_budget=Budget(1_400_000))
    assert started_tasks(script.request(lambda name: ChangeSettings(name, BATCH, more, ("task_budget",)))) == ["a"]


def test_a_budget_that_is_still_too_small_asks_again() -> None:
    script = asking()
    more = Settings(task_budget=Budget(1_300_000))
    decisions = script.request(lambda name: ChangeSettings(name, BATCH, more, ("task_budget",)))
    assert any(isinstance(decision, AnswerAwaited) for decision in decisions)
    assert script.status("a") == "waiting"


def test_a_retried_task_has_its_whole_budget_again() -> None:
    script = Script("a", settings=Settings(task_budget=Budget(1_000_000), retries=0))
    script.exit_attempt("a", Category.TASK, spend=Spend(300_000))
    assert started_tasks(script.request(lambda name: Retry(name, BATCH, "a"))) == ["a"]


def test_an_agent_within_the_budget_is_preferred() -> None:
    dear = Settings(agents=("dear", "cheap"), task_budget=Budget(1_000_000), reserve=Spend(100_000), max_parallel=9)
    script = Script(*"abcd", settings=dear)
    costs = {"dear": Spend(900_000), "cheap": Spend(200_000)}
    for name in "abcd":
        attempt = script.task(name).last_write
        assert attempt is not None
        agent = attempt.agent
        script.exit_attempt(name, spend=costs[agent])
    script.submit(Task("z"), settings=dear, batch="b2")
    script.exit_attempt("z", Category.TASK, batch="b2", spend=Spend(300_000))
    again = next(d for d in script.wait(60) if isinstance(d, AttemptStarted))
    assert again.agent == "cheap"


def test_without_history_an_attempt_is_assumed_to_cost_a_share_of_the_budget() -> None:
    def guess(**settings: object) -> Spend:
        script = Script("a", settings=Settings(**settings))  # type: ignore[arg-type]  # a test's own words
        return estimate_reserve(script.state, script.batch(), "shell")

    assert guess() == Spend()
    assert guess(budget=Budget(1000)) == Spend(100)
    assert guess(task_budget=Budget(90, 60)) == Spend(30, 20)
    assert guess(budget=Budget(1000), task_budget=Budget(90)) == Spend(30)
    assert guess(budget=Budget(100, 500), task_budget=Budget(90)) == Spend(10, 50)


def test_a_reserve_larger_than_a_task_budget_is_refused() -> None:
    problem = Settings(task_budget=Budget(10), reserve=Spend(11)).problem()
    assert problem == "a reserve must not be more than a task's budget: no task could start"
