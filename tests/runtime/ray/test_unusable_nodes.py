"""Nodes that can't run attempts: each is named with what is wrong, and no attempt is sent there. Part of `make test-ray`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import plait
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.temp_project import TempProject, remove_programs_from_path, temp_project
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PLAIT_RAY_LONG"), reason="make test-ray"),
    pytest.mark.filterwarnings("default"),
]
# It changes the version of Ray that a cluster says it has, until the end of its input.
SET_VERSION = """
import json, sys, ray
from ray._private.worker import global_worker
ray.init(sys.argv[1], log_to_driver=False)
place = {"namespace": b"cluster"}
facts = json.loads(global_worker.gcs_client.internal_kv_get(b"CLUSTER_METADATA", **place))
for version in ("2.9.0", facts["ray_version"]):
    changed = json.dumps({**facts, "ray_version": version}).encode()
    global_worker.gcs_client.internal_kv_put(b"CLUSTER_METADATA", changed, True, **place)
    print(facts["ray_version"], flush=True)
    sys.stdin.read()
"""
# What each node lacks, as the doctor and as the engine's status say it.
PROBLEMS = {
    "old": ("it has plait 0.0.1, and the engine", "it has plait 0.0.1, and the engine"),
    "none": ("has no plait of this version", "has no plait of this version"),
    "nogit": ("git isn't on PATH", "there is no git: install git"),
}


def make_other_plait(folder: Path) -> str:
    """A folder with this plait, which says that it is another version."""
    source, other = Path(plait.__file__).parent, folder / "plait"
    other.mkdir(parents=True)
    for each in source.iterdir():
        if each.suffix != ".pyc" and each.name not in {"__init__.py", "__pycache__"}:
            (other / each.name).symlink_to(each)
    (other / "__init__.py").write_text(f'{(source / "__init__.py").read_text()}\n__version__ = "0.0.1"\n')
    return str(folder)


def make_empty_plait(folder: Path) -> str:
    (folder / "plait").mkdir(parents=True)
    (folder / "plait" / "__init__.py").touch()
    return str(folder)


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster({}) as cluster:
        cluster.add_node("old", env={"PYTHONPATH": make_other_plait(cluster.folder / "other")})
        cluster.add_node("none", env={"PYTHONPATH": make_empty_plait(cluster.folder / "empty")})
        cluster.add_node("nogit", env={"PATH": remove_programs_from_path(os.environ["PATH"], frozenset({"git"}))})
        yield cluster


@pytest.fixture
def project(tmp_path: Path, cluster: RayCluster) -> Iterator[TempProject]:
    with temp_project(tmp_path, worktrees=True, forks=False) as project:
        project.env["PLAIT_RAY_ADDRESS"] = cluster.address
        yield project


def test_tasks_wait_until_a_node_can_be_used(project: TempProject, cluster: RayCluster) -> None:
    project.task("only", "echo done > only.txt")
    project.commit_all()
    checks = json.loads(project.plait("doctor", "--executor", "ray", "--json").out)["checks"]
    for node, (problem, _) in PROBLEMS.items():
        found = [each["message"] for each in checks if each["topic"] == node and each["verdict"] == "problem"]
        assert len(found) == 1, checks
        assert problem in found[0]
    assert project.plait("run", "tasks", "--executor", "ray", "--detach", "--yes", "--retries", "0").code == 0

    def read_problems() -> dict[str, str]:
        status = json.loads(project.plait("status", "--json").out)
        return {node["name"]: node["problem"] or "" for node in status["engine"]["nodes"] or ()}

    wait_until(lambda: all(problem in read_problems().get(node, "") for node, (_, problem) in PROBLEMS.items()))
    assert project.statuses() == {"only": ""}
    cluster.add_node("good", 1)
    watched = project.plait("watch")
    assert watched.code == 0, (watched, project.read_engine_log())
    assert project.read_merged_files()["only.txt"] == "done"


def test_a_cluster_without_slots_starts_nothing(tmp_path: Path) -> None:
    with ray_cluster({}) as empty, temp_project(tmp_path, worktrees=True, forks=False) as project:
        project.env |= {"PLAIT_RAY_ADDRESS": empty.address, "PLAIT_PREFLIGHT": "true"}
        project.task("only")
        project.commit_all()
        answer = project.plait("run", "tasks", "--yes", "--executor", "ray", "--agent-command", "true")
        assert answer.code == 1
        assert "nothing can be started on the cluster: no node of the cluster has slots" in answer.err
        assert not project.state().batches


def test_a_cluster_with_another_version_of_ray_is_refused(project: TempProject) -> None:
    """It says that it has one: Ray itself compares that when plait connects."""
    project.task("only", "true")
    project.commit_all()
    words = [sys.executable, "-c", SET_VERSION, project.env["PLAIT_RAY_ADDRESS"]]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as setter:
        assert setter.stdin is not None
        assert setter.stdout is not None
        version = setter.stdout.readline().strip()
        for command in (("run", "tasks", "--yes", "--executor", "ray"), ("doctor", "--executor", "ray")):
            answer = project.plait(*command)
            assert answer.code
            assert (
                f"has Ray 2.9.0 and Python {platform.python_version()}, and this machine Ray {version}" in answer.output
            )
        setter.stdin.close()
        assert setter.wait() == 0
    assert not project.state().batches
