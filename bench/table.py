"""Rows of a benchmark: a value, the floor it is measured against in the same run, and what is wished for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Row:
    """`floor` is what the bare minimum of the same work takes, in the same unit."""

    name: str
    value: float
    unit: str
    floor: float | None = None
    wish: str = ""

    @property
    def ratio(self) -> float | None:
        return self.value / self.floor if self.floor else None


def show(title: str, rows: Sequence[Row]) -> None:
    table = Table("what", "value", "unit", "floor", "ratio", "wish", title=title, title_justify="left")
    for row in rows:
        floor = "" if row.floor is None else f"{row.floor:,.3f}"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}x"
        table.add_row(row.name, f"{row.value:,.3f}", row.unit, floor, ratio, row.wish)
    Console().print(table)


def save(name: str, rows: Sequence[Row]) -> Path:
    """Write the rows with their ratios to results/<name>.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps([{**asdict(row), "ratio": row.ratio} for row in rows], indent=2) + "\n")
    return path


def interleaved(rounds: int, *works: Callable[[], object]) -> Sequence[float]:
    """The median seconds of each, taken in turns so that a slow moment of the machine meets all of them."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, times, strict=True):
            began = perf_counter()
            work()
            taken.append(perf_counter() - began)
    return [median(taken) for taken in times]
