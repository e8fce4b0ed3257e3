"""A batch of real git work on a cluster of three nodes, while nodes, daemons and the engine are killed and stopped."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import Popen

import psutil
import pytest
from playwright.sync_api import expect

from plait.core.reports import AttemptExited, AttemptLost
from plait.core.task import Attempt, Step
from plait.runtime.ray.placements import Placements
from plait.store.project_files import open_state_paths
from plait.system.flock import hold_lock
from plait.system.process_identity import TAG_VARIABLE
from tests.support.browser import TIMEOUT_MS, browser, window
from tests.support.ray_cluster import RayCluster, RayNode, ray_cluster
from tests.support.running_server import serve_page
from tests.support.secret_search import search_files, search_memory
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

pytestmark = pytest.mark.filterwarnings("default")
LONG = pytest.mark.skipif(not os.environ.get("PLAIT_RAY_LONG"), reason="make test-ray")
TOKEN, PRIVATE, WITHHELD = (
    "token-of-the-agent-0123456789",
    "text-of-an-ignored-file-0123456789",
    "token-withheld-0123456789",
)
THREE_NODES = pytest.mark.parametrize("cluster", [{"one": 2, "two": 2, "three": 2}], indirect=True, ids=[""])
UNTIL = "until [ -e {folder}/{name} ]; do sleep 0.1; done"


@pytest.fixture
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Two nodes at first, or those that the test wants."""
    with (
        hold_lock(tmp_path_factory.getbasetemp().parent / "ray.lock"),  # one cluster at a time, whichever worker
        ray_cluster(getattr(request, "param", {"one": 2, "two": 2})) as cluster,
    ):
        yield cluster


@pytest.fixture
def project(tmp_path: Path, cluster: RayCluster) -> Iterator[TempProject]:
    with temp_project(tmp_path, worktrees=True, forks=False) as project:
        project.env["PLAIT_RAY_ADDRESS"] = cluster.address
        yield project


def add_tasks(project: TempProject, *names: str, first_lines: str = "") -> None:
    """Each prints a line, waits for a file named like it, and commits another."""
    for name in names:
        project.task(
            name,
            f"{first_lines}\necho begin {name} $PLAIT_ATTEMPT; echo $PLAIT_ATTEMPT >> {project.folder}/runs-{name}\n"
            f"{UNTIL.format(folder=project.folder, name=name)}\nmkdir -p made; echo {name} > made/{name}.txt",
        )


def let(project: TempProject, *names: str) -> None:
    for name in names:
        (project.folder / name).touch()


def count_runs(project: TempProject, name: str) -> int:
    path = project.folder / f"runs-{name}"
    return len(path.read_text().splitlines()) if path.exists() else 0


def find_node(project: TempProject, cluster: RayCluster, task: str, n: int = 1) -> RayNode:
    placement = Placements(open_state_paths(project.place)).read(Attempt(project.batch().id, task, Step.WRITE, n))
    assert placement is not None
    return cluster.nodes[placement.node_name]


def list_attempt_processes(node: RayNode) -> list[str]:
    """What attempts run there."""
    found = []
    for process in node.list_processes():
        with suppress(psutil.Error):
            if TAG_VARIABLE in process.environ() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(f"{process.pid} {process.status()} {process.cmdline()[:8]}")
    return found


def stop_node(node: RayNode) -> list[psutil.Process]:
    """As when its machine is suspended, or cut off."""
    stopped: dict[int, psutil.Process] = {}
    while new := [each for each in [psutil.Process(node.raylet), *node.list_processes()] if each.pid not in stopped]:
        for process in new:
            stopped[process.pid] = process
            with suppress(psutil.Error):
                process.suspend()
    return list(stopped.values())


def check_results(project: TempProject, names: tuple[str, ...]) -> None:
    """Each is merged once."""
    assert set(project.statuses().values()) == {"done"}
    files = {name: text for name, text in project.read_merged_files().items() if name.startswith("made/")}
    assert files == {f"made/{name}.txt": name for name in names}
    exits = [record.event.attempt.task for record in project.read_records() if isinstance(record.event, AttemptExited)]
    assert sorted(exits) == sorted(names)


def check_nothing_left(project: TempProject, cluster: RayCluster) -> None:
    """No process, actor or worktree of plait's on any node."""
    wait_until(lambda: all(node.daemon is None for node in cluster.nodes.values()))
    wait_until(lambda: not cluster.list_actors())
    for node in cluster.nodes.values():
        assert list(node.folder.glob("*/engine-*/worktrees/batch-*/*")) == []
        assert list(node.folder.glob("*/engine-*/state/*")) == []
    project.wait_for_exit()
    assert project.find_leftovers() == []


