"""What attempts on a cluster leave, share and need: on one cluster for all tests, part of `make test-ray`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from plait.core.reports import AttemptLost
from plait.core.task import Attempt, Step
from plait.runtime.ray.placements import Placements
from plait.runtime.sandbox.detection import list_support
from plait.store.project_files import open_state_paths
from tests.support.ray_cluster import RayCluster, RayNode, ray_cluster
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PLAIT_RAY_LONG"), reason="make test-ray"),
    pytest.mark.filterwarnings("default"),
]
RUN = ("run", "tasks", "--yes", "--executor", "ray", "-p", "20")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster({"one": 2, "two": 2}) as cluster:
        yield cluster


@contextmanager
def open_project(folder: Path, cluster: RayCluster) -> Iterator[TempProject]:
    with temp_project(folder, worktrees=True, forks=False) as project:
        project.env |= {"PLAIT_RAY_ADDRESS": cluster.address, "PLAIT_RAY_LEASE": "8s"}
        yield project


@pytest.fixture
def project(tmp_path: Path, cluster: RayCluster) -> Iterator[TempProject]:
    with open_project(tmp_path / "project", cluster) as project:
        yield project


def find_node(project: TempProject, cluster: RayCluster, task: str, n: int) -> RayNode:
    placement = Placements(open_state_paths(project.place)).read(Attempt(project.batch().id, task, Step.WRITE, n))
    assert placement is not None
    return cluster.nodes[placement.node_name]


def write_agent(node: RayNode, folder: Path) -> None:
    """A `claude` with sessions on this node only. Its first attempt makes a part, later ones wait, and make the whole of it."""
    path = node.folder / "bin" / "claude"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"""#!/bin/sh
cat > /dev/null
session=
for word; do case $word in --resume=*) session=${{word#--resume=}};; esac; done
resumed=$session
if [ -n "$session" ] && [ ! -e {node.folder}/bin/$session ]; then
  echo '{{"type": "result", "subtype": "error_during_execution", "is_error": true, "errors": ["No conversation found"]}}'
  exit 1
fi
session={node.name}-$$
touch {node.folder}/bin/$session
echo '{{"type": "system", "subtype": "init", "session_id": "'$session'"}}'
echo "printed by attempt $PLAIT_ATTEMPT"
if [ $PLAIT_ATTEMPT = 1 ]; then
  echo part > part.txt
else
  echo "resumes $resumed" > {folder}/run
  mv {folder}/run {folder}/runs-$PLAIT_ATTEMPT
  until [ -e {folder}/go ]; do sleep 0.1; done
  cat part.txt part.txt > whole.txt
fi
echo '{{"type": "result", "subtype": "success", "result": "done", "session_id": "'$session'", "total_cost_usd": 0}}'
""")
    path.chmod(0o755)


def finish(project: TempProject, front: subprocess.Popen[str]) -> None:
    out, err = front.communicate(timeout=TIMEOUT_SECONDS)
    assert front.returncode == 0, (out[-3000:], err, project.read_engine_log()[-2000:])


def test_slots_are_shared_by_the_engines_of_two_repositories(tmp_path: Path, cluster: RayCluster) -> None:
    names = [f"task-{number}" for number in range(5)]
    with ExitStack() as stack:
        projects = [stack.enter_context(open_project(tmp_path / name, cluster)) for name in ("left", "right")]
        for project in projects:
            for name in names:
                project.task(
                    name, f"touch {tmp_path}/$$; until [ -e {tmp_path}/go ]; do sleep 0.1; done; echo $$ > {name}.txt"
                )
            project.commit_all()
        fronts = [project.start(*RUN) for project in projects]

        def count_running() -> int:
            return sum(path.name.isdecimal() for path in tmp_path.iterdir())

        wait_until(lambda: count_running() == 4)
        wait_until(lambda: all("4 of 4 slots used" in each.plait("status").out for each in projects))
        assert count_running() == 4
        (tmp_path / "go").touch()
        for project, front in zip(projects, fronts, strict=True):
            finish(project, front)
            assert {f"{name}.txt" for name in names} <= project.read_merged_files().keys()
        assert count_running() == 2 * len(names)


def test_a_task_continues_on_another_node_what_it_left_on_a_lost_one(project: TempProject, cluster: RayCluster) -> None:
    """Its session, which is lost with the node, isn't asked for there. And what its first attempt printed is not on its node
    any more when the second one runs there.
    """
    for node in cluster.nodes.values():
        write_agent(node, project.folder)
    project.task("only")
    project.commit_all()
    front = project.start(*RUN, "--retries", "1", "--verify", "test -e whole.txt", "--agent", "claude")
    wait_until((project.folder / "runs-2").exists)
    lost = find_node(project, cluster, "only", 2)
    assert find_node(project, cluster, "only", 1) is lost
    folder = next(lost.folder.glob("*/engine-*/state/batches/*/tasks/only"))
    assert (folder / "write-2" / "transcript").exists()
    wait_until(lambda: not (folder / "write-1" / "transcript").exists())
    assert "printed by attempt 1" in project.plait("logs", "only", "--attempt", "1").out
    assert (project.folder / "runs-2").read_text().startswith(f"resumes {lost.name}-")
    lost.kill()
    try:
        wait_until((project.folder / "runs-3").exists)
        assert find_node(project, cluster, "only", 3) is not lost
        assert (project.folder / "runs-3").read_text() == "resumes \n"
        (project.folder / "go").touch()
        finish(project, front)
        assert project.read_merged_files()["whole.txt"] == "part\npart"
        losses = [record.event for record in project.read_records() if isinstance(record.event, AttemptLost)]
        assert len(losses) == 1
    finally:
        del cluster.nodes[lost.name]
        cluster.add_node(lost.name, 2)


def test_attempts_on_nodes_are_confined(project: TempProject, cluster: RayCluster) -> None:
    """In the sandboxes that this machine has: nothing outside of the workspace can be written, on the node either."""
    outside = project.folder / "outside"
    outside.mkdir()
    for mode in ("worktree", "strict"):
        if not is_supported(mode):
            pytest.skip(f"no sandbox {mode} here")
        project.task(
            mode,
            f"touch {outside}/{mode}; for node in {cluster.folder}/*/; do touch $node/escaped-{mode}; done; echo $IS_SANDBOX > {mode}.txt",
            sandbox=mode,
        )
    project.commit_all()
    finish(project, project.start(*RUN, "--retries", "0"))
    files = project.read_merged_files()
    assert (files["worktree.txt"], files["strict.txt"]) == ("1", "1")
    assert not [*outside.iterdir()]
    assert not [*cluster.folder.rglob("escaped-*")]


def is_supported(mode: str) -> bool:
    return any(each.mode.value == mode and each.works for each in list_support(""))
