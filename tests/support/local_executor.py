"""A local executor for contract tests. None of its processes survives the test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from plait.git.worktrees.workspaces import GitWorkspaces
from plait.runtime import cgroup
from plait.runtime.executor import Executor, ExecutorCallbacks
from plait.runtime.local_executor import LocalExecutor
from plait.runtime.local_workspaces import LocalWorkspaces
from plait.runtime.reactor import SelectReactor
from plait.runtime.termination import GracePeriods
from plait.runtime.worker_pool import WorkerPool
from plait.system.state_paths import StateFolder
from plait.testing.contracts.executor import ExecutorHarness
from tests.support.leaked_processes import kill_leaked_processes
from tests.support.waiting import TIMEOUT_SECONDS

# Long enough for a process that obeys on a busy machine; one that ignores signals makes a test wait for both.
SHORT_GRACES = GracePeriods(interrupt=3.0, terminate=1.0, leftover=0.2)


@contextmanager
def local_executor_setup(
    folder: Path, *, graces: GracePeriods = SHORT_GRACES, private_root: Path | None = None
) -> Iterator[ExecutorHarness]:
    opened: list[LocalExecutor] = []
    state = StateFolder(folder / "state")

    def site(witness: ExecutorCallbacks) -> Executor:
        spaces = LocalWorkspaces(
            lambda: GitWorkspaces(folder / "repository" / ".git", folder / "worktrees"),
            workers,
            state,
            folder / "setups",
            private_root=private_root,
        )
        opened.append(LocalExecutor(witness, reactor, spaces, grace_periods=graces))
        return opened[-1]

    def until(over: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not over() and time.monotonic() < deadline:
            reactor.step(0.02)
        return over()

    with closing(SelectReactor()) as reactor, closing(WorkerPool(reactor)) as workers:
        try:
            yield ExecutorHarness(site, until, folder / "a workspace, señor", folder / "repository")
        finally:
            for executor in opened:
                executor.close()
            kill_leaked_processes(folder)
            for path in state.batches.glob("*/tasks/*/write-*/scope"):
                cgroup.remove_cgroup(path.read_text())
