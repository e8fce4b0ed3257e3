"""The documentation lists every metric, and the dashboard uses no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.client.counters import DurationHistogram, JournalCounters
from plait.core.settings import NO_SPEND
from plait.core.status import Category
from plait.core.task import Step
from plait.server.metrics import COUNTERS, GAUGES, ProjectReading, compute_metrics, render_metrics

DOCS = Path(__file__).parents[2] / "docs"
DASHBOARD = json.loads((DOCS / "grafana-dashboard.json").read_text())
METRIC = re.compile(r"\b(?:plait|process)_[a-z0-9_]+")
QUERY = re.compile(r"(\b(?:plait|process)_[a-z0-9_]+)(?:\{([^}]*)\})?")
LABEL = re.compile(r"([a-z_]+)\s*(?:=~|!~|!=|=)")

WRITE = ("shell", Step.WRITE)
ALL_COUNTERS = JournalCounters()
ALL_COUNTERS.attempts[*WRITE, Category.OK] = ALL_COUNTERS.retries[Category.TASK] = 1
ALL_COUNTERS.breaker_openings["north"] = 1
ALL_COUNTERS.spent["shell"] = NO_SPEND
ALL_COUNTERS.durations[WRITE] = DurationHistogram()
ALL_METRICS = compute_metrics("p", ProjectReading(ALL_COUNTERS, {}, {}, {}, {WRITE: 1}, {"north": 1.0}))


def samples() -> dict[str, set[str]]:
    """The names that can be asked for, each with its labels."""
    found = dict[str, set[str]]()
    for line in render_metrics([ALL_METRICS])[0].decode().splitlines():
        if line and line[0] != "#":
            name = re.split(r"[{ ]", line, maxsplit=1)[0]
            found.setdefault(name, set()).update(re.findall(r'([a-z_]+)="', line))
    return found


def panels() -> Iterator[dict[str, object]]:
    yield from (panel for panel in DASHBOARD["panels"] if panel["type"] != "row")


def queries() -> list[str]:
    asked = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
    variables = (each for each in DASHBOARD["templating"]["list"] if each["type"] == "query")
    return [*asked, *(each["definition"].removeprefix("label_values(") for each in variables)]


@pytest.mark.parametrize("query", queries())
def test_every_dashboard_query_uses_known_metrics_and_labels(query: str) -> None:
    known, found = samples(), QUERY.findall(query)
    assert found
    for name, chosen in found:
        if name.startswith("process_"):  # told where the system tells it
            continue
        assert name in known
        assert set(LABEL.findall(chosen)) <= known[name] | {"le"}


@pytest.mark.parametrize("query", queries())
def test_queries_group_by_labels_of_their_metric(query: str) -> None:
    known = samples()
    for grouped, name in re.findall(r"by \(([^)]*)\) \(?(?:[a-z_]+\()*((?:plait)_[a-z0-9_]+)", query):
        assert {each.strip() for each in grouped.split(",")} <= known[name]


def test_the_dashboard_can_be_imported() -> None:
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(numbers)) == len(numbers)
    assert {"title", "uid", "schemaVersion", "templating", "panels"} <= DASHBOARD.keys()
    for panel in DASHBOARD["panels"]:
        position = panel["gridPos"]
        assert 0 <= position["x"] < position["x"] + position["w"] <= 24
    for panel in panels():
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_dashboard_panels_do_not_overlap() -> None:
    cells = [
        (position["x"] + x, position["y"] + y)
        for position in (panel["gridPos"] for panel in DASHBOARD["panels"])
        for x in range(position["w"])
        for y in range(position["h"])
    ]
    assert len(set(cells)) == len(cells)


def test_the_documentation_lists_every_metric_with_its_labels() -> None:
    rows = re.findall(r"^\| `(plait_[a-z0-9_]+)` \|([^|]*)\|", (DOCS / "events.md").read_text(), re.MULTILINE)
    listed = {name: set(re.findall(r"`([a-z]+)`", labels)) for name, labels in rows}
    gauges = {name: {*each.labels} for name, each in GAUGES.items()}
    counters = {f"{name}_total": {*each.labels} for name, each in COUNTERS.items()}
    histogram = {"plait_attempt_duration_seconds": {"agent", "step"}}
    assert listed == {**gauges, **counters, **histogram, "plait_project_up": set()}


def test_the_documentation_names_only_existing_metrics() -> None:
    known = {re.sub(r"_(bucket|sum|count)$", "", name) for name in samples()} | samples().keys()
    named = METRIC.findall((DOCS / "events.md").read_text())
    assert {name for name in named if not name.startswith("process_")} <= known
