"""A scenario: what is fixed before a run, made from a seed, with random plans of every shape."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from plait.core.contest import Contest, expand_contest
from plait.core.graph import build_checked_plan
from plait.core.plan import Plan
from plait.core.requests import ChangeEngineSettings, Submit
from plait.core.settings import (
    Backoff,
    Budget,
    EngineSettings,
    ExecutorKind,
    FileConflicts,
    Isolation,
    Mode,
    OnConflict,
    Order,
    Publish,
    Settings,
    Spend,
)
from plait.core.task import Need, NeedKind, Phase, Task
from plait.testing.simulator.fault_rates import (
    CALM_RATES,
    FaultRates,
    add_commit_failures,
    add_merge_blockers,
    vary_rates,
)
from plait.testing.simulator.seeded_random import SeededRandom

AGENTS = ("amber", "birch", "cedar", "dune")
MIXED_SHARE = 0.15  # of all storms: contests, fallbacks and budgets of tasks in one batch
PROVIDERS = (("amber", "north"), ("birch", "north"), ("cedar", "south"))


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is fixed before a run. `arrivals` are requests at fixed times, whatever the state."""

    seed: int
    rates: FaultRates
    arrivals: tuple[tuple[float, Submit | ChangeEngineSettings], ...]

    @property
    def submits(self) -> tuple[Submit, ...]:
        return tuple(request for _, request in self.arrivals if isinstance(request, Submit))


def make_stormy(seed: int) -> Scenario:
    """Make a scenario in which anything can happen: the laws must hold, and everything must end."""
    chance = SeededRandom(seed, "storm")
    rng = chance.stream("shape")
    weather = add_merge_blockers(chance.stream("branch"), vary_rates(chance.stream("weather")))
    weather = add_commit_failures(chance.stream("commits"), weather)
    arrivals: list[tuple[float, Submit | ChangeEngineSettings]] = [(0.0, _make_limits(rng))]
    all_at_once = chance.stream("mixture").random() < MIXED_SHARE
    for number in range(rng.choice((1, 1, 2))):
        settings = _add_limits(chance.stream("purse", number), _make_settings(rng), always=all_at_once)
        settings = _choose_executor(chance.stream("executor", number), settings)
        size = rng.choice((1, 2, 3, 5, 8, 12, 18, 25)) if rng.random() < 0.97 else 60
        plan = make_plan(rng, size, AGENTS, verify=rng.choice((0, 0.3)), phased=rng.random() < 0.3)
        plan = _add_contest(chance.stream("contest", number), plan, settings, always=all_at_once)
        arrivals.append((number * rng.uniform(0, 300), _make_submit(number, plan, settings, seed)))
    return Scenario(seed, weather, tuple(arrivals))


def make_calm(seed: int) -> Scenario:
    """Make a scenario in which nothing depends on timing, so a crash may cost time and nothing else."""
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
    return Scenario(seed, add_commit_failures(chance.stream("commits"), CALM_RATES), tuple(arrivals))


def _add_contest(rng: Random, plan: Plan, settings: Settings, *, always: bool = False) -> Plan:
    """Add, sometimes, a contest for some of the tasks; the others can't be contested, like scripts."""
    if settings.isolation is Isolation.IN_PLACE or len(plan.tasks) > 12:
        return plan
    if rng.random() > 0.3 and not always:
        return plan
    share = rng.choice((0.3, 0.6 if always else 1.0))  # a task without a contest can use a fallback
    scripts = tuple(replace(task, run=None if rng.random() < share else "make") for task in plan.tasks)
    agents = tuple(rng.sample(AGENTS, k=rng.choice((1, 2, 2, 3))))
    judges = rng.choice((0, 0, 2, 3))
    grown = expand_contest(replace(plan, tasks=scripts), Contest(agents, 2 if len(agents) == 1 else 1, judges))
    return replace(grown, tasks=tuple(replace(task, run=None) for task in grown.tasks))


def _make_submit(number: int, plan: Plan, settings: Settings, seed: int) -> Submit:
    name = f"b{number + 1}"
    return Submit(f"submit-{name}", name, plan, settings, base=f"{name}:base", branch=f"plait/batch-{name}", seed=seed)


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
        backoff=Backoff(rng.choice((1.0, 5.0, 20.0)), rng.choice((1.0, 2.0, 3.0)), 200.0, rng.choice((0, 0.25, 0.5))),
        stop_on_fail=rng.random() < 0.15,
        on_conflict=rng.choice(tuple(OnConflict)),
        phase_gate=rng.choice((0.0, 0.5, 0.8, 0.8, 1.0)),
        budget=_make_budget(rng) if rng.random() < 0.3 else None,
        reserve=Spend(rng.choice((100_000, 400_000)), rng.choice((0, 5_000))) if rng.random() < 0.5 else None,
        publish=Publish.OFF if rng.random() < 0.5 else rng.choice(tuple(Publish)),
        file_conflicts=FileConflicts.INFERRED if rng.random() < 0.8 else FileConflicts.DECLARED,
    )


def _add_limits(rng: Random, settings: Settings, *, always: bool) -> Settings:
    """Add, sometimes, fallback agents, and sometimes a budget for each task."""
    fallback = tuple(rng.sample(AGENTS, k=rng.choice((1, 1, 2)))) if rng.random() < 0.35 or always else ()
    own = rng.choice((Budget(200_000), Budget(800_000), Budget(4_000_000, 50_000), Budget(None, 12_000)))
    budget = own if rng.random() < 0.25 or always else None
    fits = budget is None or settings.reserve is None or budget.allows(settings.reserve)
    reserve = settings.reserve if fits else None
    return replace(settings, fallback=fallback, task_budget=budget, reserve=reserve)


