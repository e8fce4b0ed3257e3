"""Tries one defect in a process of its own: imports a module with changed text, and simulates until a law is broken.

The run that is known to catch the defect comes first; if it no longer does, all others follow.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tests.support.mutants.defects import DEFECTS, Defect

MAX_CPU_SECONDS = 300  # beyond it SIGXCPU ends the trial: the defect has made an endless loop
ROUNDS = 60  # each a few storms, a storm run twice and a calm run crashed after every record
STORMS = 10
SURVIVED, CAUGHT = 3, 0
RUNS_FILE = Path(__file__).with_name("catching_runs.json")


def main(name: str) -> int:
    """Without a name no defect is inserted: the core must pass every run that catches a defect."""
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, resource.RLIM_INFINITY))
    runs = read_catching_runs()
    first = [runs[name]] if name in runs else sorted(set(runs.values())) if not name else []
    if name:
        graft(next(defect for defect in DEFECTS if defect.name == name))
    from tests.support.simulation.campaign import CampaignResult, SimulationJob, run_job  # only after the graft

    total = CampaignResult()
    for kind, seed in (*first, *(_all_runs() if name else ())):
        total += run_job(SimulationJob(kind, range(seed, seed + 1)))
        if total.violations:
            if "NameError" in total.violations[0]:
                sys.exit(f"{name}: the changed text names what is not there: {total.violations[0]}")
            print(f"{total.violations[0].splitlines()[0]}\t{total.records}\t{kind}\t{seed}")
            return CAUGHT
    print(f"\t{total.records}\t\t")
    return SURVIVED


def read_catching_runs() -> dict[str, tuple[str, int]]:
    """The kind and seed of the run that is known to catch a defect, by the name of the defect."""
    if not RUNS_FILE.exists():
        return {}
    return {name: (kind, seed) for name, (kind, seed) in json.loads(RUNS_FILE.read_text()).items()}


def _all_runs() -> Iterator[tuple[str, int]]:
    for turn in range(ROUNDS):
        for seed in range(turn * STORMS, (turn + 1) * STORMS):
            yield "storm", seed
        yield "twin", turn
        yield "crash", turn


class DefectNotFoundError(Exception):
    """The text to be changed is not in the module exactly once: the defect must follow the code."""


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, defect: Defect) -> None:
        super().__init__(fullname, path)
        self._defect = defect

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path).decode()
        if source.count(self._defect.old) != 1:
            raise DefectNotFoundError(f"{self._defect.name}: {self._defect.old!r} is not once in {fullname}")
        return compile(source.replace(self._defect.old, self._defect.new), self.path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, defect: Defect) -> None:
        self._defect = defect

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != f"plait.core.{self._defect.module}":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(fullname, spec.origin, self._defect)
        return spec


def graft(defect: Defect) -> None:
    """Let the module be imported with the defect; it must not have been imported yet."""
    assert f"plait.core.{defect.module}" not in sys.modules
    sys.meta_path.insert(0, _Finder(defect))


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
