"""An attempt on a Ray cluster against a plain Ray task that does the same git work, and the bytes that travel for it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.table import Row
from bench.workspaces import Field
from plait.git.bundles import create_bundle
from plait.git.interfaces import CapturedChange
from plait.git.node_mirror import list_tips, open_node_mirror, receive_commits
from plait.git.refs import BASES
from plait.runtime.ray.cluster import Cluster, ClusterNode
from plait.testing.contracts.executor import ExecutorHarness
from tests.support.local_executor import local_executor_setup
from tests.support.ray_cluster import ray_cluster
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
    """In turns, so that a slow moment of the machine meets all of them."""
    times: dict[str, list[float]] = {"ray": [], "local": [], "plain": []}
    with (
        ray_cluster({NODE: 4}) as nodes,
        closing(Cluster(nodes.address)) as cluster,
        ray_harness(folder / "ray", nodes, nodes=1) as remote,
        local_executor_setup(folder / "local") as local,
    ):
        base = {harness.repository: harness.commit_file("file", "text") for harness in (remote, local)}
        node = next(each for each in cluster.list_nodes() if each.name == NODE)
        for number in range(rounds + 2):  # the first ones start processes
            name = f"t{number}"
            works: dict[str, Callable[[], None]] = {
                "ray": lambda: _attempt(remote, base[remote.repository], name),  # noqa: B023 - called at once
                "local": lambda: _attempt(local, base[local.repository], name),  # noqa: B023
                "plain": lambda: _plain_task(remote, cluster, node, base[remote.repository], name),  # noqa: B023
            }
            for kind, work in works.items():
                began = perf_counter()
                work()
                if number >= 2:
                    times[kind].append(perf_counter() - began)
    took = {kind: median(each) for kind, each in times.items()}
    what = "an attempt that changes a line, with its commit"
    return [
        Row(f"{what}: on a node", took["ray"], "s", took["plain"], "at most 1.5x"),
        Row(f"{what}: on this machine", took["local"], "s", took["plain"]),
    ]


def _attempt(harness: ExecutorHarness, base: str, name: str) -> None:
    job = harness.make_worktree_job("echo line >> file", base, name)
    harness.executor.start(job)
    assert harness.wait_for_end(job.attempt) == 0
    change = harness.capture(job)
    assert isinstance(change, CapturedChange), change
    harness.executor.workspaces.release(job.attempt.batch, job.attempt.task)


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
    result = _run(worktree, "bundle", "create", "-", "HEAD", f"^{base}")
    _run(mirror, "worktree", "remove", "--force", str(worktree))
    return result


def _run(folder: Path, *words: str) -> bytes:
    command: Sequence[str] = (*_GIT, *words)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True).stdout
