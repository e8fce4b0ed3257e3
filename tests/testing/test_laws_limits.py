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
def test_a_batch_uses_no_more_slots_than_its_limit() -> None:
    History(replace(SETTINGS, max_parallel=1), apart=True).start_attempt().start_attempt("b")


@expect_violation("slots")
def test_the_engine_uses_no_more_slots_than_its_limit() -> None:
    settings = EngineSettings(parallel_limit=1)
    history = History(apart=True).grant(q.ChangeEngineSettings("e", settings, ("parallel_limit",)))
    history.start_attempt().start_attempt("b")


@expect_violation("slots")
def test_a_task_takes_no_more_slots_than_there_are() -> None:
    History(slots=9).start_attempt(slots=9)


@expect_violation("room")
def test_attempts_take_no_more_slots_than_the_capacity() -> None:
    History(apart=True)(r.CapacityChanged(1, "little memory")).start_attempt().start_attempt("b")


@expect_violation("room")
def test_nothing_starts_without_capacity() -> None:
    History()(r.CapacityChanged(0, "no memory")).start_attempt()


@expect_violation("slots")
def test_the_capacity_does_not_reduce_a_tasks_slots() -> None:
    History(slots=2)(r.CapacityChanged(1, "little memory")).start_attempt(slots=1)


def test_a_single_attempt_may_take_more_than_the_capacity() -> None:
    History(slots=2)(r.CapacityChanged(1, "little memory")).start_attempt(slots=2).check_idle(wake=2800.0)


@expect_violation("starved")
def test_a_single_task_does_not_wait_for_more_capacity() -> None:
    History(slots=2)(r.CapacityChanged(1, "little memory")).check_idle()


@expect_violation("starved")
def test_what_the_last_engine_measured_delays_nothing() -> None:
    History()(r.PressureChanged("no disk"), r.CapacityChanged(0, "no memory"), r.EngineTaken(2)).check_idle()


@expect_violation("holds")
def test_two_attempts_do_not_lock_the_same_file() -> None:
    History(shared=True).start_attempt().start_attempt("b")


@expect_violation("agent")
def test_a_task_starts_with_its_own_agent() -> None:
    History().start_attempt(agent="birch")


@expect_violation("agent-limit")
def test_an_agent_runs_no_more_attempts_than_its_limit() -> None:
    settings = EngineSettings(agent_limits=(("amber", 1),))
    history = History(apart=True).grant(q.ChangeEngineSettings("e", settings, ("agent_limits",)))
    history.start_attempt().start_attempt("b")


@expect_violation("timeout")
def test_an_attempt_has_the_timeout_of_its_task() -> None:
    History(timeout=60.0).start_attempt()


@expect_violation("breaker")
def test_nothing_starts_while_the_breaker_is_open() -> None:
    History()(r.RateLimited("north", 2000.0), d.BreakerOpened("north", 2000.0, 1, "429")).start_attempt()


@expect_violation("breaker")
def test_a_rate_limit_opens_the_breaker() -> None:
    History()(r.RateLimited("north", 2000.0)).check_idle()


@expect_violation("breaker")
def test_a_breaker_does_not_close_early() -> None:
    history = History()(r.RateLimited("north", 2000.0), d.BreakerOpened("north", 2000.0, 1, "429"))
    history.advance()(d.BreakerClosed("north"))


@expect_violation("provider-limit")
def test_after_a_breaker_closes_attempts_start_one_at_a_time() -> None:
    history = History(apart=True)(r.RateLimited("north", 1001.0), d.BreakerOpened("north", 1001.0, 1, "429"))
    history.advance()(d.BreakerClosed("north")).start_attempt().start_attempt("b")


@expect_violation("provider-limit")
def test_a_providers_limit_is_not_raised_at_once() -> None:
    history = History()(r.RateLimited("north", 1001.0), d.BreakerOpened("north", 1001.0, 1, "429"))
    history.advance()(d.BreakerClosed("north"), d.LimitRaised("north", 5))


@expect_violation("budget")
def test_reserved_budget_is_not_exceeded() -> None:
    History(POOR, apart=True).start_attempt(reserve=Spend(60)).start_attempt("b", reserve=Spend(60))


@expect_violation("budget")
def test_spent_budget_is_counted() -> None:
    history = History(replace(POOR, retries=2)).start_attempt(reserve=Spend(60))
    history.exit_attempt(category=Category.TASK, spend=Spend(50))(retry_granted())
    history.advance(2000)(d.BackoffEnded("B", "a"), attempt_started(n=2, reserve=Spend(60)))


@expect_violation("budget")
def test_a_batch_with_budget_left_is_not_paused_for_it() -> None:
    History()(d.BatchPaused("B", PauseCause.BUDGET, "no money"))


@expect_violation("breaker")
def test_a_provider_that_refuses_again_waits_longer() -> None:
    history = History()(r.RateLimited("north", 1001.0), d.BreakerOpened("north", 1001.0, 1, "429"))
    history.advance()(d.BreakerClosed("north"), r.RateLimited("north", 1005.0))
    history(d.BreakerOpened("north", 1005.0, 1, "429"))


@expect_violation("paused")
def test_a_batch_is_paused_only_for_a_provider_that_rejected_a_login() -> None:
    History()(d.BatchPaused("B", PauseCause.PROVIDER, "not logged in"))


@expect_violation("paused")
def test_no_attempt_starts_while_the_batch_is_paused_for_its_budget() -> None:
    History(POOR)(d.BatchPaused("B", PauseCause.BUDGET, "no money")).start_attempt(reserve=Spend(60))


