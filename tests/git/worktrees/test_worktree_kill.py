"""Whoever prepares or releases may be killed at any instant: the next one goes on, and no work is lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING

import pytest

from plait.system import flock

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo

SOON = 60
KILLS = 16
# For each line it reads, a process that goes round and round: prepares, works, goes to another base, releases. It says what
# it made before anything can happen to it.
FORKER = """
import os, sys
from pathlib import Path
from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees.workspaces import GitWorkspaces

def live(common, root, name, *bases):
    workspaces = GitWorkspaces(Path(common), Path(root), keep=1)
    for turn in range(10**6):
        for base in bases:
            path = Path(workspaces.prepare("7f3a", "one", base, WorkspaceSetup(), top=common))
            made = f"{name}-{turn}-{base[:8]}"
            (path / made).write_text(made)
            os.write(1, f"{made} ".encode())
        workspaces.release("7f3a", "one")

for line in sys.stdin:
    if not (pid := os.fork()):
        live(*line.rstrip("\\n").split("\\t"))
    os.write(1, f"{pid}\\n".encode())
    os.waitpid(pid, 0)
    os.write(1, b"\\n")
"""


@pytest.fixture
def forker() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", FORKER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        process.wait(SOON)


@pytest.mark.parametrize("seed", [1, 2])
def test_preparing_and_releasing_survive_a_kill_at_any_instant(
    repo: WorkspaceRepo, forker: subprocess.Popen[str], seed: int
) -> None:
    rng = Random(seed)
    bases = [repo.head, repo.commit({f"more/{n}": f"{n}\n" for n in range(30)})]
    before = repo.snapshot_user_files()
    made: set[str] = set()
    for number in range(KILLS):
        args = (str(repo.common), str(repo.root), f"v{number}", *bases)
        made |= _kill_one(forker, args, after=rng.uniform(0, 0.3))
        workspace = repo.prepare(base=(base := rng.choice(bases)))
        status = repo.status(workspace)
        assert all(line.startswith("?? v") for line in status.splitlines()), status  # all of its files, and work
        assert repo.git("symbolic-ref", "--short", "HEAD", at=workspace) == "plait/task-7f3a-one"
        assert repo.branch() == base
    repo.release_batch("one")
    saved = {name for each in repo.list_saved() for name in repo.git("ls-tree", "--name-only", each).split()}
    assert made <= saved, f"lost: {made - saved}"
    repo.open().trim_pool()
    assert repo.worktrees() == []
    assert [each for each in repo.root.rglob("*") if each.is_file()] == []
    ours = repo.common / "plait"
    files = [each for each in ours.rglob("*") if each.is_file() and ours / "packs" not in each.parents]
    assert files == [ours / "workspaces.lock"]
    assert repo.snapshot_user_files() == before


def _kill_one(forker: subprocess.Popen[str], args: Sequence[str], after: float) -> set[str]:
    """What it said it made. A git that it had started lives on for a moment, as it would."""
    assert forker.stdin is not None
    assert forker.stdout is not None
    forker.stdin.write("\t".join(args) + "\n")
    output = ""
    while not (found := re.search(r"(\d+)$", output)):  # it may have made something before its parent names it
        output = forker.stdout.readline().rstrip("\n")
    time.sleep(after)  # the instant
    os.kill(int(found[1]), signal.SIGKILL)
    output = output.removesuffix(found[1]) + forker.stdout.readline()
    return set(output.split())


def test_incomplete_worktrees_of_dead_processes_are_discarded_and_others_kept(repo: WorkspaceRepo) -> None:
    alive = repo.root / "making" / "plait-alive"
    alive.mkdir(parents=True)
    (repo.root / "making" / "plait-dead").mkdir()
    fd = flock.try_lock_folder(alive)
    assert fd is not None
    repo.prepare()
    assert list(repo.root.glob("making/*")) == [alive]
    os.close(fd)
    repo.prepare("two")
    assert list(repo.root.glob("making/*")) == []


def test_a_half_released_worktree_is_still_usable(repo: WorkspaceRepo) -> None:
    """Its gitdir was told of its new place, and then it was not moved."""
    workspace = repo.prepare()
    repo.write({"new": "n\n"}, at=workspace)
    gitdir = repo.gitdir(workspace)
    (gitdir / "gitdir").write_text(f"{repo.root}/pool/{gitdir.name}/.git\n")
    assert repo.prepare() == workspace
    assert repo.status(workspace) == "?? new"
    assert repo.worktrees() == [str(workspace)]
