"""A RayExecutor for tests: attempts run in worktrees on a cluster's nodes, and change to a folder that tests can see."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from plait.config.ray_keys import RayConfig
from plait.runtime.executor import AttemptSpec, Executor, ExecutorCallbacks
from plait.runtime.ray.cluster import Cluster
from plait.runtime.ray.executor import RayExecutor
from plait.runtime.reactor import SelectReactor
from plait.runtime.worker_pool import WorkerPool
from plait.system.state_paths import StateFolder
from plait.testing.contracts.executor import ExecutorHarness
from tests.support.loopback_cluster import LoopbackCluster, LoopbackNode
from tests.support.ray_cluster import RayCluster
from tests.support.waiting import TIMEOUT_SECONDS

LEASE_SECONDS = 30.0


@dataclass(slots=True)
class RayHarness(ExecutorHarness):
    commit: str = field(default="", init=False)

    def make_job(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> AttemptSpec:
        if not self.commit:
            self.commit = self.commit_file("plain", "no program")
        return self.make_worktree_job(f"cd {shlex.quote(str(self.workspace))}\n{lines}", self.commit, task, env)

    def make_worktree_job(
        self, lines: str, base: str, task: str = "one", env: Mapping[str, str] | None = None
    ) -> AttemptSpec:
        return self.put_into_worktree(ExecutorHarness.make_job(self, lines, task, env), base)


def ray_harness(
    folder: Path, cluster: RayCluster, *, lease_seconds: float = LEASE_SECONDS, nodes: int = 3
) -> AbstractContextManager[RayHarness]:
    """An executor that has found so many nodes of a cluster."""
    return _open_harness(folder, RayConfig(address=cluster.address, lease=lease_seconds), Cluster, nodes)


def loopback_harness(
    folder: Path, nodes: Mapping[str, LoopbackNode], *, lease_seconds: float = LEASE_SECONDS
) -> AbstractContextManager[RayHarness]:
    """As `ray_harness`, without Ray."""
    config = RayConfig(lease=lease_seconds)
    return _open_harness(folder, config, lambda _: LoopbackCluster(list(nodes.values())), len(nodes))


@contextmanager
def _open_harness(
    folder: Path, config: RayConfig, open_cluster: Callable[[str], Cluster], nodes: int
) -> Iterator[RayHarness]:
    opened: list[RayExecutor] = []
    state, repository = StateFolder(folder / "state"), folder / "repository"

    def open_executor(callbacks: ExecutorCallbacks) -> Executor:
        opened.append(RayExecutor(config, repository / ".git", state, workers, reactor, callbacks, open_cluster))
        return opened[-1]

    def wait_until(holds: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not holds() and time.monotonic() < deadline:
            reactor.step(0.02)
        return holds()

    with closing(SelectReactor()) as reactor, closing(WorkerPool(reactor)) as workers:
        try:
            harness = RayHarness(open_executor, wait_until, folder / "a workspace, señor", repository)
            assert wait_until(lambda: sum(not each.problem for each in harness.executor.list_nodes()) >= nodes)
            assert wait_until(lambda: (harness.executor.slots or 0) >= nodes)
            yield harness
        finally:
            for executor in opened:
                executor.close()
