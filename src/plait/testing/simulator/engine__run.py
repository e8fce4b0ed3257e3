"""One simulated run, from a scenario to a journal that has passed the audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from plait.core.events import Record
from plait.core.status import TaskStatus
from plait.testing.laws.auditor import Auditor
from plait.testing.simulator.engine import EngineOptions, SimEngine
from plait.testing.simulator.engine__crashes import CrashPlan, NoCrashes, RandomCrashes
from plait.testing.simulator.engine__watchdog import limit_run_time
from plait.testing.simulator.scenario import Scenario
from plait.testing.simulator.seeded_random import SeededRandom
from plait.testing.simulator.world import World


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """What a run left behind."""

    journal: tuple[Record, ...]
    end_statuses: Mapping[tuple[str, str], TaskStatus | None]
    kinds: Counter[str]
    crashes: int


def simulate(scenario: Scenario, crashes: CrashPlan | None = None) -> SimulationResult:
    """Run the scenario to its end; raise Violation when a law is broken on the way."""
    world = World(scenario)
    auditor = Auditor(world.branches.tasks_in, [submit.batch for submit in scenario.submits])
    chance = SeededRandom(scenario.seed, "engine")
    if crashes is None:
        crashes = RandomCrashes(chance, scenario.rates.crashes) if scenario.rates.crashes else NoCrashes()
    engine = SimEngine(world, auditor, crashes, chance, EngineOptions(through_codec=scenario.seed % 4 == 0))
    try:
        with limit_run_time():
            journal = engine.run()
    except Exception as error:
        error.journal = engine.journal  # type: ignore[attr-defined]  # for whoever wants to read what led to it
        raise
    return SimulationResult(tuple(journal), auditor.end_statuses(), auditor.kinds, engine.crash_count)