def check_mirrors(cluster: RayCluster) -> None:
    """They hold what attempts began with, and nothing of the batch, which has ended."""
    for node in cluster.nodes.values():
        for mirror in node.folder.glob("*/engine-*/mirror.git"):
            refs = subprocess.check_output(["git", "-C", mirror, "for-each-ref", "--format=%(refname)"], text=True)
            assert {ref for ref in refs.split() if not ref.startswith("refs/plait/bases/")} == set()


def check_page(project: TempProject, task: str, node: str) -> None:
    """It shows the cluster's nodes, all of whose slots are used, and the node of the task's attempt."""
    with browser() as chromium, serve_page(project) as server, window(chromium, server) as opened:
        page, batch = opened.page, project.batch().id
        expect.set_options(timeout=TIMEOUT_MS)
        opened.go(f"/batches/{batch}")
        page.get_by_role("button", name="2 nodes, 4 of 4 slots used").click()
        rows = page.get_by_role("region", name="Cluster").get_by_role("row")
        expect(rows).to_have_count(3)
        for row, name in enumerate(("one", "two"), 1):
            expect(rows.nth(row)).to_contain_text(name)
            expect(rows.nth(row)).to_contain_text("2 of 2")
            expect(rows.nth(row)).to_contain_text("all slots used")
        opened.go(f"/?task={task}&batch={batch}")
        expect(page.get_by_role("list", name="Conversation")).to_contain_text(f"on {node}")
        assert opened.console_errors == []


def add_secrets(project: TempProject) -> str:
    """In the environment and in an ignored file; another variable and another ignored file are not declared. The lines of a
    command that fails unless it has just the declared ones.
    """
    project.env |= {"AGENT_TOKEN": TOKEN, "OTHER_TOKEN": WITHHELD, "PLAIT_RAY_ENV": "AGENT_*"}
    project.env["PLAIT_WORKSPACE_COPY"] = "private.txt"
    project.write(".gitignore", "*.txt\n!made/*.txt")
    project.write("private.txt", PRIVATE * 10_000)  # so large that Ray puts it into its object store
    project.write("other.txt", WITHHELD)
    return 'echo "with $AGENT_TOKEN"; [ -z "$OTHER_TOKEN$(cat other.txt)" ] && [ -s private.txt ] || exit 9'


def check_secrets(project: TempProject, cluster: RayCluster) -> None:
    """Neither Ray's processes nor its files have them, nor the journal; no node has any that was not declared."""
    texts = {each.encode() for each in (TOKEN, PRIVATE, WITHHELD)}
    for process in cluster.list_ray_processes():
        assert search_memory(process, texts) == set(), process.name()
    for folder in (cluster.folder / "r", Path("/dev/shm")):
        assert search_files(folder, texts) == {}
    journal = search_files(project.place.state, texts)
    assert not [name for name in journal if name.startswith("journal")], journal
    for node in cluster.nodes.values():
        assert search_files(node.folder, {WITHHELD.encode()}) == {}


def start(project: TempProject, lease: str) -> Popen[str]:
    return project.start(
        *("run", "tasks", "--yes", "--executor", "ray", "--retries", "0", "-p", "20"), env={"PLAIT_RAY_LEASE": lease}
    )


def finish(project: TempProject, front: Popen[str]) -> None:
    out, err = front.communicate(timeout=TIMEOUT_SECONDS)
    assert front.returncode == 0, (out, err, project.read_engine_log())


def test_a_batch_runs_on_nodes_that_come_and_survives_its_engine(project: TempProject, cluster: RayCluster) -> None:
    names = ("first", "second", "third", "fourth", "fifth")
    add_tasks(project, *names, first_lines=add_secrets(project))
    project.commit_all()
    before = project.snapshot_user_files()
    front = start(project, "60s")
    wait_until(lambda: sum(count_runs(project, name) for name in names) == 4)  # all slots are taken
    [waiting] = [name for name in names if not count_runs(project, name)]
    first = next(name for name in names if name != waiting)
    assert "all 4 cluster slots are busy" in project.plait("explain", waiting).out
    wait_until(lambda: f"begin {first} 1" in project.plait("logs", first).out)
    check_page(project, first, find_node(project, cluster, first).name)
    check_secrets(project, cluster)
    cluster.add_node("three", 2)
    wait_until(lambda: count_runs(project, waiting) == 1)
    os.kill(wait_until(lambda: project.find_engine() or 0), signal.SIGKILL)
    let(project, *names)
    finish(project, front)
    check_results(project, names)
    assert [count_runs(project, name) for name in names] == [1] * len(names)
    assert project.snapshot_user_files() == before
    check_nothing_left(project, cluster)
    check_mirrors(cluster)
    secrets = {TOKEN.encode(), PRIVATE.encode(), WITHHELD.encode()}
    for folder in (project.place.state, *(node.folder for node in cluster.nodes.values())):
        assert search_files(folder, secrets) == {}


