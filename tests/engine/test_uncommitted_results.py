"""What an agent has finished is committed in the end, and its agent runs once, whatever keeps git from committing it."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.explain import explain_in_words
from plait.core.requests import CancelTask, Retry
from plait.core.settings import Backoff, Settings
from plait.core.status import Category
from plait.core.task import Task
from plait.git import command, refs
from plait.git.worktrees.agent_worktree import WorktreeError
from plait.store import batch_files
from plait.system import processes
from tests.support.git_repository import GitRepository

if TYPE_CHECKING:
    from tests.support.engine_harness import EngineHarness, RunningEngine

BRANCH = refs.batch_branch("b")
AT_ONCE = Settings(agents=("shell",), retries=0, backoff=Backoff(0))
LATER = Settings(agents=("shell",), retries=0, backoff=Backoff(3600, cap=3600))


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "CHECK_SECONDS", 0.2)


def submit(harness: EngineHarness, repository: GitRepository, settings: Settings) -> None:
    base = repository.git("rev-parse", "HEAD")
    repository.git("branch", BRANCH, base)
    task = Task("a", run=f"echo run >> {harness.place.top.parent / 'runs'}; echo a > a.txt")
    harness.submit(task, settings=settings, base=base, branch=BRANCH)


def retry(harness: EngineHarness) -> None:
    batch_files.write_batch_environment(harness.folder, "b", dict(os.environ))
    harness.request(Retry("retry", "b", "a"))


def explain(engine: RunningEngine) -> str:
    batch = engine.batch()
    return explain_in_words(engine.engine.state, batch, batch.tasks[0])


def assert_merged(harness: EngineHarness, engine: RunningEngine, repository: GitRepository) -> None:
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"a": "done"}
    assert repository.git("show", f"{BRANCH}:a.txt") == "a"
    assert (harness.place.top.parent / "runs").read_text() == "run\n"


def sign_with(repository: GitRepository, folder: Path, script: str) -> None:
    program = folder / "signer.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    repository.git("config", "commit.gpgsign", "true")
    repository.git("config", "gpg.program", str(program))


def test_a_result_that_cannot_be_signed_waits_and_a_retry_commits_it_at_once(
    harness: EngineHarness, repository: GitRepository, tmp_path: Path
) -> None:
    sign_with(repository, tmp_path, "exit 1")
    submit(harness, repository, LATER)
    engine = harness.engine()
    assert engine.wait_until(lambda: bool(engine.engine.state.batches) and engine.batch().tasks[0].waits_to_commit)
    why = (
        "signing failed: gpg failed to sign the data. Unlock the key, or set commit.gpgsign to false in this repository"
    )
    said = f"committing again soon: can't commit the result: {why}. plait retry tries again at once"
    assert explain(engine) == f"a is waiting: {said}"
    assert engine.engine.state.slots == 0
    engine.kill()  # the next engine knows that the agent has finished
    repository.git("config", "commit.gpgsign", "false")
    engine = harness.engine()
    retry(harness)
    assert_merged(harness, engine, repository)


def test_a_task_that_failed_without_a_commit_keeps_its_workspace_for_a_retry(
    harness: EngineHarness, repository: GitRepository, tmp_path: Path
) -> None:
    sign_with(repository, tmp_path, "exit 1")
    submit(harness, repository, AT_ONCE)
    engine = harness.engine()
    assert engine.wait_until(engine.has_ended)
    assert engine.batch().tasks[0].category is Category.COMMIT
    engine.kill()
    engine = harness.engine()  # it releases the workspaces of ended tasks
    assert engine.wait_until(lambda: engine.parts.workers.is_idle)
    repository.git("config", "commit.gpgsign", "false")
    retry(harness)
    assert engine.wait_until(lambda: engine.batch().tasks[0].generation == 2)
    assert_merged(harness, engine, repository)


def wait_for_signer(engine: RunningEngine) -> None:
    assert engine.wait_until(
        lambda: bool(engine.engine.state.batches) and engine.batch().tasks[0].awaited_program != ""
    )


def test_a_signer_that_waits_is_shown_and_ended_with_the_engine_or_by_cancelling(
    harness: EngineHarness, repository: GitRepository, tmp_path: Path
) -> None:
    sign_with(repository, tmp_path, f"echo $$ > {tmp_path / 'pid'}\nexec sleep 3600")
    submit(harness, repository, AT_ONCE)
    engine = harness.engine()
    wait_for_signer(engine)
    assert "committing the result: waiting for sleep, which signs the commit" in explain(engine)
    assert engine.engine.state.slots == 0
    pid = int((tmp_path / "pid").read_text())
    engine.kill()  # it waits for jobs that have started, and not for a person
    assert processes.start_time(pid) is None
    engine = harness.engine()
    wait_for_signer(engine)
    pid = int((tmp_path / "pid").read_text())
    harness.request(CancelTask("cancel", "b", "a"))
    assert engine.wait_until(engine.has_ended)
    assert engine.statuses() == {"a": "cancelled"}
    assert engine.wait_until(lambda: processes.start_time(pid) is None)
    repository.git("config", "commit.gpgsign", "false")
    retry(harness)
    assert engine.wait_until(lambda: engine.batch().tasks[0].generation == 2)
    assert_merged(harness, engine, repository)


def test_a_full_disk_delays_the_commit(
    harness: EngineHarness, repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder = tempfile.mkdtemp
    failures = iter(range(3))

    def fail_at_first(suffix: str | None = None, prefix: str | None = None, dir: Path | None = None) -> str:  # noqa: A002
        if (prefix or "").startswith("plait-scratch") and next(failures, None) is not None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return make_folder(suffix, prefix, dir)

    monkeypatch.setattr(tempfile, "mkdtemp", fail_at_first)
    submit(harness, repository, AT_ONCE)
    engine = harness.engine()
    assert_merged(harness, engine, repository)
    assert engine.batch().tasks[0].commits == 4


def test_a_commit_that_a_crash_left_unreported_is_found_without_its_workspace(
    harness: EngineHarness, repository: GitRepository, tmp_path: Path
) -> None:
    sign_with(repository, tmp_path, "exit 1")
    submit(harness, repository, LATER)
    engine = harness.engine()
    assert engine.wait_until(lambda: bool(engine.engine.state.batches) and engine.batch().tasks[0].waits_to_commit)
    attempt = engine.batch().tasks[0].uncommitted
    assert attempt is not None
    repository.git("config", "commit.gpgsign", "false")
    spec = engine.parts.attempts.result_commits.build_capture_spec(attempt.decision)
    results: list[object] = []
    engine.parts.attempts.executors.workspaces_of("b").capture(spec, results.append, results.append, lambda _: None)
    assert engine.wait_until(lambda: bool(results))
    assert not isinstance(results[0], WorktreeError)
    engine.parts.attempts.executors.workspaces_of("b").release("b", "a")
    assert engine.wait_until(lambda: engine.parts.workers.is_idle)
    retry(harness)
    assert_merged(harness, engine, repository)
