"""Settings as people change them while a batch runs, one field at a time, wisely or not."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from plait.core.settings import Backoff, Budget, Isolation, Mode, OnConflict, Order, Publish, Settings, Spend
from plait.testing.simulator.scenario import AGENTS, PROVIDERS


def change_setting(rng: Random, old: Settings) -> tuple[Settings, str]:
    """New settings, and the name of the field to take from them; some must be refused."""
    new = replace(
        old,
        max_parallel=rng.choice((-1, 0, 1, 2, 5)),
        mode=rng.choice(tuple(Mode)),
        auto_approve=not old.auto_approve,
        order=rng.choice(tuple(Order)),
        isolation=rng.choice(tuple(Isolation)),
        verify=rng.choice((None, "make check")),
        gate=rng.choice((None, "make gate")),
        timeout=rng.choice((-1.0, 50.0, 600.0)),
        idle_timeout=rng.choice((40.0, 500.0)),
        verify_timeout=rng.choice((30.0, 500.0)),
        gate_timeout=rng.choice((30.0, 500.0)),
        retries=rng.randrange(5),
        repairs=rng.randrange(3),
        backoff=rng.choice((Backoff(2.0, 1.0), Backoff(30.0, 2.0, 300.0, 0.0))),
        stop_on_fail=not old.stop_on_fail,
        on_conflict=rng.choice(tuple(OnConflict)),
        phase_gate=rng.choice((0.0, 0.6, 1.0, 2.0)),
        budget=rng.choice((Budget(100_000), Budget(5_000_000), Budget(None, 50_000))),
        reserve=rng.choice((None, Spend(50_000, 500))),
        task_budget=rng.choice((None, Budget(100_000), Budget(2_000_000))),
        fallback=tuple(rng.sample(AGENTS, k=rng.choice((0, 1, 2)))),
        publish=rng.choice(tuple(Publish)),
        agents=tuple(rng.sample(AGENTS, k=rng.choice((0, 1, 2)))),
        providers=rng.choice((PROVIDERS, (("dune", "north"),))),
    )
    return new, rng.choice(CHANGEABLE_FIELDS)


CHANGEABLE_FIELDS = (
    *(
        "max_parallel",
        "mode",
        "auto_approve",
        "order",
        "isolation",
        "verify",
        "gate",
        "timeout",
        "idle_timeout",
    ),
    *(
        "verify_timeout",
        "gate_timeout",
        "retries",
        "repairs",
        "backoff",
        "stop_on_fail",
        "on_conflict",
        "phase_gate",
    ),
    *("budget", "task_budget", "reserve", "fallback", "agents", "providers", "publish", "no_such_field"),
)
