"""The nodes of a cluster, from the engine to `plait status`, the API and the metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.cli.commands.status import add_nodes
from plait.cli.output import Page
from plait.client.batch_json import describe_batches
from plait.core.state import State
from plait.engine.daemon import EngineInfo
from plait.engine.nodes_file import NodesFile, read_nodes
from plait.runtime.executor import NodeStatus
from plait.server.metrics import count_nodes

NODES = [
    NodeStatus("alpha", "10.0.0.1", slots=4, used=3, memory=8 << 30, free_memory=1 << 30),
    NodeStatus("beta", "10.0.0.2", slots=4, problem="git is not installed"),
    NodeStatus("gamma", "10.0.0.3", is_alive=False, slots=4, used=2),
]


def test_nodes_are_shown_as_long_as_the_engine_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nodes.json"
    file = NodesFile(path)
    assert read_nodes(path) == ()
    file.write(NODES)
    nodes = read_nodes(path)
    assert list(nodes) == NODES
    page = Page()
    add_nodes(page, nodes)
    page.show()
    assert capsys.readouterr().out.splitlines() == [
        "cluster: 2 nodes, 3 of 4 slots used",
        "  alpha  10.0.0.1         3 of 4",
        "  beta   10.0.0.2         0 of 4  git is not installed",
        "  gamma  10.0.0.3         2 of 4  lost",
    ]
    engine = describe_batches(EngineInfo(7, 0.0, nodes=nodes), State(), ()).engine
    assert engine is not None
    assert [(node.name, node.slots, node.used, node.alive, node.problem) for node in engine.nodes] == [
        ("alpha", 4, 3, True, None),
        ("beta", 4, 0, True, "git is not installed"),
        ("gamma", 4, 2, False, None),
    ]
    assert count_nodes(nodes) == {"ready": 1, "problem": 1, "lost": 1}
    assert [node.usable_slots for node in nodes] == [4, 0, 4]
    file.remove()
    assert read_nodes(path) == ()


def test_of_a_large_cluster_only_nodes_with_a_problem_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    page = Page()
    add_nodes(page, [*(NodeStatus(f"node-{n}", slots=4) for n in range(1000)), NODES[1]])
    page.show()
    first, *others = capsys.readouterr().out.splitlines()
    assert first == "cluster: 1001 nodes, 0 of 4000 slots used"
    assert len(others) == 1
    assert "git is not installed" in others[0]


def test_a_damaged_file_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text('[{"name": 3}]')
    assert read_nodes(tmp_path / "nodes.json") == ()
