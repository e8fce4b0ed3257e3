"""One defect on trial: simulated runs until one of them is caught breaking a law. Run as a process of its own.

Import a module with its text changed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from tests.support.mutants.defects import DEFECTS, Defect

ROUNDS = 60  # each a few storms, a storm run twice and a calm run crashed after every record
STORMS = 10
SURVIVED, CAUGHT = 3, 0


def main(name: str) -> int:
    """Without a name, the healthy core is on trial."""
    if name:
        graft(next(defect for defect in DEFECTS if defect.name == name))
    from plait.testing.simulator.campaign import CampaignResult, SimulationJob, run_job  # only after the graft

    total = CampaignResult()
    for turn in range(ROUNDS):
        for kind, seeds in (
            ("storm", range(turn * STORMS, (turn + 1) * STORMS)),
            ("twin", range(turn, turn + 1)),
            ("crash", range(turn, turn + 1)),
        ):
            total += run_job(SimulationJob(kind, seeds))
            if total.violations:
                print(f"{total.violations[0].splitlines()[0]}\t{total.records}")
                return CAUGHT
    print(f"\t{total.records}")
    return SURVIVED


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
    """From now on the module is imported with the defect; it must not have been imported yet."""
    assert f"plait.core.{defect.module}" not in sys.modules
    sys.meta_path.insert(0, _Finder(defect))


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
