"""How long a graph takes whose optimum is known: sleeping tasks on eight slots, against the lower bound.

What a runner takes for a single no-op is taken out, so that what is left is the order it chose and what it costs per task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.graphs import Graph, Node, chain_last, lower_bound, tight
from bench.ours import at_home, left, run
from bench.peers import FLOOR, PEERS, Runner, install
from bench.table import Row
from tests.support.temp_project import TempProject

SLOTS = 8
_OTHERS = ("xargs", "make", "ninja")
_STARTS = 3
_WISH = "at most 1.03x"


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    install()
    span = 4.0 if quick else 20.0
    graphs = {"tight": tight(SLOTS, span), "long chain declared last": chain_last(SLOTS, span)}
    return [row for name, graph in graphs.items() for row in _compared(name, graph)]


def _compared(name: str, graph: Graph) -> Iterator[Row]:
    bound = lower_bound(graph, SLOTS)
    with TemporaryDirectory() as folder:
        for what, seconds, wish in (*_ours(graph, Path(folder)), *_theirs(graph, Path(folder))):
            yield Row(f"{name}, {len(graph)} tasks: {what}", seconds, "s", bound, wish)


def _ours(graph: Graph, folder: Path) -> Iterator[tuple[str, float, str]]:
    with _home(folder / "start", [Node("t0")]) as home:
        start = median(_timed(lambda: _batch(home)) for _ in range(_STARTS))
    with _home(folder / "given", graph, given=True) as home:
        yield "plait, durations given", _timed(lambda: _batch(home)) - start, _WISH
    with _home(folder / "learnt", graph) as home:
        yield "plait, nothing known", _timed(lambda: _batch(home)) - start, ""
        left(home)
        yield "plait, learnt from that", _timed(lambda: _batch(home)) - start, _WISH


def _theirs(graph: Graph, folder: Path) -> Iterator[tuple[str, float, str]]:
    runners: list[Runner] = [FLOOR, *(peer for peer in PEERS if peer.name.startswith(_OTHERS))]
    for runner in runners:
        if not runner.missing:
            start = median(_once(runner, [Node("t0")], folder / f"{runner.name} {n}") for n in range(_STARTS))
            yield runner.name, _once(runner, graph, folder / runner.name) - start, ""


def _once(runner: Runner, graph: Graph, folder: Path) -> float:
    with runner.ready(graph, folder, SLOTS) as work:
        return _timed(work)


@contextmanager
def _home(folder: Path, graph: Graph, *, given: bool = False) -> Iterator[TempProject]:
    with at_home(folder) as home:
        (home.top / "plait.toml").write_text("[engine]\nparallel_limit = 0\n")
        for node in graph:
            front = f"needs: [{', '.join(node.needs)}]\n"
            if given:
                front += f"estimate: {node.seconds:.3f}\n"
            home.task(node.name, f"exec {' '.join(node.command)}", front=front)
        yield home
        left(home)


def _batch(home: TempProject) -> None:
    run(home, "tasks", "-p", str(SLOTS))


def _timed(work: Callable[[], None]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began
