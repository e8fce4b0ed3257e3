"""Limits that an attempt may not exceed: slots, agents, files, providers, money."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d, reports as r, requests as q
from plait.core.settings import NO_SPEND, Budget, EngineSettings, Settings, Spend
from plait.core.status import Category, PauseCause, TaskStatus
from tests.support.handwritten_history import (
    SETTINGS,
    History,
    attempt_started,
    expect_violation,
    retry_granted,
    task_ended,
)

POOR = replace(SETTINGS, budget=Budget(100), reserve=Spend(60))


@expect_violation("slots")
def test_slots_of_batch() -> None:
    History(replace(SETTINGS, max_parallel=1), apart=True).start_attempt().start_attempt("b")


@expect_violation("slots")
def test_slots_of_engine() -> None:
    settings = EngineSettings(parallel_limit=1)
    history = History(apart=True).grant(q.ChangeEngineSettings("e", settings, ("parallel_limit",)))
    history.start_attempt().start_attempt("b")


@expect_violation("slots")
def test_slots_unclamped() -> None:
    History(slots=9).start_attempt(slots=9)


@expect_violation("room")
def test_no_room_beside_another() -> None:
    History(apart=True)(r.CapacityChanged(1, "little memory")).start_attempt().start_attempt("b")


@expect_violation("room")
def test_no_room_for_anybody() -> None:
    History()(r.CapacityChanged(0, "no memory")).start_attempt()


@expect_violation("slots")
def test_the_room_clamps_nobody() -> None:
    History(slots=2)(r.CapacityChanged(1, "little memory")).start_attempt(slots=1)


def test_who_is_alone_takes_more_than_the_room() -> None:
    History(slots=2)(r.CapacityChanged(1, "little memory")).start_attempt(slots=2).check_idle(wake=2800.0)


@expect_violation("starved")
def test_who_is_alone_may_not_wait_for_a_larger_room() -> None:
    History(slots=2)(r.CapacityChanged(1, "little memory")).check_idle()


@expect_violation("starved")
def test_what_the_last_engine_saw_holds_nobody_back() -> None:
    History()(r.PressureChanged("no disk"), r.CapacityChanged(0, "no memory"), r.EngineTaken(2)).check_idle()


@expect_violation("holds")
def test_held_file() -> None:
    History(shared=True).start_attempt().start_attempt("b")


@expect_violation("agent")
def test_wrong_agent() -> None:
    History().start_attempt(agent="birch")


@expect_violation("agent-limit")
def test_agent_limit() -> None:
    settings = EngineSettings(agent_limits=(("amber", 1),))
    history = History(apart=True).grant(q.ChangeEngineSettings("e", settings, ("agent_limits",)))
    history.start_attempt().start_attempt("b")


@expect_violation("timeout")
def test_wrong_timeout() -> None:
    History(timeout=60.0).start_attempt()


@expect_violation("breaker")
def test_breaker_open() -> None:
    History()(r.RateLimited("north", 2000.0), d.BreakerOpened("north", 2000.0, 1, "429")).start_attempt()


@expect_violation("breaker")
def test_breaker_not_opened() -> None:
    History()(r.RateLimited("north", 2000.0)).check_idle()


@expect_violation("breaker")
def test_breaker_closed_early() -> None:
    history = History()(r.RateLimited("north", 2000.0), d.BreakerOpened("north", 2000.0, 1, "429"))
    history.advance()(d.BreakerClosed("north"))


@expect_violation("provider-limit")
def test_provider_limit() -> None:
    history = History(apart=True)(r.RateLimited("north", 1001.0), d.BreakerOpened("north", 1001.0, 1, "429"))
    history.advance()(d.BreakerClosed("north")).start_attempt().start_attempt("b")


@expect_violation("provider-limit")
def test_limit_raised_at_once() -> None:
    history = History()(r.RateLimited("north", 1001.0), d.BreakerOpened("north", 1001.0, 1, "429"))
    history.advance()(d.BreakerClosed("north"), d.LimitRaised("north", 5))


@expect_violation("budget")
def test_over_budget() -> None:
    History(POOR, apart=True).start_attempt(reserve=Spend(60)).start_attempt("b", reserve=Spend(60))


@expect_violation("budget")
def test_spent_is_counted() -> None:
    history = History(replace(POOR, retries=2)).start_attempt(reserve=Spend(60))
    history.exit_attempt(category=Category.TASK, spend=Spend(50))(retry_granted())
    history.advance(2000)(d.BackoffEnded("B", "a"), attempt_started(n=2, reserve=Spend(60)))


@expect_violation("budget")
def test_paused_for_money_it_has() -> None:
    History()(d.BatchPaused("B", PauseCause.BUDGET, "no money"))


@expect_violation("breaker")
def test_a_provider_that_refuses_again_is_asked_too_soon() -> None:
    history = History()(r.RateLimited("north", 1001.0), d.BreakerOpened("north", 1001.0, 1, "429"))
    history.advance()(d.BreakerClosed("north"), r.RateLimited("north", 1005.0))
    history(d.BreakerOpened("north", 1005.0, 1, "429"))


@expect_violation("paused")
def test_paused_for_a_provider_that_rejected_nobody() -> None:
    History()(d.BatchPaused("B", PauseCause.PROVIDER, "not logged in"))


@expect_violation("paused")
def test_nothing_new_is_written_while_money_is_short() -> None:
    History(POOR)(d.BatchPaused("B", PauseCause.BUDGET, "no money")).start_attempt(reserve=Spend(60))


SHARED = replace(SETTINGS, fallback=("cedar",), providers=(("amber", "north"), ("cedar", "south")))
REFUSED = r.RateLimited("north", 2000.0), d.BreakerOpened("north", 2000.0, 1, "429")


def stand_in(task: str = "a", n: int = 1) -> d.AttemptStarted:
    return attempt_started(task, n, agent="cedar", provider="south")


def test_somebody_stands_in_for_who_refuses() -> None:
    History(SHARED)(*REFUSED, stand_in()).check_idle(wake=2000.0)


@expect_violation("agent")
def test_nobody_stands_in_for_who_takes_work() -> None:
    History(SHARED)(stand_in())


@expect_violation("agent")
def test_nobody_stands_in_for_who_is_only_given_less() -> None:
    history = History(SHARED, apart=True)(r.RateLimited("north", 1001.0))
    history(d.BreakerOpened("north", 1001.0, 1, "429")).advance()(
        d.BreakerClosed("north"), attempt_started(), stand_in("b")
    )


@expect_violation("agent")
def test_nobody_stands_in_who_was_not_asked_to() -> None:
    History()(*REFUSED, stand_in())


@expect_violation("agent")
def test_nobody_stands_in_for_an_entrant() -> None:
    History(SHARED, entrant="b")(*REFUSED, stand_in())


@expect_violation("starved")
def test_who_could_stand_in_does() -> None:
    History(SHARED)(*REFUSED).check_idle(wake=2000.0)


def rejected(*, elsewhere: bool = False) -> History:
    history = History(SHARED).start_attempt().exit_attempt(category=Category.AUTH)
    return history(retry_granted(at=1005.0, counted=False, category=Category.AUTH, elsewhere=elsewhere))


def test_what_was_rejected_goes_elsewhere() -> None:
    history = rejected(elsewhere=True)(d.BreakerOpened("north", 4700.0, 1, "log in", rejected=True))
    history(d.BackoffEnded("B", "a"), stand_in(n=2)).check_idle(wake=2805.0)


@expect_violation("retry")
def test_what_was_rejected_is_not_tried_in_the_same_place() -> None:
    rejected()


@expect_violation("retry")
def test_nothing_goes_elsewhere_where_nobody_else_is() -> None:
    History().start_attempt().exit_attempt(category=Category.AUTH)(retry_granted(counted=False, elsewhere=True))


@expect_violation("fallback")
def test_what_was_rejected_does_not_end_while_somebody_could_take_it() -> None:
    history = History(SHARED).start_attempt().exit_attempt(category=Category.QUOTA)
    history(task_ended("a", TaskStatus.FAILED, category=Category.QUOTA))


@expect_violation("breaker")
def test_who_rejected_somebody_is_left_alone() -> None:
    rejected(elsewhere=True).check_idle(wake=1005.0)


@expect_violation("breaker")
def test_who_rejected_somebody_is_asked_too_soon() -> None:
    rejected(elsewhere=True)(d.BreakerOpened("north", 1100.0, 1, "log in", rejected=True))


@expect_violation("breaker")
def test_who_only_refused_has_rejected_nobody() -> None:
    History(SHARED)(r.RateLimited("north", 9000.0), d.BreakerOpened("north", 9000.0, 1, "log in", rejected=True))


OWN = replace(SETTINGS, task_budget=Budget(100), reserve=Spend(60), retries=3)


def spent(settings: Settings = OWN) -> History:
    """50 of 100 is spent, and the reserve is 60."""
    history = (
        History(settings, apart=True)
        .start_attempt(reserve=Spend(60))
        .exit_attempt(category=Category.TASK, spend=Spend(50))
    )
    return history(retry_granted()).advance(2000)(d.BackoffEnded("B", "a"))


@expect_violation("task-budget")
def test_a_task_goes_over_its_own_budget() -> None:
    spent()(attempt_started(n=2, reserve=Spend(60)))


@expect_violation("starved")
def test_a_task_that_can_not_go_on_within_its_budget_asks() -> None:
    spent().check_idle()


@expect_violation("order")
def test_nobody_goes_before_one_that_should_have_asked() -> None:
    spent().start_attempt("b", reserve=Spend(60))


def test_whoever_asked_waits() -> None:
    history = spent()(d.AnswerAwaited("B", "a", "more?", Spend(60)))
    history.start_attempt("b", reserve=Spend(60)).exit_attempt("b").merge("b")(
        task_ended("b", TaskStatus.DONE)
    ).check_idle()


@expect_violation("task-budget")
def test_a_task_asks_for_money_that_it_has() -> None:
    History(OWN)(d.AnswerAwaited("B", "a", "more?", Spend(60)))


@expect_violation("task-budget")
def test_a_task_asks_for_money_while_it_runs() -> None:
    History(OWN).start_attempt(reserve=Spend(60))(d.AnswerAwaited("B", "a", "more?", Spend(60)))


def test_an_answer_lets_the_budget_begin_anew() -> None:
    history = spent()(d.AnswerAwaited("B", "a", "more?", Spend(60)))
    history.grant(q.Feedback("f", "B", "a", "yes"), "a")(attempt_started(n=2, reserve=Spend(60), feedback="yes"))


@expect_violation("budget")
def test_a_reserve_that_is_a_guess_though_more_is_known() -> None:
    poor = replace(OWN, task_budget=Budget(1000), reserve=Spend(10))
    history = (
        History(poor)
        .start_attempt(reserve=Spend(10))
        .exit_attempt(category=Category.TASK, spend=Spend(50))(retry_granted())
    )
    history.advance(2000)(d.BackoffEnded("B", "a"), attempt_started(n=2, reserve=Spend(10)))


def failed_once(session: str | None = None, before: Spend = NO_SPEND) -> History:
    history = History().start_attempt().exit_attempt(category=Category.TASK, spend=Spend(50), session="s")
    return history(retry_granted()).advance(2000)(
        d.BackoffEnded("B", "a"), attempt_started(n=2, session=session, before=before)
    )


def test_a_session_goes_on_with_what_it_had_spent() -> None:
    failed_once(session="s", before=Spend(50))


@expect_violation("spend")
def test_what_a_session_had_spent_is_forgotten() -> None:
    failed_once(session="s")


@expect_violation("spend")
def test_a_new_session_has_spent_nothing() -> None:
    failed_once(before=Spend(50))


@expect_violation("session")
def test_a_session_is_its_agents_own() -> None:
    two = replace(SETTINGS, agents=("amber", "birch"), providers=(("amber", "north"), ("birch", "north")))
    history = History(two).start_attempt().exit_attempt(category=Category.TASK, session="s")(retry_granted())
    history.advance(2000)(d.BackoffEnded("B", "a"), attempt_started(n=2, agent="birch", session="s"))
