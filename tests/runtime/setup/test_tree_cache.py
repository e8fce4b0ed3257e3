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
from plait.system.disk import tree_size
from plait.system.tree_cache import TreeCache, prune_tree_cache

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import Bench

SIZE = 1 << 20


def entries(cache: Path) -> list[Path]:
    return [each for each in cache.iterdir() if each.is_dir()]


@pytest.fixture
def outfit() -> WorkspaceSetup:
    make = f"mkdir made; head -c {SIZE} /dev/zero | tr '\\0' x >made/file; chmod 555 made"
    return WorkspaceSetup(setup=make, reads=("code.txt",), makes=("made",))


def test_a_cache_that_lost_something_is_made_anew(bench: Bench, outfit: WorkspaceSetup) -> None:
    bench.fit(bench.worktree("one"), outfit)
    (entry,) = entries(bench.cache)
    os.truncate(entry / "tree/made/file", 0)
    other = bench.worktree("other")
    assert "plait: setting up" in bench.fit(other, outfit).out
    third = bench.worktree("third")
    assert "reused cached setup" in bench.fit(third, outfit).out
    assert (third / "made/file").stat().st_size == SIZE


def test_what_was_not_used_for_longest_goes_first(bench: Bench, outfit: WorkspaceSetup) -> None:
    outfits = [replace(outfit, setup=f": {n}; {outfit.setup}") for n in range(3)]
    for n, each in enumerate(outfits):
        bench.fit(bench.worktree(f"first{n}"), each)
        for entry in entries(bench.cache):
            os.utime(entry, (1000, entry.stat().st_mtime - 1000))
    bench.fit(bench.worktree("again"), outfits[0])
    assert prune_tree_cache(bench.cache, 5 * SIZE // 2) >= SIZE
    assert len(entries(bench.cache)) == 2
    told = [bench.fit(bench.worktree(f"second{n}"), each).out for n, each in enumerate(outfits)]
    assert ["setting up" in each for each in told] == [False, True, False]


def test_what_is_in_use_stays(bench: Bench, outfit: WorkspaceSetup) -> None:
    bench.fit(bench.worktree(), outfit)
    (entry,) = entries(bench.cache)
    with TreeCache(bench.cache).lock(entry.name, shared=True, on_wait=lambda: None):
        assert prune_tree_cache(bench.cache, 0) == 0
        assert entry.exists()
    assert prune_tree_cache(bench.cache, 0) >= SIZE
    assert [*bench.cache.iterdir()] == []


def test_what_was_left_half_done_is_cleared_away(bench: Bench, outfit: WorkspaceSetup) -> None:
    bench.fit(bench.worktree(), outfit)
    (entry,) = entries(bench.cache)
    (bench.cache / f"{'0' * 40}.new/tree").mkdir(parents=True)
    (bench.cache / f"{'1' * 40}.gone").mkdir()
    (bench.cache / "somebody's").mkdir()
    assert prune_tree_cache(bench.cache, 1 << 40) < SIZE
    assert {*bench.cache.iterdir()} == {entry, bench.cache / f"{entry.name}.lock", bench.cache / "somebody's"}


def test_a_cache_that_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert prune_tree_cache(tmp_path / "none", 0) == 0
    assert not (tmp_path / "none").exists()


def test_a_setup_whose_result_has_no_room_in_the_cache_is_done_all_the_same(
    bench: Bench, outfit: WorkspaceSetup
) -> None:
    ended = bench.fit(bench.worktree(), outfit, spare=1 << 60)
    assert ended.code == 0
    assert "plait: warning: the result of setup is not cached for other workspaces" in ended.out
    assert entries(bench.cache) == []


def test_folders_that_forbid_it_are_removed_all_the_same(
    bench: Bench, outfit: WorkspaceSetup, humble: tuple[str, ...]
) -> None:
    bench.fit(bench.worktree("one"), outfit)
    other = bench.worktree("other")
    ended = bench.fit(other, outfit, prefix=humble)
    assert "reused cached setup" in ended.out
    assert (other / "made").stat().st_mode & 0o777 == 0o555
    prune = "import sys, pathlib, plait.system.tree_cache as o; o.prune_tree_cache(pathlib.Path(sys.argv[1]), 0)"
    subprocess.run([*humble, sys.executable, "-c", prune, str(bench.cache)], check=True)
    assert [*bench.cache.iterdir()] == []


def test_a_tree_takes_its_blocks_once_and_holes_nothing(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "file").write_bytes(b"x" * SIZE)
    (tree / "again").hardlink_to(tree / "file")
    (tree / "out").symlink_to(tmp_path)
    with (tree / "holes").open("wb") as file:
        file.truncate(1 << 40)
    assert SIZE <= tree_size(tree) < 2 * SIZE
    assert tree_size(tmp_path / "none") == 0
