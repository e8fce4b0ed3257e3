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


def test_killed_at_any_moment(house: GcProject) -> None:
    house.batch("beef", "a")
    mine, moment, killed = house.snapshot_user_files(), 1, 0
    while True:
        (house.workspace("beef", "a") / "new.txt").write_text(f"at {moment}\n")
        line = [sys.executable, str(CHILD), str(house.common), str(house.root), str(moment)]
        died = subprocess.run(line, check=False, timeout=60).returncode != 0
        assert house.find_kept(house.clean()) == {}
        assert house.list_worktrees() == []
        assert house.snapshot_user_files() == mine
        newest = f"refs/plait/saved/beef/a/{1 + killed}"
        assert house.git("show", f"{newest}:new.txt") == f"at {moment}"
        assert len(house.refs("refs/plait/saved")) == 1 + killed
        killed += died
        if not died:
            break
        moment += STRIDE
    assert killed > 3
