"""What a person keeps from being merged is merged when they ask for it again: the agent has done its part."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.events import Record
from plait.core.explain import explain_in_words
from plait.core.reports import AttemptLost
from plait.core.requests import Pause, Retry, Unpause
from plait.core.settings import Backoff, Settings
from plait.core.task import Attempt, Need, Step, Task
from plait.git import refs
from plait.git.merge.branch_merger import GitBranchMerger
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


@pytest.fixture
def merged(harness: EngineHarness, repository: GitRepository, tmp_path: Path) -> RunningEngine:
    """`a` is merged, `c` needs it and does not start yet, and `b` runs until it may fail."""
    run = f"echo $PLAIT_TASK_ID >> {tmp_path / 'runs'}; echo x > $PLAIT_TASK_ID.txt"
    wait = f"while ! [ -e {tmp_path}/go-$PLAIT_TASK_ID ]; do sleep 0.05; done"
    tasks = (
        Task("a", run=f"{run}; {wait}"),
        Task("b", run=f"{run}; {wait}; exit $(cat {tmp_path}/go-b)"),
        Task("c", run=run, needs=(Need("a"),)),
    )
    settings = Settings(agents=("shell",), retries=0, backoff=Backoff(0.3, factor=1), max_parallel=2)
    harness.submit(*tasks, settings=settings, base=repository.git("rev-parse", "HEAD"), branch=BRANCH)
    engine = harness.engine()
    assert engine.wait_until(lambda: len(read_runs(tmp_path)) == 2)
    harness.request(Pause("pause", "b"))
    assert engine.wait_until(lambda: engine.batch().paused is not None)
    (tmp_path / "go-a").touch()
    assert engine.wait_until(lambda: len(engine.batch().merges) == 1)
    return engine


def read_runs(folder: Path) -> list[str]:
    """The tasks whose agents have run."""
    runs = folder / "runs"
    return sorted(runs.read_text().split()) if runs.exists() else []


def delete_and_prune(repository: GitRepository, *names: str) -> None:
    for name in names:
        repository.git("update-ref", "-d", name)
    repository.git("reflog", "expire", "--all", "--expire=now")
    repository.git("gc", "--quiet", "--prune=now")


@pytest.mark.parametrize("restarts", [False, True])
def test_merges_that_are_gone_are_made_again_before_they_are_needed(
    harness: EngineHarness, repository: GitRepository, merged: RunningEngine, tmp_path: Path, *, restarts: bool
) -> None:
    """Someone deletes the branch of a batch, and prunes: what was merged isn't written again. The next merge needs it, or
    the next task, since `b` fails.
    """
    engine, head = merged, merged.batch().head
    if restarts:
        engine.kill()
    delete_and_prune(repository, f"refs/heads/{BRANCH}")
    assert repository.run("cat-file", "-e", head).returncode
    (tmp_path / "go-b").write_text(f"{restarts:d}")
    harness.request(Unpause("unpause", "b"))
    engine = harness.engine() if restarts else engine
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"a": "done", "b": "failed" if restarts else "done", "c": "done"}
    assert engine.batch().merges[0].commit == head
    assert repository.files(BRANCH).keys() >= {"a.txt", "c.txt"}
    assert read_runs(tmp_path) == ["a", "b", "c"]


def test_many_failures_are_one_reason_to_look_for_gone_merges(
    harness: EngineHarness, repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git looks at all that was merged; plait does nothing for each merge if none is gone. Attempts that are cut off with their
    cluster are no reason.
    """
    looks, is_whole = list[str](), GitBranchMerger.is_whole

    def look(merger: GitBranchMerger, head: str, base: str) -> bool:
        looks.append(head)
        return is_whole(merger, head, base)

    monkeypatch.setattr(GitBranchMerger, "is_whole", look)
    monkeypatch.setattr(GitBranchMerger, "restore", None)
    tasks = (Task("a", run="echo a > a.txt"), Task("b", run=f"until [ -e {tmp_path}/go ]; do sleep 0.05; done"))
    settings = Settings(agents=("shell",), max_parallel=2)
    harness.submit(*tasks, settings=settings, base=repository.git("rev-parse", "HEAD"), branch=BRANCH)
    engine = harness.engine()
    assert engine.wait_until(lambda: len(engine.engine.state.batches) == 1 and len(engine.batch().merges) == 1)
    attempt, perform = Attempt("b", "b", Step.WRITE, 1), engine.parts.performer.perform
    perform(Record(1, 0, AttemptLost(attempt, "cut off", outage=True)))
    assert engine.wait_until(lambda: engine.parts.workers.is_idle)
    assert looks == []
    for _ in range(3):
        perform(Record(1, 0, AttemptLost(attempt, "gone")))
    assert engine.wait_until(lambda: engine.parts.workers.is_idle)
    assert looks == [engine.batch().head]
    engine.batch().merges_to_drop[0] = None  # a rebuild makes the others again
    perform(Record(1, 0, AttemptLost(attempt, "gone")))
    engine.batch().merges_to_drop.clear()
    assert engine.parts.workers.is_idle
    perform(Record(1, 0, AttemptLost(attempt, "gone again")))
    assert engine.wait_until(lambda: len(looks) == 2)
    (tmp_path / "go").touch()
    assert engine.wait_until(engine.has_ended)


def test_a_task_that_needs_a_result_which_is_gone_says_what_to_do(
    harness: EngineHarness, repository: GitRepository, merged: RunningEngine, tmp_path: Path
) -> None:
    """Someone deletes all that is left of it."""
    of_a = repository.git("for-each-ref", "--format=%(refname)", "refs/plait/attempts/b/a", "refs/heads/plait/task-b-a")
    assert merged.wait_until(lambda: merged.parts.workers.is_idle)
    listed = repository.git("worktree", "list", "--porcelain").splitlines()
    [pooled] = [line.removeprefix("worktree ") for line in listed if line.startswith("worktree ") and "/pool/" in line]
    repository.git("worktree", "remove", "--force", pooled)  # its HEAD holds the result, too
    delete_and_prune(repository, f"refs/heads/{BRANCH}", *of_a.splitlines())
    (tmp_path / "go-b").write_text("1")
    harness.request(Unpause("unpause", "b"))
    assert merged.wait_until(lambda: merged.batch().tasks[2].retry_reason is not None)
    state = merged.engine.state
    assert "the engine's log names its task: retry or drop that first" in explain_in_words(
        state, merged.batch(), merged.batch().tasks[2]
    )
