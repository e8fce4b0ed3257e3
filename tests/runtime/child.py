"""An engine that only starts attempts, and dies when it is killed. Run as `child.py STATE WORKSPACE TASK… SCRIPT`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from plait.core.task import Attempt, Step
from plait.git.worktrees.workspaces import GitWorkspaces
from plait.runtime.executor import AttemptSpec
from plait.runtime.local_executor import LocalExecutor
from plait.runtime.local_workspaces import LocalWorkspaces
from plait.runtime.reactor import SelectReactor
from plait.runtime.worker_pool import WorkerPool
from plait.system.state_paths import StateFolder


class Speaker:
    """ExecutorCallbacks that print which attempt was launched."""

    def on_launched(self, attempt: Attempt, pid: int | None) -> None:
        sys.stdout.write(f"{attempt.task} {pid}\n")
        sys.stdout.flush()

    def on_start_failed(self, attempt: Attempt, error: Exception) -> None:
        sys.exit(f"{attempt} did not start: {error}")

    def on_exited(self, attempt: Attempt, code: int) -> None:
        self.on_launched(attempt, code)

    def on_lost(self, attempt: Attempt, why: str, *, is_outage: bool = False) -> None:  # noqa: ARG002
        sys.exit(f"{attempt} was lost: {why}")


def no_worktrees() -> GitWorkspaces:
    raise AssertionError("all attempts are in place")


if __name__ == "__main__":
    state, workspace, *tasks, script = sys.argv[1:]
    reactor = SelectReactor()
    folder = StateFolder(Path(state))
    spaces = LocalWorkspaces(no_worktrees, WorkerPool(reactor), folder, folder.root)
    executor = LocalExecutor(Speaker(), reactor, spaces)
    for task in tasks:
        job = AttemptSpec(
            Attempt("batch", task, Step.WRITE, 1),
            ("sh", "-c", script, "sh", task),
            workspace,
            dict(os.environ),
        )
        executor.start(job)
    while True:
        reactor.step()
