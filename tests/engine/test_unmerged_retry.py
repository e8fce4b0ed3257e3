"""What a person keeps from being merged is merged when they ask for it again: the agent has done its part."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.requests import Retry
from plait.core.settings import Backoff, Settings
from plait.core.task import Step, Task
from plait.git import refs
from plait.store import batch_files
from tests.support.git_repository import GitRepository

if TYPE_CHECKING:
    from tests.support.engine_harness import EngineHarness, RunningEngine

AT_ONCE = Settings(agents=("shell",), verify="test -e a.txt", retries=0, backoff=Backoff(0))
BRANCH = refs.batch_branch("b")


@pytest.fixture
def blocked(harness: EngineHarness, repository: GitRepository, tmp_path: Path) -> RunningEngine:
    """Its engine has given up merging: the batch branch is checked out in another worktree."""
    base = repository.git("rev-parse", "HEAD")
    repository.git("branch", BRANCH, base)
    repository.git("worktree", "add", "--quiet", str(tmp_path / "review"), BRANCH)
    task = Task("a", run=f"echo run >> {tmp_path / 'runs'}; echo a > a.txt")
    harness.submit(task, settings=AT_ONCE, base=base, branch=BRANCH)
    engine = harness.engine()
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"a": "failed"}
    assert f"is checked out in {tmp_path / 'review'}" in engine.batch().tasks[0].reason
    return engine


def again(harness: EngineHarness, engine: RunningEngine) -> None:
    """Retry the task with a new environment, as a front end does."""
    batch_files.write_batch_environment(harness.folder, "b", dict(os.environ))
    harness.request(Retry("retry", "b", "a"))
    assert engine.wait_until(lambda: engine.batch().tasks[0].generation == 2 and engine.has_ended())


def test_a_verified_change_is_merged_when_the_branch_is_free_again(
    harness: EngineHarness, repository: GitRepository, blocked: RunningEngine, tmp_path: Path
) -> None:
    repository.git("switch", "--quiet", "--detach", at=tmp_path / "review")
    again(harness, blocked)
    assert blocked.statuses() == {"a": "done"}
    assert repository.git("show", f"{BRANCH}:a.txt") == "a"
    assert (tmp_path / "runs").read_text() == "run\n"
    assert blocked.batch().tasks[0].attempt_counts[Step.VERIFY] == 1


def test_a_result_removed_by_gc_is_written_again(
    harness: EngineHarness, repository: GitRepository, blocked: RunningEngine, tmp_path: Path
) -> None:
    repository.git("worktree", "remove", "--force", str(tmp_path / "review"))
    tip = repository.git("rev-parse", refs.task_branch("b", "a"))
    blocked.wait_until(lambda: blocked.engine.is_finished)
    repository.git("branch", "--quiet", "-D", refs.task_branch("b", "a"))
    for path in (repository.git_dir / "objects" / tip[:2] / tip[2:], *repository.git_dir.glob("objects/pack/*")):
        path.unlink()
    again(harness, blocked)
    assert blocked.statuses() == {"a": "done"}
    assert repository.git("show", f"{BRANCH}:a.txt") == "a"
    assert (tmp_path / "runs").read_text() == "run\nrun\n"
