"""Cleans up, and is killed in the middle of it: at the nth of the moments at which something is changed."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from plait.git.gc.collector import GarbageCollector, JournalFacts
from plait.git.gc.items import GcBatch, GcOptions
from plait.git.gc.removal_rules import plan_gc
from plait.git.refs import batch_branch
from plait.git.worktrees.worktree import Repository, WorkspaceLayout
from plait.system.state_paths import StateFolder

_MOMENTS = {"os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "subprocess.Popen"}


def main(common: Path, root: Path, moment: int) -> None:
    batches = {"beef": GcBatch("beef", is_over=True, since=time.time())}
    known = JournalFacts(batches, {"beef": ("a",)}, {"beef": batch_branch("beef")})
    attic = GarbageCollector(Repository(common), WorkspaceLayout(root), StateFolder(common / "plait"), lambda: known)
    plan = plan_gc(attic.collect_facts(), GcOptions())
    seen = 0

    def hook(event: str, _: object) -> None:
        nonlocal seen
        if event in _MOMENTS:
            seen += 1
            if seen == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    list(attic.clean(plan.removals, GcOptions()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
