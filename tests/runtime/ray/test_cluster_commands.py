"""`plait doctor`, `plait run` and `plait status` with a cluster, as a person uses them. Part of `make test-ray`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.core.status import TaskStatus
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PLAIT_RAY_LONG"), reason="make test-ray"),
    pytest.mark.filterwarnings("default"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster({"one": 2, "two": 1}) as cluster:
        yield cluster


@pytest.fixture
def project(tmp_path: Path, cluster: RayCluster) -> Iterator[TempProject]:
    with temp_project(tmp_path / "project", worktrees=True, forks=False) as project:
        project.env["PLAIT_RAY_ADDRESS"] = cluster.address
        yield project


def test_a_batch_runs_on_the_cluster_and_its_nodes_are_shown(project: TempProject, tmp_path: Path) -> None:
    go = tmp_path / "go"
    project.task("01-one", f"while [ ! -e {go} ]; do sleep 0.1; done; echo done > one.txt")
    project.task("02-two", f"while [ ! -e {go} ]; do sleep 0.1; done; echo done > two.txt")
    for name in ("03-three", "04-four"):
        project.task(name, f"echo done > {name}.txt")
    project.commit_all()

    doctor = project.plait("doctor", "--executor", "ray", "--json")
    checks = json.loads(doctor.out)["checks"]
    (summary,) = (each for each in checks if each["topic"] == "cluster")
    assert summary["message"].endswith("with 3 slots")
    for node in ("one", "two"):
        texts = [each["message"] for each in checks if each["topic"] == node]
        assert any(text.startswith("git: git 2.") for text in texts), checks
        assert {text.partition(":")[0] for text in texts} >= {"git", "sh", "disk", "memory", "agents", "clock"}

    started = project.plait("run", "tasks", "--executor", "ray", "--detach", "--yes")
    assert started.code == 0, started
    wait_until(lambda: "2/4 done" in project.plait("status").out)
    wait_until(lambda: "cluster: 2 nodes, 2 of 3 slots used" in project.plait("status").out)
    status = json.loads(project.plait("status", "--json").out)
    nodes = {node["name"]: node for node in status["engine"]["nodes"] if node["slots"]}
    assert {name: node["slots"] for name, node in nodes.items()} == {"one": 2, "two": 1}
    explanation = project.plait("explain", "01-one").out
    assert any(line.strip() in {"on one", "on two"} for line in explanation.splitlines()), explanation
    go.touch()
    watched = project.plait("watch")
    assert watched.code == 0, watched
    (batch,) = project.state().batches.values()
    assert [task.status for task in batch.tasks] == [TaskStatus.DONE] * 4
    assert project.git("show", f"{batch.branch}:one.txt") == "done"
    assert not (project.top / "one.txt").exists()


def test_a_cluster_that_is_not_there_is_a_problem(project: TempProject) -> None:
    answer = project.plait("doctor", "--executor", "ray", env={"PLAIT_RAY_ADDRESS": "127.0.0.1:1"})
    assert answer.code == 1
    assert "can't reach the Ray cluster at 127.0.0.1:1" in answer.out
