"""An attempt on a Ray cluster against a plain Ray task that does the same git work, and against an actor of its own; and the
bytes that travel for it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import psutil

from bench.table import Row
from bench.workspaces import Field
from plait.git.bundles import create_bundle
from plait.git.interfaces import CapturedChange
from plait.git.node_mirror import list_tips, open_node_mirror, receive_commits
from plait.git.refs import BASES
from plait.runtime.executor import AttemptSpec
from plait.runtime.ray.cluster import Cluster, ClusterNode, import_ray
from plait.runtime.ray.placements import Placements
from plait.runtime.supervisor import PROCESS_NAME
from plait.system.state_paths import StateFolder
from plait.testing.contracts.executor import ExecutorHarness
from tests.support.local_executor import local_executor_setup
from tests.support.ray_cluster import RayCluster, ray_cluster
from tests.support.ray_harness import RayHarness, ray_harness

NODE = "one"
_GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "init.defaultBranch=main")


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    with TemporaryDirectory() as folder:
        travel = _travel(Path(folder), 5_000 if quick else 50_000)
        return [*travel, *_overhead(Path(folder), 10 if quick else 40)]


def _travel(folder: Path, files: int) -> list[Row]:
    """What a node's first attempt, and those after it, are sent; against git's own bundles of the same commits."""
    field = Field(folder, files)
    first, second = field.heads
    source, mirror = field.top / ".git", open_node_mirror(folder / "mirror.git")
    refs = {f"{BASES}/{head}": head for head in field.heads}
    sent: list[int] = []
    for head in (first, first, second):
        data = create_bundle(source, {f"{BASES}/{head}": head}, list_tips(mirror))
        receive_commits(mirror, data, {name: commit for name, commit in refs.items() if commit == head})
        sent.append(len(data))
    field.git("branch", "first", first)
    bundles = [folder / "all.bundle", folder / "new.bundle"]
    field.git("bundle", "create", "--quiet", str(bundles[0]), "first")
    field.git("bundle", "create", "--quiet", str(bundles[1]), "main", "^first")
    whole, new = (bundle.stat().st_size / 1e6 for bundle in bundles)
    here = f"{files:,} files, sent to a node"
    return [
        Row(f"{here}: its first attempt", sent[0] / 1e6, "MB", whole, "about 1x"),
        Row(f"{here}: the next one, same base", sent[1] / 1e6, "MB"),
        Row(f"{here}: the next one, 20 files later", sent[2] / 1e6, "MB", new, "about 1x"),
    ]


def _overhead(folder: Path, rounds: int) -> list[Row]:
    """In turns, so that a slow moment of the machine meets all of them; what one has to tidy up is not the next one's time."""
    times: dict[str, list[float]] = {}
    memory: dict[str, list[float]] = {}

    def measure(number: int, kind: str, work: Callable[[], object]) -> None:
        began = perf_counter()
        work()
        if number >= 2:  # the first ones start processes
            times.setdefault(kind, []).append(perf_counter() - began)

    with (
        ray_cluster({NODE: 4}) as nodes,
        closing(Cluster(nodes.address)) as cluster,
        ray_harness(folder / "ray", nodes, nodes=1) as remote,
        local_executor_setup(folder / "local") as local,
    ):
        base = {harness.repository: harness.commit_file("file", "text") for harness in (remote, local)}
        node = next(each for each in cluster.list_nodes() if each.name == NODE)
        placements = Placements(StateFolder(folder / "ray" / "state"))
        for number in range(rounds + 2):
            name = f"t{number}"
            for kind, harness in (("ray", remote), ("local", local)):
                job = harness.make_worktree_job("echo line >> file", base[harness.repository], name)
                measure(number, kind, partial(_run_attempt, harness, job))
                harness.executor.workspaces.release(job.attempt.batch, job.attempt.task)
                assert harness.wait_until(partial(_is_released, placements if harness is remote else None, job))
            plain = partial(_plain_task, remote, cluster, node, base[remote.repository], name)
            measure(number, "plain", plain)
            _run(remote.repository.parent / "plain" / "mirror", "worktree", "remove", "--force", f"../{name}")
            job = remote.make_worktree_job("echo first; exec sleep 60", base[remote.repository], f"f{number}")
            measure(number, "output", partial(_await_output, remote, job))
            supervisor = _find_supervisor(nodes)
            memory.setdefault("attempt", []).append(sum(map(_measure_memory, [supervisor, *supervisor.children()])))
            remote.executor.terminate(job.attempt, at_once=True)
            remote.wait_for_end(job.attempt)
            remote.executor.workspaces.release(job.attempt.batch, job.attempt.task)
            assert remote.wait_until(partial(_is_released, placements, job))
            mirror = remote.repository.parent / "plain" / "mirror"
            actors: list[_Actor] = []
            measure(number, "actor", partial(_start_actor, node, mirror, base[remote.repository], f"f{number}", actors))
            memory.setdefault("actor", []).append(actors[0].end())
        daemon = nodes.nodes[NODE].daemon
        assert daemon is not None
        memory["daemon"] = [_measure_memory(daemon)]
    took = {kind: median(each) for kind, each in times.items()}
    size = {kind: median(each) for kind, each in memory.items()}
    what = "an attempt that changes a line, until its commit is in the repository"
    task = "a plain Ray task with git's own commands: worktree, line, commit, bundle, fetch (nothing checked or synced)"
    return [
        Row(f"{what}, on a node; against {task}", took["ray"], "s", took["plain"], "at most 1.5x"),
        Row(f"{what}, on this machine; against the same", took["local"], "s", took["plain"]),
        Row(
            "an attempt's first output, on a node; against an actor for each attempt",
            took["output"],
            "s",
            took["actor"],
        ),
        Row("memory of an attempt on a node; against an actor for it", size["attempt"], "MB", size["actor"]),
        Row("memory of a node's daemon", size["daemon"], "MB"),
    ]