@LONG
@THREE_NODES
def test_attempts_of_a_node_that_dies_run_elsewhere(project: TempProject, cluster: RayCluster) -> None:
    names = ("first", "second", "third")
    add_tasks(project, *names)
    project.commit_all()
    front = start(project, "8s")
    wait_until(lambda: all(count_runs(project, name) for name in names))
    lost = find_node(project, cluster, "first")
    others = [name for name in names if find_node(project, cluster, name) is not lost]
    lost.kill()
    let(project, *names)
    finish(project, front)
    check_results(project, names)
    assert [count_runs(project, name) for name in others] == [1] * len(others)
    assert count_runs(project, "first") == 2
    losses = {record.event.attempt.task for record in project.read_records() if isinstance(record.event, AttemptLost)}
    assert losses == {*names} - {*others}
    assert "raylet" not in (project.place.state / "engine.log").read_text()  # what Ray logged on the node
    del cluster.nodes[lost.name]
    check_nothing_left(project, cluster)
    check_mirrors(cluster)


@LONG
@THREE_NODES
def test_a_node_that_was_stopped_past_its_lease_completes_nothing(project: TempProject, cluster: RayCluster) -> None:
    names = ("first", "second")
    add_tasks(project, *names)
    project.commit_all()
    front = start(project, "8s")
    wait_until(lambda: all(count_runs(project, name) for name in names))
    stopped = find_node(project, cluster, "first")
    processes = stop_node(stopped)
    wait_until(lambda: count_runs(project, "first") == 2)  # elsewhere
    let(project, *names)
    finish(project, front)
    for process in reversed(processes):
        with suppress(psutil.Error):
            process.resume()
    wait_until(lambda: not list_attempt_processes(stopped), 60)
    check_results(project, names)
    assert count_runs(project, "first") == 2
    check_nothing_left(project, cluster)


@LONG
@THREE_NODES
def test_attempts_of_a_node_without_ray_end_with_their_lease(project: TempProject, cluster: RayCluster) -> None:
    """Ray's own process dies there and takes its workers with it. What ends the attempts is no child of theirs."""
    add_tasks(project, "first")
    project.commit_all()
    front = start(project, "8s")
    wait_until(lambda: count_runs(project, "first"))
    node = find_node(project, cluster, "first")
    psutil.Process(node.raylet).kill()
    wait_until(lambda: count_runs(project, "first") == 2)  # elsewhere
    wait_until(lambda: not list_attempt_processes(node))
    let(project, "first")
    finish(project, front)
    check_results(project, ("first",))
    assert count_runs(project, "first") == 2
    check_nothing_left(project, cluster)


@LONG
@THREE_NODES
def test_attempts_survive_the_service_of_their_node_and_can_be_cancelled(
    project: TempProject, cluster: RayCluster
) -> None:
    names = ("first", "second")
    add_tasks(project, *names)
    project.commit_all()
    front = start(project, "8s")
    wait_until(lambda: all(count_runs(project, name) for name in names))
    node = find_node(project, cluster, "first")
    daemon = node.daemon
    assert daemon is not None
    daemon.kill()
    wait_until(lambda: node.daemon not in {None, daemon})
    assert project.plait("cancel", "second", "--yes").code == 0
    wait_until(lambda: project.statuses()["second"] == "cancelled")
    let(project, "first")
    front.communicate(timeout=120)
    assert project.statuses() == {"first": "done", "second": "cancelled"}
    assert [count_runs(project, name) for name in names] == [1, 1]
    assert set(project.read_merged_files()) >= {"made/first.txt"}
    assert "made/second.txt" not in project.read_merged_files()
    check_nothing_left(project, cluster)


def test_an_unreachable_cluster_is_named(tmp_path: Path) -> None:
    with temp_project(tmp_path, worktrees=True, forks=False) as project:
        project.env["PLAIT_RAY_ADDRESS"] = "127.0.0.2:1"
        project.task("only", "true")
        project.commit_all()
        done = project.plait("run", "tasks", "--yes", "--executor", "ray")
        assert done.code == 2
        assert "can't reach the Ray cluster at 127.0.0.2:1" in done.err
        assert not project.state().batches
