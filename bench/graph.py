"""Building and checking a plan, against bare graphlib ordering the same graph."""

from __future__ import annotations

import random
from graphlib import TopologicalSorter

from bench.table import Row, interleaved
from plait.core.graph import build_checked_plan
from plait.core.task import Need, Task

Graph = dict[str, tuple[str, ...]]


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    size, rounds = (10_000, 3) if quick else (100_000, 7)
    graph = _layered(size, edges=3 * size)
    tasks = _tasks(graph)
    touching = [
        Task(task.id, needs=task.needs, touches=(f"src/{place % 997}/{place}.py", f"tests/{place}.py"))
        for place, task in enumerate(tasks)
    ]
    knotted = _tasks(_knots(size))
    floor, plain, files, cyclic = interleaved(
        rounds,
        lambda: tuple(TopologicalSorter(graph).static_order()),
        lambda: build_checked_plan(tasks),
        lambda: build_checked_plan(touching),
        lambda: build_checked_plan(knotted),
    )
    edges = sum(map(len, graph.values()))
    what = f"{size:,} tasks, {edges:,} edges"
    return [
        Row(f"build and check {what}", plain, "s", floor, "at most 4x"),
        Row("the same, every task touches 2 files", files, "s", floor),
        Row(f"report {size // 5:,} cycles among {size:,} tasks", cyclic, "s", floor),
    ]


def _layered(size: int, edges: int) -> Graph:
    chance = random.Random(7)
    needs: list[set[int]] = [set() for _ in range(size)]
    missing = edges
    while missing:
        place = chance.randrange(1, size)
        before = chance.randrange(max(0, place - 5_000), place)
        if before not in needs[place]:
            needs[place].add(before)
            missing -= 1
    return {f"task-{place}": tuple(f"task-{before}" for before in row) for place, row in enumerate(needs)}


def _knots(size: int) -> Graph:
    """Rings of five, each hanging on the one before."""
    graph = {}
    for place in range(size):
        before = [place - 1 if place % 5 else place + 4]
        if not place % 5 and place:
            before.append(place - 2)
        graph[f"task-{place}"] = tuple(f"task-{other}" for other in before)
    return graph


def _tasks(graph: Graph) -> list[Task]:
    return [Task(name, needs=tuple(Need(on) for on in needs)) for name, needs in graph.items()]
