"""What happens to tasks when the cluster's head, a node with the engine, a disk or the object store fails. Part of `make test-ray`.

No object of the cluster may be larger than its object store: for Ray, the disk that it would go to is full.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.core.reports import AttemptLost
from plait.core.task import Attempt, Step
from plait.runtime.ray.node_service import MIN_FREE_BYTES
from plait.runtime.ray.placements import Placements
from plait.store.project_files import open_state_paths
from tests.support.ray_cluster import STORE_BYTES, RayCluster, ray_cluster
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PLAIT_RAY_LONG"), reason="make test-ray"),
    pytest.mark.filterwarnings("default"),
]
RUN = ("run", "tasks", "--yes", "--executor", "ray", "--retries", "0")
FULL = "the disk that the cluster's object store spills to is full"
NODES = {"one": 2, "two": 2}


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster(NODES, {"local_fs_capacity_threshold": 0.001}) as cluster:
        yield cluster


@pytest.fixture
def project(tmp_path: Path, cluster: RayCluster) -> Iterator[TempProject]:
    with temp_project(tmp_path / "project", worktrees=True, forks=False) as project:
        project.env |= {"PLAIT_RAY_ADDRESS": cluster.address, "PLAIT_RAY_LEASE": "8s"}
        yield project


def add_waiting_tasks(project: TempProject, *names: str) -> None:
    for name in names:
        project.task(
            name,
            f"echo >> {project.folder}/runs-{name}; until [ -e {project.folder}/go ]; do sleep 0.1; done; echo > {name}.txt",
        )
    project.commit_all()


def count_runs(project: TempProject, name: str) -> int:
    path = project.folder / f"runs-{name}"
    return len(path.read_text()) if path.exists() else 0


def finish(project: TempProject, front: subprocess.Popen[str], *names: str) -> None:
    """Every task is merged."""
    out, err = front.communicate(timeout=TIMEOUT_SECONDS)
    assert front.returncode == 0, (out[-3000:], err, project.read_engine_log()[-2000:])
    assert {f"{name}.txt" for name in names} <= project.read_merged_files().keys()


def find_node(project: TempProject, task: str) -> str:
    placement = Placements(open_state_paths(project.place)).read(Attempt(project.batch().id, task, Step.WRITE, 1))
    assert placement is not None
    return placement.node_name


def test_a_full_object_store_uses_up_nothing(project: TempProject) -> None:
    """Neither does an attempt that can't be sent, nor a result that can't be fetched: it stays on its node."""
    project.task("result", f"head -c {STORE_BYTES + (5 << 20)} /dev/urandom > large")
    project.commit_all()
    assert project.plait(*RUN, "--detach").code == 0
    wait_until(lambda: f"can't commit the result: {FULL}" in project.plait("explain", "result").out)
    assert project.statuses() == {"result": ""}
    assert "no agent runs" in project.plait("explain", "result").out
    assert project.plait("cancel", "--yes").code == 0

    (project.top / "large").write_bytes(os.urandom(STORE_BYTES + (5 << 20)))
    (project.top / "tasks" / "result.md").unlink()
    project.task("base", "true")
    project.commit_all()
    assert project.plait(*RUN, "--detach").code == 0
    wait_until(lambda: f"it could not be started: {FULL}" in project.plait("explain", "base").out)
    assert project.plait("cancel", "--yes").code == 0


def test_a_node_whose_disk_is_full_gets_nothing(project: TempProject, cluster: RayCluster) -> None:
    folder = cluster.folder / "small"
    folder.mkdir()
    size = f"size={MIN_FREE_BYTES - (1 << 20)}"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "plait-test", folder], check=False).returncode:
        pytest.skip("file systems can't be mounted here")
    try:
        node = cluster.add_node("small", 4)
        add_waiting_tasks(project, "left", "right")
        front = project.start(*RUN)

        def read_problem() -> str:
            nodes = json.loads(project.plait("status", "--json").out)["engine"]["nodes"] or ()
            return next((each["problem"] or "" for each in nodes if each["name"] == "small"), "")

        wait_until(lambda: project.find_engine() and "its disk is full" in read_problem())
        wait_until(lambda: count_runs(project, "left") and count_runs(project, "right"))
        assert {find_node(project, "left"), find_node(project, "right")} <= NODES.keys()
        (project.folder / "go").touch()
        finish(project, front, "left", "right")
        node.kill()
        del cluster.nodes["small"]
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_an_engine_and_a_node_that_are_killed_at_once(project: TempProject, cluster: RayCluster) -> None:
    """The next engine adopts what still runs, and what was on the node runs again elsewhere."""
    names = ("first", "second", "third", "fourth")  # they take all slots
    project.env["PLAIT_RAY_LEASE"] = "20s"  # in which the next engine has to start
    add_waiting_tasks(project, *names)
    front = project.start(*RUN)
    wait_until(lambda: all(count_runs(project, name) for name in names))
    lost = find_node(project, "first")
    expected = {name: 2 if find_node(project, name) == lost else 1 for name in names}
    os.kill(wait_until(lambda: project.find_engine() or 0), signal.SIGKILL)
    cluster.nodes.pop(lost).kill()
    try:
        (project.folder / "go").touch()
        finish(project, front, *names)
        assert {name: count_runs(project, name) for name in names} == expected
    finally:
        cluster.add_node(lost, NODES[lost])


def test_the_engine_uses_the_cluster_again_once_its_head_is_back(project: TempProject, cluster: RayCluster) -> None:
    """Its nodes don't know the new head, so their attempts end with the lease, and run again when nodes have joined."""
    add_waiting_tasks(project, "only")
    front = project.start(*RUN)
    wait_until(lambda: count_runs(project, "only"))
    engine = project.find_engine()
    cluster.restart_head()
    wait_until(lambda: [each for each in project.read_records() if isinstance(each.event, AttemptLost)])
    for name, slots in NODES.items():
        cluster.add_node(name, slots)
    wait_until(lambda: count_runs(project, "only") == 2)
    assert project.find_engine() == engine
    (project.folder / "go").touch()
    finish(project, front, "only")


def test_a_head_that_hangs_keeps_neither_tasks_nor_their_engine(project: TempProject, cluster: RayCluster) -> None:
    add_waiting_tasks(project, "only")
    front = project.start(*RUN)
    wait_until(lambda: count_runs(project, "only"))
    [head] = [each for each in cluster.list_processes() if each.name() == "gcs_server"]
    head.suspend()
    try:
        wait_until(lambda: [each for each in project.read_records() if isinstance(each.event, AttemptLost)])
        assert project.plait("cancel", "--yes").code == 0
        front.communicate(timeout=TIMEOUT_SECONDS)
        assert project.statuses() == {"only": "cancelled"}
        project.wait_for_exit()
    finally:
        head.resume()
