"""Limits that an attempt may not exceed: slots, agents, files, providers, money."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d, reports as r, requests as q
from plait.core.settings import Budget, EngineSettings, Spend
from plait.core.status import Category, PauseCause
from plait.testing.history import SETTINGS, History, again, breaks, start

POOR = replace(SETTINGS, budget=Budget(100), reserve=Spend(60))


@breaks("slots")
def test_slots_of_batch() -> None:
    History(replace(SETTINGS, max_parallel=1), apart=True).starts().starts("b")


@breaks("slots")
def test_slots_of_engine() -> None:
    settings = EngineSettings(parallel_limit=1)
    history = History(apart=True).grants(q.ChangeEngineSettings("e", settings, ("parallel_limit",)))
    history.starts().starts("b")


@breaks("slots")
def test_slots_unclamped() -> None:
    History(slots=9).starts(slots=9)


@breaks("room")
def test_no_room_beside_another() -> None:
    History(apart=True)(r.RoomChanged(1, "little memory")).starts().starts("b")


@breaks("room")
def test_no_room_for_anybody() -> None:
    History()(r.RoomChanged(0, "no memory")).starts()


@breaks("slots")
def test_the_room_clamps_nobody() -> None:
    History(slots=2)(r.RoomChanged(1, "little memory")).starts(slots=1)


def test_who_is_alone_takes_more_than_the_room() -> None:
    History(slots=2)(r.RoomChanged(1, "little memory")).starts(slots=2).rests(wake=2800.0)


@breaks("starved")
def test_who_is_alone_may_not_wait_for_a_larger_room() -> None:
    History(slots=2)(r.RoomChanged(1, "little memory")).rests()


@breaks("starved")
def test_what_the_last_engine_saw_holds_nobody_back() -> None:
    History()(r.PressureChanged("no disk"), r.RoomChanged(0, "no memory"), r.EngineTaken(2)).rests()


@breaks("holds")
def test_held_file() -> None:
    History(shared=True).starts().starts("b")


@breaks("agent")
def test_wrong_agent() -> None:
    History().starts(agent="birch")


@breaks("agent-limit")
def test_agent_limit() -> None:
    settings = EngineSettings(agent_limits=(("amber", 1),))
    history = History(apart=True).grants(q.ChangeEngineSettings("e", settings, ("agent_limits",)))
    history.starts().starts("b")


@breaks("timeout")
def test_wrong_timeout() -> None:
    History(timeout=60.0).starts()


@breaks("breaker")
def test_breaker_open() -> None:
    History()(r.RateLimited("north", 2000.0), d.BreakerOpened("north", 2000.0, 1, "429")).starts()


@breaks("breaker")
def test_breaker_not_opened() -> None:
    History()(r.RateLimited("north", 2000.0)).rests()


@breaks("breaker")
def test_breaker_closed_early() -> None:
    history = History()(r.RateLimited("north", 2000.0), d.BreakerOpened("north", 2000.0, 1, "429"))
    history.later()(d.BreakerClosed("north"))


@breaks("provider-limit")
def test_provider_limit() -> None:
    history = History(apart=True)(r.RateLimited("north", 1001.0), d.BreakerOpened("north", 1001.0, 1, "429"))
    history.later()(d.BreakerClosed("north")).starts().starts("b")


@breaks("provider-limit")
def test_limit_raised_at_once() -> None:
    history = History()(r.RateLimited("north", 1001.0), d.BreakerOpened("north", 1001.0, 1, "429"))
    history.later()(d.BreakerClosed("north"), d.LimitRaised("north", 5))


@breaks("budget")
def test_over_budget() -> None:
    History(POOR, apart=True).starts(reserve=Spend(60)).starts("b", reserve=Spend(60))


@breaks("budget")
def test_spent_is_counted() -> None:
    history = History(replace(POOR, retries=2)).starts(reserve=Spend(60))
    history.exits(category=Category.TASK, spend=Spend(50))(again())
    history.later(2000)(d.BackoffEnded("B", "a"), start(n=2, reserve=Spend(60)))


@breaks("budget")
def test_paused_for_money_it_has() -> None:
    History()(d.BatchPaused("B", PauseCause.BUDGET, "no money"))


@breaks("breaker")
def test_a_provider_that_refuses_again_is_asked_too_soon() -> None:
    history = History()(r.RateLimited("north", 1001.0), d.BreakerOpened("north", 1001.0, 1, "429"))
    history.later()(d.BreakerClosed("north"), r.RateLimited("north", 1005.0))
    history(d.BreakerOpened("north", 1005.0, 1, "429"))


@breaks("paused")
def test_paused_for_a_provider_that_rejected_nobody() -> None:
    History()(d.BatchPaused("B", PauseCause.PROVIDER, "not logged in"))


@breaks("paused")
def test_nothing_new_is_written_while_money_is_short() -> None:
    History(POOR)(d.BatchPaused("B", PauseCause.BUDGET, "no money")).starts(reserve=Spend(60))
