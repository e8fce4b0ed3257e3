"""A scenario: everything that is fixed before the clock starts, made from a seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from plait.core.contest import Contest, expand_contest
from plait.core.plan import Plan
from plait.core.requests import ChangeEngineSettings, Submit
from plait.core.settings import (
    Backoff,
    Budget,
    EngineSettings,
    FileConflicts,
    Isolation,
    Mode,
    OnConflict,
    Order,
    Publish,
    Settings,
    Spend,
)
from plait.testing.simulator.fault_rates import CALM_RATES, FaultRates, add_merge_blockers, vary_rates
from plait.testing.simulator.scenario__plans import make_plan
from plait.testing.simulator.seeded_random import SeededRandom

AGENTS = ("amber", "birch", "cedar", "dune")
MIXED_SHARE = 0.15  # of all storms: contests, fallbacks and budgets of tasks in one batch
PROVIDERS = (("amber", "north"), ("birch", "north"), ("cedar", "south"))


@dataclass(frozen=True, slots=True)
class Scenario:
    """`arrivals` are requests that come without anybody watching, each with its time."""

    seed: int
    rates: FaultRates
    arrivals: tuple[tuple[float, Submit | ChangeEngineSettings], ...]

    @property
    def submits(self) -> tuple[Submit, ...]:
        return tuple(request for _, request in self.arrivals if isinstance(request, Submit))


def make_stormy(seed: int) -> Scenario:
    """Anything goes: the laws must hold, and everything must end."""
    chance = SeededRandom(seed, "storm")
    rng = chance.stream("shape")
    weather = add_merge_blockers(chance.stream("branch"), vary_rates(chance.stream("weather")))
    arrivals: list[tuple[float, Submit | ChangeEngineSettings]] = [(0.0, _make_limits(rng))]
    all_at_once = chance.stream("mixture").random() < MIXED_SHARE
    for number in range(rng.choice((1, 1, 2))):
        settings = _add_limits(chance.stream("purse", number), _make_settings(rng), always=all_at_once)
        size = rng.choice((1, 2, 3, 5, 8, 12, 18, 25)) if rng.random() < 0.97 else 60
        plan = make_plan(rng, size, AGENTS, verify=rng.choice((0, 0.3)), phased=rng.random() < 0.3)
        plan = _add_contest(chance.stream("contest", number), plan, settings, always=all_at_once)
        arrivals.append((number * rng.uniform(0, 300), _make_submit(number, plan, settings, seed)))
    return Scenario(seed, weather, tuple(arrivals))


def make_calm(seed: int) -> Scenario:
    """Nothing that happens depends on when it happens, so a crash may cost time and nothing else."""
    chance = SeededRandom(seed, "calm")
    rng = chance.stream("shape")
    arrivals: list[tuple[float, Submit | ChangeEngineSettings]] = [(0.0, _make_limits(rng))]
    for number in range(rng.choice((1, 1, 1, 2))):
        settings = _remove_timing_effects(rng, _make_settings(rng))
        size = rng.choice((1, 2, 3, 4, 6, 9))
        plan = make_plan(rng, size, AGENTS, verify=rng.choice((0, 0.3)), phased=rng.random() < 0.3)
        plan = _add_contest(chance.stream("contest", number), plan, settings)
        patient = replace(plan, tasks=tuple(replace(task, timeout=None) for task in plan.tasks))
        arrivals.append((number * 5.0, _make_submit(number, patient, settings, seed)))
    return Scenario(seed, CALM_RATES, tuple(arrivals))


def _add_contest(rng: Random, plan: Plan, settings: Settings, *, always: bool = False) -> Plan:
    """Sometimes a contest for some of the tasks; the others are as if they had a script of their own."""
    if settings.isolation is Isolation.IN_PLACE or len(plan.tasks) > 12:
        return plan
    if rng.random() > 0.3 and not always:
        return plan
    share = rng.choice((0.3, 0.6 if always else 1.0))  # who is not contested can go elsewhere
    scripts = tuple(replace(task, run=None if rng.random() < share else "make") for task in plan.tasks)
    agents = tuple(rng.sample(AGENTS, k=rng.choice((1, 2, 2, 3))))
    grown = expand_contest(replace(plan, tasks=scripts), Contest(agents, 2 if len(agents) == 1 else 1))
    return replace(grown, tasks=tuple(replace(task, run=None) for task in grown.tasks))


def _make_submit(number: int, plan: Plan, settings: Settings, seed: int) -> Submit:
    name = f"b{number + 1}"
    return Submit(
        f"submit-{name}", name, plan, settings, base=f"{name}:base", branch=f"plait/batch-{name}", seed=seed
    )


def _make_limits(rng: Random) -> ChangeEngineSettings:
    limits = tuple((agent, rng.choice((1, 2, 3))) for agent in AGENTS if rng.random() < 0.25)
    settings = EngineSettings(parallel_limit=rng.choice((0, 1, 2, 4, 4, 8)), agent_limits=limits)
    return ChangeEngineSettings("limits", settings, ("parallel_limit", "agent_limits"))


def _make_settings(rng: Random) -> Settings:
    in_place = rng.random() < 0.15
    return Settings(
        agents=tuple(rng.sample(AGENTS, k=rng.choice((1, 1, 2, 3)))),
        providers=PROVIDERS,
        max_parallel=rng.choice((0, 1, 2, 3, 4, 6)),
        mode=Mode.QUEUE if rng.random() < 0.15 else Mode.PARALLEL,
        auto_approve=rng.random() < 0.4,
        order=rng.choice(tuple(Order)),
        isolation=Isolation.IN_PLACE if in_place else Isolation.WORKTREE,
        verify="make check" if rng.random() < 0.45 else None,
        gate="make gate" if not in_place and rng.random() < 0.4 else None,
        timeout=float(rng.choice((150, 300, 900))),
        idle_timeout=float(rng.choice((60, 120, 400))),
        verify_timeout=float(rng.choice((60, 150))),
        gate_timeout=float(rng.choice((60, 150))),
        retries=rng.randrange(4),
        repairs=rng.randrange(3),
        backoff=Backoff(
            rng.choice((1.0, 5.0, 20.0)), rng.choice((1.0, 2.0, 3.0)), 200.0, rng.choice((0, 0.25, 0.5))
        ),
        stop_on_fail=rng.random() < 0.15,
        on_conflict=rng.choice(tuple(OnConflict)),
        phase_gate=rng.choice((0.0, 0.5, 0.8, 0.8, 1.0)),
        budget=_make_budget(rng) if rng.random() < 0.3 else None,
        reserve=Spend(rng.choice((100_000, 400_000)), rng.choice((0, 5_000))) if rng.random() < 0.5 else None,
        publish=Publish.OFF if rng.random() < 0.5 else rng.choice(tuple(Publish)),
        file_conflicts=FileConflicts.INFERRED if rng.random() < 0.8 else FileConflicts.DECLARED,
    )


def _add_limits(rng: Random, settings: Settings, *, always: bool) -> Settings:
    """Sometimes somebody stands in, and sometimes each task has a budget of its own."""
    fallback = tuple(rng.sample(AGENTS, k=rng.choice((1, 1, 2)))) if rng.random() < 0.35 or always else ()
    own = rng.choice((Budget(200_000), Budget(800_000), Budget(4_000_000, 50_000), Budget(None, 12_000)))
    budget = own if rng.random() < 0.25 or always else None
    fits = budget is None or settings.reserve is None or budget.allows(settings.reserve)
    reserve = settings.reserve if fits else None
    return replace(settings, fallback=fallback, task_budget=budget, reserve=reserve)


def _make_budget(rng: Random) -> Budget:
    money = rng.choice((300_000, 2_000_000, 10_000_000))
    tokens = rng.choice((20_000, 200_000))
    return rng.choice((Budget(money), Budget(money, tokens), Budget(None, tokens)))


def _remove_timing_effects(rng: Random, settings: Settings) -> Settings:
    """Without what lets timing change who gets done: halting, money, and repairs of clashes that depend on order."""
    on_conflict = rng.choice((OnConflict.SKIP, OnConflict.REPAIR))
    times = ("timeout", "idle_timeout", "verify_timeout", "gate_timeout")
    plain = Settings(on_conflict=on_conflict, timeout=900.0, idle_timeout=400.0)
    return settings.with_fields(plain, ("stop_on_fail", "budget", "on_conflict", *times))
