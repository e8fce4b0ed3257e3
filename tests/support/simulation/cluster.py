"""One large batch on a simulated cluster whose nodes die: its makespan against the lower bound, its records, its memory."""

from __future__ import annotations

import gc
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NoReturn

import psutil

from plait.core.decisions import AttemptStarted, BatchEnded, TaskEnded
from plait.core.events import Record
from plait.core.graph import build_checked_plan
from plait.core.plan import Plan
from plait.core.reducers import evolve
from plait.core.reports import AttemptExited, AttemptLost, MergeDone
from plait.core.requests import ChangeEngineSettings, Submit
from plait.core.settings import Backoff, EngineSettings, ExecutorKind, FileConflicts, Settings
from plait.core.state import State
from plait.core.status import Category, TaskStatus
from plait.core.task import Attempt, Need, Task
from plait.store import codec
from plait.testing.simulator.engine import CrashOnce, EngineOptions, NoCrashes, SimEngine
from plait.testing.simulator.fault_rates import FaultRates
from plait.testing.simulator.observer import Violation
from plait.testing.simulator.scenario import Scenario
from plait.testing.simulator.seeded_random import SeededRandom
from plait.testing.simulator.world import World

_AGENT = "amber"
_BATCH = "b1"


@dataclass(frozen=True, slots=True)
class ClusterForm:
    """A fifth of the tasks need another one, and all declare one of `files`, which two tasks never change at once."""

    tasks: int
    nodes: int
    slots_per_node: int = 4
    node_deaths: float = 0.06  # per node and hour
    crash_at: int = 0  # the engine dies once, after so many records; 0: never

    @property
    def files(self) -> int:
        return self.tasks * 2


SHORT_CLUSTER = ClusterForm(tasks=2_000, nodes=50, crash_at=9_000)
LONG_CLUSTER = ClusterForm(tasks=100_000, nodes=1_000, crash_at=500_000)


@dataclass(frozen=True, slots=True)
class ClusterResult:
    """Times are simulated seconds, but for `cpu_seconds`. `bounds` are lower bounds of the makespan, by what they follow from."""

    form: ClusterForm
    makespan: float
    bounds: Mapping[str, float]
    records: int
    journal_bytes: int
    state_bytes: int
    cpu_seconds: float
    replay_seconds: float
    attempts: int
    lost_attempts: int
    statuses: Mapping[str, int]

    @property
    def ratio(self) -> float:
        return self.makespan / max(self.bounds.values())


def run_cluster(form: ClusterForm, seed: int = 1) -> ClusterResult:
    """Raises Violation if a task is lost, ends twice, or more runs at once than the cluster has slots."""
    plan = _make_plan(form, SeededRandom(seed, "cluster").stream("plan"))
    world = World(_make_scenario(form, plan, seed))
    watcher = _Watcher(form.tasks)
    crashes = CrashOnce(form.crash_at) if form.crash_at else NoCrashes()
    conduct = EngineOptions(max_records=form.tasks * 40)
    engine = SimEngine(world, watcher, crashes, SeededRandom(seed, "engine"), conduct)
    began = time.process_time()
    journal = engine.run()
    cpu_seconds = time.process_time() - began
    submitted = next(record.at for record in journal if isinstance(record.event, Submit))
    runs = world.executor.runs
    durations: defaultdict[str, float] = defaultdict(float)
    for run in runs:
        if not isinstance(run.end_report, AttemptLost):  # a lost attempt is no work that had to be done
            durations[run.attempt.task] += run.script.launches_in + run.script.lasts
    merges = sum(isinstance(record.event, MergeDone) for record in journal)
    lines = [codec.encode_record(record) for record in journal]
    del engine, world, journal
    state_bytes, replay_seconds = _measure_replay(lines)
    return ClusterResult(
        form,
        watcher.ended_at - submitted,
        {
            "work / slots": sum(durations.values()) / (form.nodes * form.slots_per_node),
            "longest chain": _find_longest_chain(plan, durations),
            "tasks of one file, one after the other": _find_busiest_file(plan, durations),
            "one merge after the other": merges * sum(_MERGE_SECONDS) / 2,
        },
        len(lines),
        sum(map(len, lines)),
        state_bytes,
        cpu_seconds,
        replay_seconds,
        len(runs),
        watcher.lost,
        {status.value: count for status, count in watcher.statuses.items()},
    )


def format_cluster(result: ClusterResult) -> str:
    form, (name, bound) = result.form, max(result.bounds.items(), key=lambda item: item[1])
    ended = ", ".join(f"{count:,} {status}" for status, count in sorted(result.statuses.items()))
    rows = [
        (f"{form.tasks:,} tasks on {form.nodes:,} nodes", ended),
        ("attempts", f"{result.attempts:,}, of them {result.lost_attempts:,} lost with their node"),
        ("makespan", f"{result.makespan:,.0f} s, {result.ratio:.3f} of the lower bound {bound:,.0f} s ({name})"),
        (
            "records",
            f"{result.records:,}: {result.records / form.tasks:.1f} a task, {result.journal_bytes / 2**20:,.0f} MiB",
        ),
        ("engine's state", f"{result.state_bytes / 2**20:,.0f} MiB, replayed in {result.replay_seconds:.1f} s"),
        (
            "CPU, world included",
            f"{result.cpu_seconds:,.1f} s: {1e6 * result.cpu_seconds / result.records:,.0f} µs a record",
        ),
    ]
    return "\n".join(f"{name:<30}{value}" for name, value in rows)


