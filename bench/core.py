"""The core by itself: the cost of a record in small and large batches, and replaying a long journal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from statistics import median
from time import perf_counter

from bench.table import Row
from plait.core.estimate import forecast_batch
from plait.core.events import Record
from plait.core.graph import build_checked_plan
from plait.core.plan import Plan
from plait.core.reducers import evolve
from plait.core.requests import Submit
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.settings import Order, Settings
from plait.core.state import State
from plait.core.task import Need, Phase, Task
from plait.core.views import make_batch_view
from plait.store import codec
from tests.support.generated_journal import records_of

SMALL, LARGE = 100, 10_000


def independent(n: int) -> Plan:
    return _plan(Task(f"t{i}") for i in range(n))


def chain(n: int) -> Plan:
    return _plan(Task(f"t{i}", needs=(Need(f"t{i - 1}"),) if i else ()) for i in range(n))


def layers(n: int) -> Plan:
    width = 20
    return _plan(
        Task(f"t{i}", needs=tuple(Need(f"t{j}") for j in range(max(0, i - width - 2), i - width + 1) if j >= 0))
        for i in range(n)
    )


def one_file(n: int) -> Plan:
    return _plan(Task(f"t{i}", touches=("src/app.py", f"src/{i % 50}.py")) for i in range(n))


def phased(n: int) -> Plan:
    size = n // 10
    phases = [Phase(f"p{k}", total=size, after=tuple(f"p{j}" for j in range(k))) for k in range(10)]
    return _plan((Task(f"t{i}", phase=f"p{i // size}") for i in range(n)), phases)


def failing(n: int) -> Plan:
    """One failure blocks half of the batch."""
    first = Task("t0", retries=0)
    return _plan([first, *(Task(f"t{i}", needs=(Need("t0"),) if i % 2 else ()) for i in range(1, n))])


SHAPES: dict[str, tuple[Callable[[int], Plan], Settings]] = {
    "independent, 4 at once": (independent, Settings()),
    "independent, no limit": (independent, Settings(max_parallel=0)),
    "a chain": (chain, Settings()),
    "layers": (layers, Settings(order=Order.QUICK_FIRST)),
    "all touch one file": (one_file, Settings(max_parallel=0)),
    "ten phases": (phased, Settings()),
    "verified and gated": (independent, Settings(verify="v", gate="g", max_parallel=16)),
    "one failure blocks half": (failing, Settings()),
}


def rows(quick: bool) -> list[Row]:  # noqa: FBT001
    shapes = [_per_record(name, quick) for name in SHAPES]
    return [*shapes, *_replay(100_000 if quick else 1_000_000), *_reading()]


def run(plan: Plan, settings: Settings, records: list[Record] | None = None) -> tuple[int, float]:
    """A whole batch without a world. Gives records and seconds."""
    begin = perf_counter()
    made = records_of(plan, settings)
    took = perf_counter() - begin
    if records is not None:
        records += made
    return len(made), took


def _per_record(name: str, quick: bool) -> Row:  # noqa: FBT001
    """Small and large batches are run in turn, so that a busy machine is busy for both."""
    shape, settings = SHAPES[name]
    small, large = shape(SMALL), shape(LARGE)
    costs: list[tuple[float, float]] = []
    for _ in range(1 if quick else 3):
        little = [run(small, settings) for _ in range(LARGE // SMALL)]
        count, took = run(large, settings)
        few = sum(seconds for _, seconds in little) / sum(records for records, _ in little)
        costs.append((took / count * 1e6, few * 1e6))
    return Row(
        f"a record at {LARGE:,} tasks, {name}",
        median(cost for cost, _ in costs),
        "µs",
        median(floor for _, floor in costs),
        "≤ 2x of 100 tasks",
    )


def _replay(target: int) -> list[Row]:
    records: list[Record] = []
    run(layers(LARGE), Settings(verify="v"), records)
    lines = [codec.encode_record(record) for record in records]
    times = target // len(lines) + 1
    count = times * len(lines)
    bare = _timed(lambda: [json.loads(line) for line in lines]) * times
    begin = perf_counter()
    for _ in range(times):
        state = State()
        for line in lines:
            evolve(state, codec.decode_record(line))
    took = perf_counter() - begin
    return [Row(f"replay of {count:,} records, decoded and folded", took, "s", bare, "against json.loads alone")]


def _reading() -> list[Row]:
    state = State()
    fold_incoming(state, [Submit("r", "b", layers(LARGE), Settings(), base="0")], 0.0)
    decide_due(state, 0.0)
    batch = state.batches["b"]
    view = _timed(lambda: [make_batch_view(state, batch)])
    eta = _timed(lambda: [forecast_batch(state, "b", 0.0)])
    return [
        Row(f"view of {LARGE:,} tasks with every reason", view * 1e3, "ms"),
        Row(f"ETA of {LARGE:,} tasks", eta, "s"),
    ]


def _timed(work: Callable[[], object]) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def _plan(tasks: Iterable[Task], phases: list[Phase] | None = None) -> Plan:
    checked = build_checked_plan(list(tasks), phases=phases or [])
    assert checked.plan is not None, checked.problems[:3]
    return checked.plan
