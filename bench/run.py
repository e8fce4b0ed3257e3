"""`plait run` beside other runners of graphs: the same no-op tasks, four at once, whole processes from start to exit.

The floor is a bare asyncio loop. plait is durable, adoptable and displayed all the while; what that costs at the start is
told apart from what it costs per task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.graphs import Graph, chain, independent, layers
from bench.ours import Plait
from bench.peers import FLOOR, PEERS, Runner, install
from bench.table import Row

PARALLEL = 4
START = "1 task"
OURS = (Plait("plait"), Plait("plait, on a terminal", terminal=True))

# Seconds by shape and runner; no seconds where it failed.
Times = Mapping[tuple[str, str], Sequence[float]]


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    install()
    runners: list[Runner] = [FLOOR, *OURS, *PEERS]
    there = [runner for runner in runners if not runner.missing and not (quick and runner.slow)]
    measure({START: independent(1)}, [runner for runner in there if not runner.slow], rounds=1)  # to warm up
    times = measure(_shapes(quick), there, rounds=3 if quick else 5)
    absent = [Row(f"{runner.name}: could not be installed", 0.0, "left out") for runner in runners if runner.missing]
    return [*_starts(times), *_shaped(times), _disk(), *absent]


def measure(shapes: Mapping[str, Graph], runners: Sequence[Runner], rounds: int) -> Times:
    """In turns, so that a slow moment of the machine meets all of them; the slow ones in the first round only."""
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    with TemporaryDirectory() as folder:
        for number in range(rounds):
            for shape, graph in shapes.items():
                for place, runner in enumerate(runners):
                    if runner.slow and number:
                        continue
                    own = Path(folder) / f"{number}-{place}-{len(graph)}-{shape[:3]}"
                    times[shape, runner.name] += _once(runner, graph, own)
    return times


def _once(runner: Runner, graph: Graph, folder: Path) -> Iterator[float]:
    """One that fails costs itself its row, not the run."""
    try:
        with runner.ready(graph, folder, PARALLEL) as work:
            began = perf_counter()
            work()
            took = perf_counter() - began
        yield took
    except RuntimeError as error:
        print(error)


def _shapes(quick: bool) -> dict[str, Graph]:  # noqa: FBT001
    if quick:
        return {START: independent(1), "200 independent": independent(200), "a chain of 50": chain(50)}
    return {
        START: independent(1),
        "1,000 independent": independent(1_000),
        "a chain of 200": chain(200),
        "50 x 20 layers": layers(50, 20),
    }


def _disk() -> Row:
    """plait keeps each attempt in a folder of its own, and some file systems are a hundred times slower at that."""
    count = 500
    with TemporaryDirectory() as folder:
        began = perf_counter()
        for number in range(count):
            own = Path(folder) / str(number)
            own.mkdir()
            (own / "file").touch()
        took = perf_counter() - began
    return Row("making a folder and a file here", 1e6 * took / count, "µs")


def _starts(times: Times) -> Iterator[Row]:
    floor = _typical(times, START, FLOOR.name)
    for shape, name in times:
        if shape == START:
            yield _row(times, shape, name, floor)


def _shaped(times: Times) -> Iterator[Row]:
    for shape, name in times:
        if shape != START:
            floor = _typical(times, shape, FLOOR.name)
            yield _row(times, shape, name, floor)
            if name.startswith("plait"):
                yield _without_start(times, shape, name, floor)


def _row(times: Times, shape: str, name: str, floor: float) -> Row:
    if not times[shape, name]:
        return Row(f"{shape}: {name} failed", 0.0, "left out")
    wish = "at most 2x" if name.startswith("plait") and shape != START else ""
    return Row(f"{shape}: {name}", _typical(times, shape, name), "s", floor, wish)


def _without_start(times: Times, shape: str, name: str, floor: float) -> Row:
    value = _typical(times, shape, name) - _typical(times, START, name)
    return Row(f"{shape}: {name}, without its start", value, "s", floor - _typical(times, START, FLOOR.name))


def _typical(times: Times, shape: str, name: str) -> float:
    return median(times[shape, name] or [0.0])
