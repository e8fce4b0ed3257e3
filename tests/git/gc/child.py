"""Cleans up, and is killed in the middle of it: at the nth of the moments at which something is changed."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from plait.git.gc.collector import GarbageCollector
from plait.git.gc.removal_rules import GcBatch, GcOptions, plan_gc
from plait.git.refs import batch_branch
from plait.git.worktrees.worktree import Repository, WorkspaceLayout
from plait.system.state_paths import StateFolder

_MOMENTS = {"os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "subprocess.Popen"}


def main(common: Path, root: Path, moment: int) -> None:
    batch = GcBatch("beef", is_over=True, since=time.time(), tasks=("a",), branch=batch_branch("beef"))
    collector = GarbageCollector(
        Repository(common), WorkspaceLayout(root), StateFolder(common / "plait"), lambda: {"beef": batch}
    )
    plan = plan_gc(collector.collect_facts(), GcOptions())
    seen = 0

    def hook(event: str, _: object) -> None:
        nonlocal seen
        if event in _MOMENTS:
            seen += 1
            if seen == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    list(collector.clean(plan.removals, GcOptions()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
