"""What setups made: whole or not there, and bounded."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.git.interfaces import WorkspaceSetup
from plait.system.copy_tree import TreeCache, prune_tree_cache
from plait.system.disk import tree_size

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import SetupHarness

SIZE = 1 << 20


def entries(cache: Path) -> list[Path]:
    return [each for each in cache.iterdir() if each.is_dir()]


@pytest.fixture
def setup() -> WorkspaceSetup:
    make = f"mkdir made; head -c {SIZE} /dev/zero | tr '\\0' x >made/file; chmod 555 made"
    return WorkspaceSetup(setup=make, reads=("code.txt",), makes=("made",))


def test_an_incomplete_cache_entry_is_made_again(harness: SetupHarness, setup: WorkspaceSetup) -> None:
    harness.fit(harness.worktree("one"), setup)
    (entry,) = entries(harness.cache)
    os.truncate(entry / "tree/made/file", 0)
    other = harness.worktree("other")
    assert "plait: setting up" in harness.fit(other, setup).out
    third = harness.worktree("third")
    assert "reused cached setup" in harness.fit(third, setup).out
    assert (third / "made/file").stat().st_size == SIZE


def test_the_least_recently_used_entry_is_removed_first(harness: SetupHarness, setup: WorkspaceSetup) -> None:
    setups = [replace(setup, setup=f": {n}; {setup.setup}") for n in range(3)]
    for n, each in enumerate(setups):
        harness.fit(harness.worktree(f"first{n}"), each)
        for entry in entries(harness.cache):
            os.utime(entry, (1000, entry.stat().st_mtime - 1000))
    harness.fit(harness.worktree("again"), setups[0])
    assert prune_tree_cache(harness.cache, 5 * SIZE // 2) >= SIZE
    assert len(entries(harness.cache)) == 2
    outputs = [harness.fit(harness.worktree(f"second{n}"), each).out for n, each in enumerate(setups)]
    assert ["setting up" in each for each in outputs] == [False, True, False]


def test_an_entry_in_use_stays(harness: SetupHarness, setup: WorkspaceSetup) -> None:
    harness.fit(harness.worktree(), setup)
    (entry,) = entries(harness.cache)
    with TreeCache(harness.cache).lock(entry.name, shared=True, on_wait=lambda: None):
        assert prune_tree_cache(harness.cache, 0) == 0
        assert entry.exists()
    assert prune_tree_cache(harness.cache, 0) >= SIZE
    assert [*harness.cache.iterdir()] == []


def test_partial_entries_are_removed(harness: SetupHarness, setup: WorkspaceSetup) -> None:
    harness.fit(harness.worktree(), setup)
    (entry,) = entries(harness.cache)
    (harness.cache / f"{'0' * 40}.new/tree").mkdir(parents=True)
    (harness.cache / f"{'1' * 40}.gone").mkdir()
    (harness.cache / "somebody's").mkdir()
    assert prune_tree_cache(harness.cache, 1 << 40) < SIZE
    assert {*harness.cache.iterdir()} == {entry, harness.cache / f"{entry.name}.lock", harness.cache / "somebody's"}


def test_a_missing_cache_takes_no_space(tmp_path: Path) -> None:
    assert prune_tree_cache(tmp_path / "none", 0) == 0
    assert not (tmp_path / "none").exists()


def test_setup_works_without_space_in_the_cache(harness: SetupHarness, setup: WorkspaceSetup) -> None:
    ended = harness.fit(harness.worktree(), setup, spare=1 << 60)
    assert ended.code == 0
    assert "plait: warning: the result of setup is not cached for other workspaces" in ended.out
    assert entries(harness.cache) == []


def test_read_only_folders_are_removed(harness: SetupHarness, setup: WorkspaceSetup, humble: tuple[str, ...]) -> None:
    harness.fit(harness.worktree("one"), setup)
    other = harness.worktree("other")
    ended = harness.fit(other, setup, prefix=humble)
    assert "reused cached setup" in ended.out
    assert (other / "made").stat().st_mode & 0o777 == 0o555
    prune = "import sys, pathlib, plait.system.copy_tree as o; o.prune_tree_cache(pathlib.Path(sys.argv[1]), 0)"
    subprocess.run([*humble, sys.executable, "-c", prune, str(harness.cache)], check=True)
    assert [*harness.cache.iterdir()] == []


def test_hard_links_count_once_and_holes_take_no_space(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "file").write_bytes(b"x" * SIZE)
    (tree / "again").hardlink_to(tree / "file")
    (tree / "out").symlink_to(tmp_path)
    with (tree / "holes").open("wb") as file:
        file.truncate(1 << 40)
    assert SIZE <= tree_size(tree) < 2 * SIZE
    assert tree_size(tmp_path / "none") == 0