_MERGE_SECONDS = (0.02, 0.06)  # about what one takes in a repository of some thousand files


def _make_scenario(form: ClusterForm, plan: Plan, seed: int) -> Scenario:
    slots = form.nodes * form.slots_per_node
    expected = 60.0 + form.tasks * 500.0 / slots  # a guess: afterwards no node dies any more
    settings = Settings(
        agents=(_AGENT,),
        max_parallel=0,
        executor=ExecutorKind.RAY,
        file_conflicts=FileConflicts.DECLARED,
        backoff=Backoff(5.0, 2.0, 60.0),
        timeout=20_000.0,
        idle_timeout=20_000.0,
    )
    unlimited = ChangeEngineSettings("limits", EngineSettings(parallel_limit=0), ("parallel_limit",))
    rates = FaultRates(
        horizon=expected,
        fail=0.03,
        failures=(Category.TASK, Category.EMPTY, Category.NETWORK, Category.KILLED, Category.CONTEXT),
        conflict=0.002,
        merge_fail=0.001,
        node_deaths=form.node_deaths * form.nodes,
        nodes=form.nodes,
        slots_per_node=form.slots_per_node,
        pace=10.0,
        merge_seconds=_MERGE_SECONDS,
    )
    submit = Submit("submit", _BATCH, plan, settings, base="base")
    return Scenario(seed, rates, ((0.0, unlimited), (1.0, submit)))


def _make_plan(form: ClusterForm, rng: Random) -> Plan:
    tasks = [
        Task(
            f"t{number}",
            touches=(f"src/{rng.randrange(form.files)}.py",),
            needs=(Need(f"t{rng.randrange(number)}"),) if number and rng.random() < 0.2 else (),
        )
        for number in range(form.tasks)
    ]
    checked = build_checked_plan(tasks)
    assert checked.plan is not None, checked.problems[:3]
    return checked.plan


def _find_longest_chain(plan: Plan, durations: Mapping[str, float]) -> float:
    """Needs point backwards."""
    ends: dict[str, float] = {}
    for task in plan.tasks:
        ends[task.id] = durations.get(task.id, 0.0) + max((ends[need.on] for need in task.needs), default=0.0)
    return max(ends.values())


def _find_busiest_file(plan: Plan, durations: Mapping[str, float]) -> float:
    by_file: defaultdict[str, float] = defaultdict(float)
    for task in plan.tasks:
        for file in task.touches:
            by_file[file] += durations.get(task.id, 0.0)
    return max(by_file.values())


def _measure_replay(lines: Sequence[bytes]) -> tuple[int, float]:
    """The memory that the state of a journal takes, and how long it takes to read it, in a process of its own."""
    with TemporaryDirectory() as folder, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        path = Path(folder) / "records"
        path.write_bytes(b"\n".join(lines))
        return pool.submit(_replay_file, path).result()


def _replay_file(path: Path) -> tuple[int, float]:
    process, state = psutil.Process(), State()
    before, began = process.memory_info().rss, time.process_time()
    with path.open("rb") as file:
        for line in file:
            evolve(state, codec.decode_record(line))
    seconds = time.process_time() - began
    gc.collect()
    return process.memory_info().rss - before, seconds


class _Watcher:
    """An observer that keeps no second state, and checks that nothing is lost or done twice."""

    def __init__(self, tasks: int) -> None:
        self.kinds: Counter[str] = Counter()
        self.statuses: Counter[TaskStatus] = Counter()
        self.lost = 0
        self.ended_at = 0.0
        self._tasks = tasks
        self._alive: set[Attempt] = set()
        self._ended: set[str] = set()

    def observe(self, record: Record) -> None:
        event = record.event
        match event:
            case AttemptStarted(attempt):
                if attempt.task in self._ended:
                    raise Violation("twice", f"{attempt} started, and its task has ended")
                self._alive.add(attempt)
            case AttemptExited(attempt):
                self._alive.discard(attempt)
            case AttemptLost(attempt):
                self.lost += 1
                self._alive.discard(attempt)
            case TaskEnded(_, task, status):
                if task in self._ended:
                    raise Violation("twice", f"{task} ended twice")
                self._ended.add(task)
                self.statuses[status] += 1
            case BatchEnded():
                self.ended_at = record.at
                if len(self._ended) != self._tasks or self._alive:
                    raise Violation("lost", f"{len(self._ended)} of {self._tasks} tasks ended; {len(self._alive)} run")
            case _:
                pass

    def check_idle(self, at: float, wake: float | None, state: State) -> None:
        pass

    def fail_stuck(self, why: str) -> NoReturn:
        raise Violation("stuck", why)

    @property
    def is_finished(self) -> bool:
        return bool(self.ended_at)

    def end_statuses(self) -> Mapping[tuple[str, str], TaskStatus | None]:
        return {}