def _run_attempt(harness: ExecutorHarness, job: AttemptSpec) -> None:
    harness.executor.start(job)
    assert harness.wait_for_end(job.attempt) == 0
    change = harness.capture(job)
    assert isinstance(change, CapturedChange), change


def _is_released(placements: Placements | None, job: AttemptSpec) -> bool:
    if placements is None:
        return not Path(job.workspace).exists()
    placement = placements.read(job.attempt)
    return placement is not None and not placement.node


def _await_output(harness: ExecutorHarness, job: AttemptSpec) -> None:
    harness.executor.start(job)
    assert harness.wait_until(lambda: harness.executor.open_transcript(job.attempt).size() > 0)


def _find_supervisor(nodes: RayCluster) -> psutil.Process:
    daemon = nodes.nodes[NODE].daemon
    assert daemon is not None
    return next(child for child in daemon.children() if PROCESS_NAME in child.cmdline())


def _measure_memory(process: psutil.Process) -> float:
    """What would be free without it, in MB."""
    return float(process.memory_full_info().uss) / 1e6


@dataclass(frozen=True, slots=True)
class _Actor:
    handle: Any  # Ray's

    def end(self) -> float:
        """The memory that it took, with its command."""
        ray = import_ray()
        process = psutil.Process(ray.get(self.handle.read_pid.remote()))
        children = process.children()
        taken = sum(map(_measure_memory, [process, *children]))
        ray.kill(self.handle)
        for child in children:
            child.kill()
        return taken


def _start_actor(node: ClusterNode, mirror: Path, base: str, name: str, made: list[_Actor]) -> None:
    ray = import_ray()
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
    options = {"name": name, "lifetime": "detached", "num_cpus": 0, "scheduling_strategy": strategy}
    actor = ray.remote(AttemptActor).options(**options).remote()
    made.append(_Actor(actor))
    assert ray.get(actor.start.remote(str(mirror), base, name)) == b"first\n"


class AttemptActor:
    """What each attempt would have on its node: it makes the worktree, and runs the command."""

    def read_pid(self) -> int:
        return os.getpid()

    def start(self, mirror: str, base: str, name: str) -> bytes:
        """The command's first output. The command goes on."""
        worktree = Path(mirror).parent / name
        _run(Path(mirror), "worktree", "add", "--quiet", "--detach", str(worktree), base)
        self._process = subprocess.Popen(
            ["sh", "-c", "echo first; exec sleep 60"], stdout=subprocess.PIPE, cwd=worktree
        )
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def _plain_task(harness: RayHarness, cluster: Cluster, node: ClusterNode, base: str, name: str) -> None:
    """The repository travels once, the commit comes back as a bundle."""
    place = harness.repository.parent / "plain"
    data = b"" if (place / "mirror").exists() else _run(harness.repository, "bundle", "create", "-", "HEAD")
    call = cluster.start_task(node, work_on_node, str(place), data, base, name)
    while not cluster.wait([call], 1.0):
        pass
    bundle = place / "result"
    bundle.write_bytes(cluster.get(call))
    _run(harness.repository, "fetch", "--quiet", str(bundle), f"HEAD:refs/plain/{name}")


def work_on_node(place: str, commits: bytes, base: str, name: str) -> bytes:
    """A worktree, a line, a commit, a bundle of it."""
    mirror, worktree = Path(place, "mirror"), Path(place, name)
    if commits:
        mirror.mkdir(parents=True)
        _run(mirror, "init", "--quiet", "--bare")
        bundle = Path(place, "bundle")
        bundle.write_bytes(commits)
        _run(mirror, "fetch", "--quiet", str(bundle), "HEAD:refs/heads/base")
    _run(mirror, "worktree", "add", "--quiet", "--detach", str(worktree), base)
    subprocess.run(["sh", "-c", "echo line >> file"], cwd=worktree, check=True)
    _run(worktree, "add", "--all")
    _run(worktree, "commit", "--quiet", "--message", "result")
    return _run(worktree, "bundle", "create", "-", "HEAD", f"^{base}")


def _run(folder: Path, *words: str) -> bytes:
    command: Sequence[str] = (*_GIT, *words)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True).stdout
