"""The simulator and the contract suites: shipped, so that plugins can be held to the same laws."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.testing.laws.auditor import Auditor
    from plait.testing.laws.violation import Violation
    from plait.testing.simulator.engine import SimEngine
    from plait.testing.simulator.scenario import Scenario, calm, stormy
    from plait.testing.simulator.world import World

__all__ = ["Auditor", "Scenario", "SimEngine", "Violation", "World", "calm", "stormy"]

# Imported when asked for: the contract suites need no simulator, and mutants change the core before anything imports it.
_HOMES = {
    "Auditor": "audit",
    "Scenario": "scenario",
    "SimEngine": "engine",
    "Violation": "audit",
    "World": "world",
    "calm": "scenario",
    "stormy": "scenario",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
