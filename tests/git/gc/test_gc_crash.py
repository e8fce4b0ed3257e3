"""Killed in the middle of cleaning up, at any moment: nothing is lost, and the next one finishes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.git.gc.conftest import GcProject

CHILD = Path(__file__).with_name("child.py")
STRIDE = 7  # moments between two kills: all of them would take long


def test_gc_killed_at_any_moment_loses_no_work(project: GcProject) -> None:
    project.batch("beef", "a")
    mine, moment, killed = project.snapshot_user_files(), 1, 0
    while True:
        (project.workspace("beef", "a") / "new.txt").write_text(f"at {moment}\n")
        line = [sys.executable, str(CHILD), str(project.common), str(project.root), str(moment)]
        died = subprocess.run(line, check=False, timeout=60).returncode != 0
        assert project.find_kept(project.clean()) == {}
        assert project.list_worktrees() == []
        assert project.snapshot_user_files() == mine
        newest = f"refs/plait/saved/beef/a/{1 + killed}"
        assert project.git("show", f"{newest}:new.txt") == f"at {moment}"
        assert len(project.refs("refs/plait/saved")) == 1 + killed
        killed += died
        if not died:
            break
        moment += STRIDE
    assert killed > 3
