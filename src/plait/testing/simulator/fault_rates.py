"""How often things go wrong. Each number is a probability (per attempt, merge, gate, report …) or a rate per hour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from random import Random
from typing import Any

from plait.core.reports import Report
from plait.core.status import Category
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.seeded_random import SeededRandom

FAILURES = (
    Category.TASK,
    Category.TASK,
    Category.TASK,
    Category.EMPTY,
    Category.OVERLOADED,
    Category.NETWORK,
    Category.KILLED,
    Category.CONTEXT,
    Category.USAGE,
    Category.QUOTA,
    Category.AUTH,
)


@dataclass(frozen=True, slots=True)
class FaultRates:
    """The rates. `calm`: outcomes depend only on the seed and the attempt's name, and there are no user requests."""

    calm: bool = False
    horizon: float = 0.0  # seconds; afterwards there are no requests and no faults, so that everything can end

    fail: float = 0.0
    hang: float = 0.0
    lost: float = 0.0
    ask: float = 0.0
    verify_fail: float = 0.0
    conflict: float = 0.0
    merge_fail: float = 0.0
    clash: float = 0.0
    bad_tip: float = 0.0
    bad_base: float = 0.0
    gate_flaky: float = 0.0
    late_report: float = 0.0
    duplicate_report: float = 0.0
    overspend: float = 0.0
    invalid_request: float = 0.0
    publish_fail: float = 0.0

    refusal_windows: float = 0.0  # per hour and provider: it refuses all attempts
    limited_provider: float = 0.0  # the chance that a provider refuses all beyond a few at once
    pressure: float = 0.0  # per hour
    node_deaths: float = 0.0
    machine_deaths: float = 0.0
    clock_jumps: float = 0.0
    user_requests: float = 0.0
    capacity_changes: float = 0.0  # per hour: the machine's capacity changes
    crashes: float = 0.0  # per 1000 records

    failures: tuple[Category, ...] = FAILURES  # how attempts fail, the frequent ways several times
    nodes: int = 1  # that attempts run on; with one, its death ends all of them
    slots_per_node: int = 0  # 0: any number
    pace: float = 1.0  # how many times as long as usual attempts take
    merge_seconds: tuple[float, float] = (0.1, 4.0)  # the shortest and the longest merge

    blocked: float = 0.0  # a task's first merges fail because the batch branch is checked out
    pruned: float = 0.0  # a result is gone before it is committed or merged
    uncommitted: float = 0.0  # an attempt's result can't be committed at once
    outages: float = 0.0  # an attempt that is lost was cut off with its whole cluster


CALM_RATES = FaultRates(
    calm=True,
    fail=0.2,
    hang=0.04,
    verify_fail=0.15,
    conflict=0.08,
    bad_tip=0.1,
    overspend=0.3,
    publish_fail=0.15,
)
STORM_RATES = FaultRates(
    horizon=4000.0,
    fail=0.3,
    hang=0.1,
    lost=0.08,
    ask=0.1,
    verify_fail=0.3,
    conflict=0.2,
    merge_fail=0.12,
    clash=0.15,
    bad_tip=0.2,
    bad_base=0.1,
    gate_flaky=0.1,
    late_report=0.15,
    duplicate_report=0.1,
    overspend=0.4,
    invalid_request=0.1,
    publish_fail=0.3,
    refusal_windows=4.0,
    limited_provider=0.5,
    pressure=3.0,
    node_deaths=1.5,
    machine_deaths=0.7,
    clock_jumps=2.0,
    user_requests=90.0,
    capacity_changes=20.0,
    crashes=6.0,
    outages=0.25,
)


def vary_rates(rng: Random) -> FaultRates:
    """Vary the rates: in each run some faults never happen, others more often, so that rare mixtures occur."""
    horizon = rng.choice((600.0, 1500.0, 4000.0))
    knobs: dict[str, Any] = {name: _vary_rate(rng, getattr(STORM_RATES, name)) for name in _VARIED}
    crashes = rng.choice((0.0, 3.0, 8.0, 20.0))
    return replace(replace(STORM_RATES, **knobs), calm=False, horizon=horizon, crashes=crashes)


def add_merge_blockers(rng: Random, weather: FaultRates) -> FaultRates:
    """In some stormy runs, check out the batch branch, so that merges fail; the other runs are unchanged."""
    if rng.random() < 0.75:
        return weather
    return replace(weather, blocked=rng.choice((0.3, 0.7)), pruned=rng.choice((0.0, 0.15)))


def add_commit_failures(rng: Random, weather: FaultRates) -> FaultRates:
    """In some runs, let commits of results fail at first; the other runs are unchanged."""
    return weather if rng.random() < 0.75 else replace(weather, uncommitted=rng.choice((0.2, 0.7)))


def _vary_rate(rng: Random, usual: float) -> float:
    value = 0.0 if rng.random() < 0.35 else usual * rng.uniform(0.3, 1.8)
    return min(value, 0.8) if usual <= 1 else value


_UNVARIED = {
    *("calm", "horizon", "crashes", "blocked", "pruned", "uncommitted", "outages"),
    *("failures", "nodes", "slots_per_node", "pace", "merge_seconds"),
}
_VARIED = tuple(field.name for field in fields(FaultRates) if field.name not in _UNVARIED)


@dataclass(frozen=True, slots=True)
class SimContext:
    """What every part of the simulated world shares; `send` delivers a report to the engine."""

    time: EventQueue
    chance: SeededRandom
    rates: FaultRates
    send: Callable[[Report], None]
