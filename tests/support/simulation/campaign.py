"""Many runs: what one process does, and the combined result as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from plait.core.events import Record
from plait.store.codec import EVENT_TYPES, encode_record
from plait.testing.simulator.engine import CrashOnce, CrashPlan, NoCrashes, SimulationResult, simulate
from plait.testing.simulator.observer import Violation
from plait.testing.simulator.scenario import Scenario, make_calm, make_stormy
from tests.support.laws.auditor import Auditor

MAX_REPORTED = 20


@dataclass(frozen=True, slots=True)
class SimulationJob:
    """`kind` is storm, twin (a storm run twice) or crash (a calm run, and one more for each record of it)."""

    kind: str
    seeds: range


@dataclass(slots=True)
class CampaignResult:
    runs: int = 0
    records: int = 0
    crashes: int = 0
    crash_points: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def __iadd__(self, other: CampaignResult) -> Self:
        self.runs += other.runs
        self.records += other.records
        self.crashes += other.crashes
        self.crash_points += other.crash_points
        self.kinds += other.kinds
        self.violations += other.violations
        return self

    def add(self, result: SimulationResult) -> None:
        self.runs += 1
        self.records += len(result.journal)
        self.crashes += result.crashes
        self.kinds += result.kinds

    @property
    def unseen_kinds(self) -> list[str]:
        return [kind for kind in EVENT_TYPES if not self.kinds[kind]]


def audit_run(scenario: Scenario, crashes: CrashPlan | None = None) -> SimulationResult:
    """Simulate, and check every record against the laws."""
    return simulate(scenario, crashes, lambda world, batches: Auditor(world.branches.tasks_in, batches))


def run_job(job: SimulationJob) -> CampaignResult:
    tally = CampaignResult()
    for seed in job.seeds:
        if len(tally.violations) < MAX_REPORTED:
            _JOB_KINDS[job.kind](tally, seed)
    return tally


def replay(kind: str, seed: int, crash: int | None) -> tuple[Sequence[Record], Exception | None]:
    """One run again, with its journal up to where a law was broken."""
    scenario = (make_calm if kind == "calm" else make_stormy)(seed)
    crashes = CrashOnce(crash) if crash is not None else None
    try:
        return audit_run(scenario, crashes).journal, None
    except Exception as error:  # noqa: BLE001 - a broken law or a broken core: both are to be shown
        return getattr(error, "journal", ()), error


def _run_storm(tally: CampaignResult, seed: int) -> None:
    _try_run(tally, f"--seed {seed}", make_stormy(seed), None)


def _run_twice(tally: CampaignResult, seed: int) -> None:
    """The same seed gives the same journal, to the byte."""
    runs = [_try_run(tally, f"--seed {seed}", make_stormy(seed), None) for _ in range(2)]
    journals = [[encode_record(record) for record in each.journal] for each in runs if each is not None]
    if len(journals) == 2 and journals[0] != journals[1]:
        place = next((n for n, (a, b) in enumerate(zip(*journals, strict=False)) if a != b), 0)
        tally.violations.append(f"determinism: two runs differ from record {place + 1} on\n  replay: --seed {seed}")


def _run_with_crashes(tally: CampaignResult, seed: int) -> None:
    """Crash after every record of a calm run: the same tasks get done."""
    whole = _try_run(tally, f"--kind calm --seed {seed}", make_calm(seed), NoCrashes())
    if whole is None:
        return
    for point, crashes in _crash_plans(whole):
        again = _try_run(tally, f"--kind calm --seed {seed} --crash {point}", make_calm(seed), crashes)
        tally.crash_points += 1
        if again is not None and again.end_statuses != whole.end_statuses:
            changed = [name for name, status in whole.end_statuses.items() if again.end_statuses[name] is not status]
            message = f"crash: after record {point}, {changed} ended otherwise than without the crash"
            tally.violations.append(f"{message}\n  replay: --kind calm --seed {seed} --crash {point}")
        if len(tally.violations) >= MAX_REPORTED:
            return


def _crash_plans(whole: SimulationResult) -> Iterator[tuple[int, CrashPlan]]:
    """After each record; in turn with nothing, half and all performed of what the last group had decided."""
    for point in range(1, len(whole.journal) + 1):
        yield point, CrashOnce(point, (0.0, 0.5, 1.0)[point % 3])


def _try_run(tally: CampaignResult, how: str, scenario: Scenario, crashes: CrashPlan | None) -> SimulationResult | None:
    try:
        result = audit_run(scenario, crashes)
    except Violation as violation:
        tally.violations.append(f"{violation}\n  replay: {how}")
    except Exception as error:  # noqa: BLE001 - the core itself fell over: that is a finding, not the end of the sim
        tally.violations.append(f"{type(error).__name__}: {error}\n  replay: {how}")
    else:
        tally.add(result)
        return result
    return None


_JOB_KINDS: dict[str, Callable[[CampaignResult, int], None]] = {
    "storm": _run_storm,
    "twin": _run_twice,
    "crash": _run_with_crashes,
}
PROGRAM = "python -m tests.support.simulation"


def format_result(total: CampaignResult, seconds: float, *, complete: bool) -> str:
    rows = [
        ("runs", f"{total.runs:,}"),
        ("records", f"{total.records:,}"),
        ("crash points", f"{total.crash_points:,}"),
        ("crashes in storms", f"{total.crashes - total.crash_points:,}"),
        ("kinds of events", f"{len(EVENT_TYPES) - len(total.unseen_kinds)} of {len(EVENT_TYPES)}"),
        ("records per second", f"{total.records / max(seconds, 1e-9):,.0f}"),
        ("seconds", f"{seconds:.1f}"),
    ]
    lines = [f"{name:<20}{value:>12}" for name, value in rows]
    if total.unseen_kinds:
        lines.append(f"never seen: {', '.join(total.unseen_kinds)}{'' if complete else ' (few runs: no failure)'}")
    lines += total.violations[:MAX_REPORTED]
    count = len(total.violations)
    lines.append(f"{count} violation{'' if count == 1 else 's'}")
    return "\n".join(lines).replace("replay: ", f"replay: {PROGRAM} ")
