"""One simulated run, from a scenario to a journal that has passed the audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from plait.core.events import Record
from plait.core.status import TaskStatus
from plait.testing.laws.auditor import Auditor
from plait.testing.simulator.engine import Conduct, SimEngine
from plait.testing.simulator.engine__crashes import Crashes, Never, Random
from plait.testing.simulator.engine__watchdog import watchdog
from plait.testing.simulator.scenario import Scenario
from plait.testing.simulator.seeded_random import Chance
from plait.testing.simulator.world import World


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left behind."""

    journal: tuple[Record, ...]
    ends: Mapping[tuple[str, str], TaskStatus | None]
    kinds: Counter[str]
    crashes: int


def run(scenario: Scenario, crashes: Crashes | None = None) -> Run:
    """Run the scenario to its end; raise Violation when a law is broken on the way."""
    world = World(scenario)
    auditor = Auditor(world.integrator.tasks_in, [submit.batch for submit in scenario.submits])
    chance = Chance(scenario.seed, "engine")
    if crashes is None:
        crashes = Random(chance, scenario.weather.crashes) if scenario.weather.crashes else Never()
    engine = SimEngine(world, auditor, crashes, chance, Conduct(through_codec=scenario.seed % 4 == 0))
    try:
        with watchdog():
            journal = engine.run()
    except Exception as error:
        error.journal = engine.journal  # type: ignore[attr-defined]  # for whoever wants to read what led to it
        raise
    return Run(tuple(journal), auditor.ends(), auditor.kinds, engine.crashed)