def _choose_executor(rng: Random, settings: Settings) -> Settings:
    """Choose an executor; a cluster works in worktrees only."""
    on_cluster = settings.isolation is Isolation.WORKTREE and rng.random() < 0.3
    return replace(settings, executor=ExecutorKind.RAY) if on_cluster else settings


def _make_budget(rng: Random) -> Budget:
    money = rng.choice((300_000, 2_000_000, 10_000_000))
    tokens = rng.choice((20_000, 200_000))
    return rng.choice((Budget(money), Budget(money, tokens), Budget(None, tokens)))


def _remove_timing_effects(rng: Random, settings: Settings) -> Settings:
    """Remove what lets timing change which tasks are done: halting, money, conflicts that depend on order."""
    on_conflict = rng.choice((OnConflict.SKIP, OnConflict.REPAIR))
    times = ("timeout", "idle_timeout", "verify_timeout", "gate_timeout")
    plain = Settings(on_conflict=on_conflict, timeout=900.0, idle_timeout=400.0)
    return settings.with_fields(plain, ("stop_on_fail", "budget", "on_conflict", *times))


FILES = ("src/api.py", "src/cli.py", "src/db.py", "src/ui/page.py", "src/ui/", "docs/*.md", "docs/use.md")
GROUPS = ("migrations", "release")


def make_plan(rng: Random, size: int, agents: tuple[str, ...], *, verify: float, phased: bool) -> Plan:
    """Make a plan of `size` tasks; needs point backwards only, so it has no cycle."""
    phases = _assign_phases(rng, size) if phased else [None] * size
    shape = rng.choice(("loose", "chains", "layers", "tight"))
    needs = [_make_needs(rng, shape, place) for place in range(size)]
    tasks = [
        replace(_make_task(rng, place, agents, verify=verify), phase=phases[place], needs=needs[place])
        for place in range(size)
    ]
    checked = build_checked_plan(tasks, phases=_make_phases(rng, tasks))
    assert checked.plan is not None, checked.problems
    return checked.plan


def _task_id(place: int) -> str:
    return f"t{place + 1:02}"


def _make_needs(rng: Random, shape: str, place: int) -> tuple[Need, ...]:
    if place == 0:
        return ()
    match shape:
        case "loose":
            chosen = rng.sample(range(place), k=min(place, rng.choice((0, 0, 0, 1, 2))))
        case "chains":
            chosen = [place - 1] if rng.random() < 0.7 else []
        case "layers":
            below = range(max(0, place // 5 * 5 - 5), place // 5 * 5)
            chosen = rng.sample(below, k=min(len(below), rng.choice((0, 1, 1, 2, 3))))
        case _:
            chosen = rng.sample(range(place), k=min(place, rng.choice((1, 1, 2, 3))))
    kind = NeedKind.CHAIN if shape == "chains" else NeedKind.NEED
    return tuple(Need(_task_id(on), kind, "said so") for on in sorted(chosen))


def _make_task(rng: Random, place: int, agents: tuple[str, ...], *, verify: float) -> Task:
    return Task(
        _task_id(place),
        title=f"Task {place + 1}",
        touches=tuple(sorted(rng.sample(FILES, k=rng.choice((0, 0, 0, 1, 1, 2))))),
        conflicts_with=(_task_id(rng.randrange(place)),) if place and rng.random() < 0.1 else (),
        exclusive=rng.choice(GROUPS) if rng.random() < 0.12 else None,
        gating=rng.random() < 0.85,
        priority=rng.choice((0, 1, 1, 1, 2)),
        weight=round(rng.uniform(0.5, 4.0), 2),
        estimate=round(rng.uniform(10, 300), 1) if rng.random() < 0.3 else None,
        slots=rng.choice((1, 1, 1, 1, 1, 1, 2, 3)),
        allow_empty=rng.random() < 0.15,
        agent=rng.choice(agents) if rng.random() < 0.4 else None,
        verify="make test" if rng.random() < verify else None,
        timeout=round(rng.uniform(60, 300)) if rng.random() < 0.2 else None,
        retries=rng.randrange(4) if rng.random() < 0.3 else None,
    )


def _assign_phases(rng: Random, size: int) -> list[str | None]:
    """Assign phases in written order, so that needs, which point backwards, agree with them."""
    cuts = sorted(rng.randrange(size + 1) for _ in range(rng.choice((1, 2))))
    return [str(1 + sum(cut <= place for cut in cuts)) for place in range(size)]


def _make_phases(rng: Random, tasks: list[Task]) -> tuple[Phase, ...]:
    keys = sorted({task.phase for task in tasks if task.phase is not None})
    phases = []
    for place, key in enumerate(keys):
        gating = sum(task.gating for task in tasks if task.phase == key)
        settled, missing = rng.choice(((0, 0), (0, 0), (1, 0), (0, 1), (2, 1)))
        earlier = [task.id for task in tasks if task.phase is not None and task.phase < key]
        phases.append(
            Phase(
                key,
                after=tuple(keys[:place]) if rng.random() < 0.9 else (),
                total=gating + settled + missing,
                settled=settled,
                opens_with=rng.choice(earlier) if earlier and rng.random() < 0.25 else None,
                gate=rng.choice((0.5, 1.0)) if rng.random() < 0.2 else None,
            )
        )
    return tuple(phases)
