"""How much room workspaces take."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from plait.system.disk import DiskUsageCache

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo

MEGABYTE = 1 << 20


def test_disk_usage_counts_workspaces_pool_and_trash(repo: WorkspaceRepo) -> None:
    workspaces = repo.open()
    assert workspaces.measure_disk_usage() < MEGABYTE
    one, two = repo.prepare("one"), repo.prepare("two")
    for workspace in (one, two):
        (workspace / "big.log").write_bytes(os.urandom(MEGABYTE))
    os.link(one / "big.log", one / "again.log")
    assert 2 * MEGABYTE <= repo.open().measure_disk_usage() < 3 * MEGABYTE
    repo.release("one")
    assert MEGABYTE <= repo.open().measure_disk_usage() < 3 * MEGABYTE
    repo.release("two")
    repo.open().trim_pool()
    assert repo.open().measure_disk_usage() < MEGABYTE


def test_a_folder_is_measured_again_only_when_needed(tmp_path: Path) -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0  # looking takes a second
        return now[0]

    sizes = DiskUsageCache(clock)
    folder = tmp_path / "folder"
    folder.mkdir()
    before = sizes.total([folder])
    (folder / "big").write_bytes(os.urandom(MEGABYTE))
    moved = folder.rename(tmp_path / "moved")
    assert sizes.total([moved]) == before
    now[0] += 50
    assert sizes.total([moved]) >= before + MEGABYTE
    assert sizes.total([tmp_path / "gone"]) == 0
