"""One defect on trial: simulated runs until one of them is caught breaking a law. Run as a process of its own."""

from __future__ import annotations

import sys

from tests.support.mutants.defects import DEFECTS
from tests.support.mutants.trial import graft

ROUNDS = 60  # each a few storms, a storm run twice and a calm run crashed after every record
STORMS = 10
SURVIVED, CAUGHT = 3, 0


def main(name: str) -> int:
    """Without a name, the healthy core is on trial."""
    if name:
        graft(next(defect for defect in DEFECTS if defect.name == name))
    from plait.testing.simulator.campaign import CampaignResult, SimulationJob, run_job  # noqa: PLC0415 - only after the graft

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


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
