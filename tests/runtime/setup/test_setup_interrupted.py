"""Killed at any instant: the next process begins again, and nothing half made is taken for whole."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plait.git.interfaces import WorkspaceSetup

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import Bench

FILES = 1500
COPYING = ".plait-outfit/copy/."  # a folder


def killed_while(bench: Bench, outfit: WorkspaceSetup, seen: str) -> Path:
    """A workspace whose process was killed while there was such a path in it; it may be too quick now and then."""
    for n in range(50):
        workspace = bench.worktree(f"work{n}")
        process = bench.start(workspace, outfit)
        while not os.path.lexists(f"{workspace}/{seen}") and process.poll() is None:
            time.sleep(0.001)
        if process.poll() is None:
            bench.kill(workspace, process)
            if os.path.lexists(f"{workspace}/{seen}"):
                return workspace
        else:
            bench.end(workspace, process)
    raise AssertionError("it is always too quick")


def test_in_the_middle_of_a_copy(bench: Bench) -> None:
    for n in range(FILES):
        bench.write(f"data/{n % 50}/{n}", "x" * n)
    outfit = WorkspaceSetup(copy=("data",))
    workspace = killed_while(bench, outfit, COPYING)
    assert not (workspace / "data").exists()
    assert bench.status(workspace) == "", "what is half copied is not seen by git"
    assert bench.ours(workspace) == {"data"}
    assert bench.wanted(workspace, outfit)
    assert bench.fit(workspace, outfit).code == 0
    assert not (workspace / ".plait-outfit").exists()
    sizes = {path.name: path.stat().st_size for path in (workspace / "data").rglob("*") if path.is_file()}
    assert sizes == {str(n): n for n in range(FILES)}
    assert not bench.wanted(workspace, outfit)


def test_between_two_copies_what_the_person_changed_since_is_copied_anew(bench: Bench) -> None:
    bench.write(".env", "first")
    for n in range(FILES):
        bench.write(f"data/{n}", "")
    outfit = WorkspaceSetup(copy=(".env", "data"))
    workspace = killed_while(bench, outfit, COPYING)
    assert (workspace / ".env").read_text() == "first"
    bench.write(".env", "second")
    assert bench.fit(workspace, outfit).code == 0
    assert (workspace / ".env").read_text() == "second"


def test_in_the_middle_of_a_setup(bench: Bench) -> None:
    done = bench.root / "done"
    command = (
        f"mkdir -p made; echo half >made/file; while [ ! -e '{done}' ]; do sleep 0.02; done; echo whole >made/file"
    )
    outfit = WorkspaceSetup(setup=command, reads=("code.txt",), makes=("made",))
    workspace = bench.worktree()
    process = bench.start(workspace, outfit)
    bench.until((workspace / "made/file").exists)
    bench.kill(workspace, process)
    assert bench.wanted(workspace, outfit)
    assert bench.ours(workspace) == {"made"}
    done.touch()
    assert bench.fit(workspace, outfit).code == 0
    assert (workspace / "made/file").read_text() == "whole\n"
    other = bench.worktree("other")
    assert "reused cached setup" in bench.fit(other, outfit).out
    assert (other / "made/file").read_text() == "whole\n"


def test_while_it_keeps_what_setup_made(bench: Bench) -> None:
    """The cache holds all of it or nothing, and what was begun is cleared away."""
    make = f"mkdir -p made; i=0; while [ $i -lt {FILES} ]; do : >made/$i; i=$((i + 1)); done"
    outfit = WorkspaceSetup(setup=make, reads=("code.txt",), makes=("made",))
    for n in range(20):
        workspace = bench.worktree(f"one{n}")
        changed = replace(outfit, setup=f": {n}; {make}")
        process = bench.start(workspace, changed)
        while not [*bench.cache.glob("*.new/tree/made")] and process.poll() is None:
            time.sleep(0.001)
        bench.kill(workspace, process)
        if [*bench.cache.glob("*.new")]:
            break
    else:
        raise AssertionError("it is always too quick")
    again = bench.fit(bench.worktree("again"), changed)
    assert "plait: setting up" in again.out
    assert not [*bench.cache.glob("*.new")]
    third = bench.worktree("third")
    assert "reused cached setup" in bench.fit(third, changed).out
    assert len([*(third / "made").iterdir()]) == FILES


def test_a_damaged_stamp_is_no_stamp(bench: Bench) -> None:
    bench.write(".env")
    workspace, outfit = bench.worktree(), WorkspaceSetup(copy=(".env",))
    stamp = bench.top / ".git/worktrees/work/plait-outfit"
    for text in ("", "{", "[]", '{"key": 1}', '{"key":"","ours":3,"fitted":"","made":[],"used":false}'):
        bench.fit(workspace, outfit)
        assert not bench.wanted(workspace, outfit)
        stamp.write_text(text)
        assert bench.wanted(workspace, outfit)