SHARED = replace(SETTINGS, fallback=("cedar",), providers=(("amber", "north"), ("cedar", "south")))
REFUSED = r.RateLimited("north", 2000.0), d.BreakerOpened("north", 2000.0, 1, "429")


def stand_in(task: str = "a", n: int = 1) -> d.AttemptStarted:
    return attempt_started(task, n, agent="cedar", provider="south")


def test_another_agent_takes_over_from_a_refusing_provider() -> None:
    History(SHARED)(*REFUSED, stand_in()).check_idle(wake=2000.0)


@expect_violation("agent")
def test_no_agent_takes_over_from_a_provider_that_accepts_work() -> None:
    History(SHARED)(stand_in())


@expect_violation("agent")
def test_no_agent_takes_over_from_a_provider_with_a_reduced_limit() -> None:
    history = History(SHARED, apart=True)(r.RateLimited("north", 1001.0))
    history(d.BreakerOpened("north", 1001.0, 1, "429")).advance()(
        d.BreakerClosed("north"), attempt_started(), stand_in("b")
    )


@expect_violation("agent")
def test_no_agent_takes_over_without_a_fallback_setting() -> None:
    History()(*REFUSED, stand_in())


@expect_violation("agent")
def test_no_agent_takes_over_for_an_entrant_of_a_contest() -> None:
    History(SHARED, entrant="b")(*REFUSED, stand_in())


@expect_violation("starved")
def test_an_agent_that_can_take_over_does() -> None:
    History(SHARED)(*REFUSED).check_idle(wake=2000.0)


def rejected(*, elsewhere: bool = False) -> History:
    history = History(SHARED).start_attempt().exit_attempt(category=Category.AUTH)
    return history(retry_granted(at=1005.0, counted=False, category=Category.AUTH, elsewhere=elsewhere))


def test_a_rejected_task_goes_to_another_provider() -> None:
    history = rejected(elsewhere=True)(d.BreakerOpened("north", 4700.0, 1, "log in", rejected=True))
    history(d.BackoffEnded("B", "a"), stand_in(n=2)).check_idle(wake=2805.0)


@expect_violation("retry")
def test_a_rejected_task_is_not_retried_at_the_same_provider() -> None:
    rejected()


@expect_violation("retry")
def test_a_retry_elsewhere_needs_another_provider() -> None:
    History().start_attempt().exit_attempt(category=Category.AUTH)(retry_granted(counted=False, elsewhere=True))


@expect_violation("fallback")
def test_a_rejected_task_does_not_end_while_another_provider_can_take_it() -> None:
    history = History(SHARED).start_attempt().exit_attempt(category=Category.QUOTA)
    history(task_ended("a", TaskStatus.FAILED, category=Category.QUOTA))


@expect_violation("breaker")
def test_a_provider_that_rejected_a_login_has_its_breaker_opened() -> None:
    rejected(elsewhere=True).check_idle(wake=1005.0)


@expect_violation("breaker")
def test_a_provider_that_rejected_a_login_is_not_asked_too_soon() -> None:
    rejected(elsewhere=True)(d.BreakerOpened("north", 1100.0, 1, "log in", rejected=True))


@expect_violation("breaker")
def test_a_rate_limit_is_no_rejection() -> None:
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
def test_a_task_does_not_exceed_its_own_budget() -> None:
    spent()(attempt_started(n=2, reserve=Spend(60)))


@expect_violation("starved")
def test_a_task_at_the_end_of_its_budget_asks_for_more() -> None:
    spent().check_idle()


@expect_violation("order")
def test_no_task_overtakes_one_that_should_have_asked_for_budget() -> None:
    spent().start_attempt("b", reserve=Spend(60))


def test_a_task_that_asked_for_budget_waits() -> None:
    history = spent()(d.AnswerAwaited("B", "a", "more?", Spend(60)))
    history.start_attempt("b", reserve=Spend(60)).exit_attempt("b").merge("b")(
        task_ended("b", TaskStatus.DONE)
    ).check_idle()


@expect_violation("task-budget")
def test_a_task_with_budget_left_does_not_ask_for_more() -> None:
    History(OWN)(d.AnswerAwaited("B", "a", "more?", Spend(60)))


@expect_violation("task-budget")
def test_a_running_task_does_not_ask_for_budget() -> None:
    History(OWN).start_attempt(reserve=Spend(60))(d.AnswerAwaited("B", "a", "more?", Spend(60)))


def test_an_answer_resets_a_tasks_budget() -> None:
    history = spent()(d.AnswerAwaited("B", "a", "more?", Spend(60)))
    history.grant(q.Feedback("f", "B", "a", "yes"), "a")(attempt_started(n=2, reserve=Spend(60), feedback="yes"))


@expect_violation("budget")
def test_a_reserve_follows_what_earlier_attempts_cost() -> None:
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


def test_a_resumed_session_keeps_what_it_has_spent() -> None:
    failed_once(session="s", before=Spend(50))


@expect_violation("spend")
def test_a_resumed_session_must_not_forget_what_it_has_spent() -> None:
    failed_once(session="s")


@expect_violation("spend")
def test_a_new_session_has_spent_nothing() -> None:
    failed_once(before=Spend(50))


@expect_violation("session")
def test_a_session_is_resumed_only_by_its_own_agent() -> None:
    two = replace(SETTINGS, agents=("amber", "birch"), providers=(("amber", "north"), ("birch", "north")))
    history = History(two).start_attempt().exit_attempt(category=Category.TASK, session="s")(retry_granted())
    history.advance(2000)(d.BackoffEnded("B", "a"), attempt_started(n=2, agent="birch", session="s"))
