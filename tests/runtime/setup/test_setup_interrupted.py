"""Killed at any instant: the next process begins again, and nothing incomplete is taken for complete."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from plait.git.interfaces import WorkspaceSetup

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import SetupHarness

FILES = 1500
COPYING = ".plait-outfit/copy/."  # a folder


def killed_while(harness: SetupHarness, setup: WorkspaceSetup, seen: str) -> Path:
    """A workspace whose process was killed while there was such a path in it; it may be too quick now and then."""
    for n in range(50):
        workspace = harness.worktree(f"work{n}")
        process = harness.start(workspace, setup)
        while not os.path.lexists(f"{workspace}/{seen}") and process.poll() is None:
            time.sleep(0.001)
        if process.poll() is None:
            harness.kill(workspace, process)
            if os.path.lexists(f"{workspace}/{seen}"):
                return workspace
        else:
            harness.end(workspace, process)
    raise AssertionError("it is always too quick")


def test_setup_interrupted_during_a_copy_is_completed(harness: SetupHarness) -> None:
    for n in range(FILES):
        harness.write(f"data/{n % 50}/{n}", "x" * n)
    setup = WorkspaceSetup(copy=("data",))
    workspace = killed_while(harness, setup, COPYING)
    assert not (workspace / "data").exists()
    assert harness.status(workspace) == "", "what is half copied is not seen by git"
    assert harness.ours(workspace) == {"data"}
    assert harness.wanted(workspace, setup)
    assert harness.fit(workspace, setup).code == 0
    assert not (workspace / ".plait-outfit").exists()
    sizes = {path.name: path.stat().st_size for path in (workspace / "data").rglob("*") if path.is_file()}
    assert sizes == {str(n): n for n in range(FILES)}
    assert not harness.wanted(workspace, setup)


def test_setup_interrupted_between_copies_copies_later_changes(harness: SetupHarness) -> None:
    harness.write(".env", "first")
    for n in range(FILES):
        harness.write(f"data/{n}", "")
    setup = WorkspaceSetup(copy=(".env", "data"))
    workspace = killed_while(harness, setup, COPYING)
    assert (workspace / ".env").read_text() == "first"
    harness.write(".env", "second")
    assert harness.fit(workspace, setup).code == 0
    assert (workspace / ".env").read_text() == "second"


def test_setup_interrupted_while_the_command_runs_is_repeated(harness: SetupHarness) -> None:
    done = harness.root / "done"
    command = (
        f"mkdir -p made; echo half >made/file; while [ ! -e '{done}' ]; do sleep 0.02; done; echo whole >made/file"
    )
    setup = WorkspaceSetup(setup=command, reads=("code.txt",), makes=("made",))
    workspace = harness.worktree()
    process = harness.start(workspace, setup)
    harness.until((workspace / "made/file").exists)
    harness.kill(workspace, process)
    assert harness.wanted(workspace, setup)
    assert harness.ours(workspace) == {"made"}
    done.touch()
    assert harness.fit(workspace, setup).code == 0
    assert (workspace / "made/file").read_text() == "whole\n"
    other = harness.worktree("other")
    assert "reused cached setup" in harness.fit(other, setup).out
    assert (other / "made/file").read_text() == "whole\n"


def test_setup_interrupted_while_it_is_cached_leaves_no_partial_entry(harness: SetupHarness) -> None:
    """The cache holds all of it or nothing, and what was begun is cleared away."""
    make = f"mkdir -p made; i=0; while [ $i -lt {FILES} ]; do : >made/$i; i=$((i + 1)); done"
    setup = WorkspaceSetup(setup=make, reads=("code.txt",), makes=("made",))
    for n in range(20):
        workspace = harness.worktree(f"one{n}")
        changed = replace(setup, setup=f": {n}; {make}")
        process = harness.start(workspace, changed)
        while not [*harness.cache.glob("*.new/tree/made")] and process.poll() is None:
            time.sleep(0.001)
        harness.kill(workspace, process)
        if [*harness.cache.glob("*.new")]:
            break
    else:
        raise AssertionError("it is always too quick")
    again = harness.fit(harness.worktree("again"), changed)
    assert "plait: setting up" in again.out
    assert not [*harness.cache.glob("*.new")]
    third = harness.worktree("third")
    assert "reused cached setup" in harness.fit(third, changed).out
    assert len([*(third / "made").iterdir()]) == FILES


def test_damaged_metadata_counts_as_missing(harness: SetupHarness) -> None:
    harness.write(".env")
    workspace, setup = harness.worktree(), WorkspaceSetup(copy=(".env",))
    stamp = harness.top / ".git/worktrees/work/plait-outfit"
    for text in ("", "{", "[]", '{"key": 1}', '{"key":"","ours":3,"fitted":"","made":[],"used":false}'):
        harness.fit(workspace, setup)
        assert not harness.wanted(workspace, setup)
        stamp.write_text(text)
        assert harness.wanted(workspace, setup)
