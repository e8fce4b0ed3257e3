"""Killed at any instant and asked again, the integrator makes the same commits."""

from __future__ import annotations

import base64
import pickle
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from plait.core.decisions import Change, MergeStarted, RebuildStarted
from plait.core.reports import MergeConflicted, MergeDone, RebuildDone
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import GitRepository
from tests.support.random_agent import make_initial_files, make_random_agent

Order = MergeStarted | RebuildStarted
Result = MergeDone | MergeConflicted | RebuildDone


def _undisturbed(line: MergedBranch, rng: Random) -> list[tuple[Order, Result]]:
    """Merges with drops in between, each task on the head of its time."""
    done: list[tuple[Order, Result]] = []
    for n in range(9):
        base = line.head if n % 2 else line.base
        change = Change(f"t{n}", base, line.repository.commit(make_random_agent(rng), base))
        merge = line.make_merge(change)
        done.append((merge, line.merge(change.task, change.tip, base)))
        if n in {4, 7} and line.changes:
            rebuild = line.make_rebuild(rng.choice(line.changes).task)
            done.append((rebuild, line.rebuild(rebuild)))
    return done


def _until_killed(top: Path, base: str, orders: Sequence[Order], timeout: float) -> list[Result]:
    """What it told before it was killed. `patience` counts from its first result: starting takes the longest."""
    child = Path(__file__).with_name("child.py")
    with subprocess.Popen(
        [sys.executable, str(child), str(top), base], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pickle.dumps(orders))
        process.stdin.close()
        output = [process.stdout.readline()]
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
        output += process.stdout.read().splitlines()
        assert process.wait() in {0, -9}
    return [pickle.loads(base64.b64decode(line)) for line in output if line]


def test_repeating_calls_after_a_kill_gives_the_same_commits(tmp_path: Path) -> None:
    rng = Random(1)
    repository = GitRepository(tmp_path / "repository")
    base = repository.commit(make_initial_files(rng))
    expected = _undisturbed(MergedBranch(repository, base), rng)
    refs = _refs(repository)
    other = tmp_path / "other"
    shutil.copytree(repository.top, other, symlinks=True)
    disturbed = GitRepository(other)
    for ref in refs:
        disturbed.git("update-ref", "-d", ref)
    done: list[Result] = []
    while len(done) < len(expected):
        left = [decision for decision, _ in expected[len(done) :]]
        done += _until_killed(other, base, left, rng.uniform(0, 0.1))
    assert done == [result for _, result in expected]
    assert _refs(disturbed) == refs


def _refs(repository: GitRepository) -> dict[str, str]:
    listing = repository.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/plait", "refs/plait")
    return dict(line.split() for line in listing.splitlines())
