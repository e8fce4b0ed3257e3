"""Graphs that every runner is given: no-ops in three shapes, and sleeping tasks whose best makespan is known."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise

_SEED = 7


@dataclass(frozen=True, slots=True)
class Node:
    """A task: it sleeps so many seconds, or does nothing at all."""

    name: str
    needs: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def command(self) -> list[str]:
        return ["sleep", f"{self.seconds:.3f}"] if self.seconds else ["true"]


Graph = Sequence[Node]


def independent(size: int) -> Graph:
    return [Node(f"t{i}") for i in range(size)]


def chain(size: int) -> Graph:
    return [Node(f"t{i}", (f"t{i - 1}",) if i else ()) for i in range(size)]


def layers(depth: int, width: int) -> Graph:
    """Each task needs the one above it and that one's two neighbours."""
    return [
        Node(
            f"t{row * width + place}",
            tuple(f"t{(row - 1) * width + (place + step) % width}" for step in (-1, 0, 1)) if row else (),
        )
        for row in range(depth)
        for place in range(width)
    ]


def tight(slots: int, span: float) -> Graph:
    """Cut from a schedule without a gap: `span` is its length, hence the work of each slot, hence the optimum.

    A task needs only what had ended when it began, so the schedule it was cut from can be had. One slot is a chain; the
    order of declaration is no help.
    """
    chance = random.Random(_SEED)
    pieces = [piece for slot in range(slots) for piece in _cut(chance, slot, span)]
    chance.shuffle(pieces)
    names = {piece: f"t{place}" for place, piece in enumerate(pieces)}
    return [
        Node(names[piece], tuple(names[need] for need in _before(chance, piece, pieces)), piece.seconds)
        for piece in pieces
    ]


def chain_last(slots: int, span: float) -> Graph:
    """Work for all slots but one, and a chain as long as the span, declared when everything else has been."""
    links = 12
    short = span / 24
    filling = [Node(f"t{i}", seconds=short) for i in range((slots - 1) * 24)]
    linked = [Node(f"c{i}", (f"c{i - 1}",) if i else (), span / links) for i in range(links)]
    return [*filling, *linked]


def lower_bound(graph: Graph, slots: int) -> float:
    """No schedule is shorter than the longest path, nor than the work shared by all slots."""
    return max(longest_path(graph), sum(node.seconds for node in graph) / slots)


def longest_path(graph: Graph) -> float:
    known = {node.name: node for node in graph}
    ends: dict[str, float] = {}
    for name in _order(graph):
        ends[name] = known[name].seconds + max((ends[need] for need in known[name].needs), default=0.0)
    return max(ends.values())


def waves(graph: Graph) -> list[list[Node]]:
    """What a runner with a barrier after each layer runs together."""
    known = {node.name: node for node in graph}
    level: dict[str, int] = {}
    for name in _order(graph):
        level[name] = 1 + max((level[need] for need in known[name].needs), default=-1)
    found: list[list[Node]] = [[] for _ in range(max(level.values()) + 1)]
    for node in graph:
        found[level[node.name]].append(node)
    return found


@dataclass(frozen=True, slots=True)
class _Piece:
    slot: int
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return round(self.end - self.begin, 3)


def _cut(chance: random.Random, slot: int, span: float) -> list[_Piece]:
    """A slot's time, cut anywhere: some pieces are long, most are not."""
    cuts = sorted(round(chance.uniform(0, span), 3) for _ in range(chance.randint(5, 15)))
    return [_Piece(slot, begin, end) for begin, end in pairwise([0.0, *cuts, span]) if begin < end]


def _before(chance: random.Random, piece: _Piece, pieces: Sequence[_Piece]) -> list[_Piece]:
    """What this piece needs: in the chain its predecessor, elsewhere some of those that ended last."""
    over = sorted((other for other in pieces if other.end <= piece.begin), key=lambda other: other.end)
    if piece.slot == 0:
        return [other for other in over if other.slot == 0][-1:]
    late = over[-12:]
    return chance.sample(late, min(len(late), chance.choice((0, 1, 2))))


def _order(graph: Graph) -> list[str]:
    return list(TopologicalSorter({node.name: node.needs for node in graph}).static_order())
