"""`python -m tests.support.simulation`: many simulated runs, every record of them audited. The seeds decide, not the clock."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from plait.testing.simulator.observer import format_record
from tests.support.simulation.campaign import CampaignResult, SimulationJob, format_result, replay, run_job
from tests.support.simulation.cluster import LONG_CLUSTER, SHORT_CLUSTER, format_cluster, run_cluster

PROCESSES = 2
STORMS_PER_JOB = 8  # storms per job: enough to be worth sending, few enough to share the work evenly


@dataclass(frozen=True, slots=True)
class Campaign:
    """How much is run: storms, storms run twice to be compared, and calm runs crashed after every record."""

    storms: range
    twins: range
    calms: range


NORMAL_CAMPAIGN = Campaign(range(400), range(12), range(12))
LONG_CAMPAIGN = Campaign(range(6000), range(200), range(150))


def main(arguments: Sequence[str] | None = None) -> int:
    options = _make_parser().parse_args(arguments)
    if options.seed is not None:
        return _run_one(options.kind, options.seed, options.crash, trace=options.trace)
    if options.cluster:
        return _run_on_cluster(long=options.long)
    form = LONG_CAMPAIGN if options.long else NORMAL_CAMPAIGN
    if options.seeds is not None:
        form = Campaign(options.seeds, range(0), range(0))
    began = time.perf_counter()
    total = run_campaign(form)
    print(format_result(total, time.perf_counter() - began, complete=options.long))
    if options.seeds is None and not total.violations:
        print()
        _run_on_cluster(long=options.long)
    return 1 if total.violations or (options.long and total.unseen_kinds) else 0


def _run_on_cluster(*, long: bool) -> int:
    """Raises Violation."""
    print(format_cluster(run_cluster(LONG_CLUSTER if long else SHORT_CLUSTER)))
    return 0


def run_campaign(form: Campaign) -> CampaignResult:
    jobs = [*_make_jobs(form)]
    total = CampaignResult()
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        for tally in pool.map(run_job, jobs):
            total += tally
    return total


def _make_jobs(form: Campaign) -> Iterable[SimulationJob]:
    """The longest first, so that both processes end together."""
    for seed in form.calms:
        yield SimulationJob("crash", range(seed, seed + 1))
    for kind, seeds in (("storm", form.storms), ("twin", form.twins)):
        for start in range(seeds.start, seeds.stop, STORMS_PER_JOB):
            yield SimulationJob(kind, range(start, min(start + STORMS_PER_JOB, seeds.stop)))


def _run_one(kind: str, seed: int, crash: int | None, *, trace: bool) -> int:
    journal, violation = replay(kind, seed, crash)
    if trace:
        for record in journal:
            print(format_record(record))
    print(violation if violation is not None else f"{kind} {seed}: {len(journal)} records, no violation")
    return 0 if violation is None else 1


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.support.simulation", description=__doc__)
    parser.add_argument("--long", action="store_true", help="more than a million records")
    parser.add_argument("--seeds", type=_parse_range, metavar="A-B", help="only the storms of these seeds")
    parser.add_argument("--cluster", action="store_true", help="only the large batch on a cluster whose nodes die")
    parser.add_argument("--seed", type=int, metavar="N", help="one run")
    parser.add_argument("--kind", choices=("storm", "calm"), default="storm", help="of the one run")
    parser.add_argument("--crash", type=int, metavar="K", help="let the engine of the one run die after record K")
    parser.add_argument("--trace", action="store_true", help="print every record of the one run")
    return parser


def _parse_range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


if __name__ == "__main__":
    sys.exit(main())
