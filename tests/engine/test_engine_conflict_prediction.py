"""Predicted conflicts of running tasks are reported once, and once more when they are gone."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.core.graph import build_checked_plan
from plait.core.reports import ConflictCleared, ConflictPredicted, Report
from plait.core.requests import Submit
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.settings import Settings
from plait.core.state import State
from plait.core.task import Task
from plait.engine.conflict_prediction import CHECK_SECONDS, ConflictPredictor
from plait.engine.context import BatchInputsCache, EngineContext
from plait.git.interfaces import WorkspaceSetup
from plait.git.merge.branch_merger import GitBranchMerger
from plait.git.worktrees.workspaces import GitWorkspaces
from plait.runtime.reactor import SelectReactor
from plait.runtime.worker_pool import WorkerPool
from plait.store import batch_files
from plait.store.batch_files import BatchInputs
from plait.system.state_paths import StateFolder
from tests.support.reactor import run_until

LONG = 30.0


@pytest.fixture
def reactor() -> Iterator[SelectReactor]:
    reactor = SelectReactor()
    yield reactor
    reactor.close()


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    top = tmp_path / "repository"
    git(tmp_path, "init", "--quiet", str(top))
    (top / "one.txt").write_text("base\n")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "--message", "base")
    return top


def git(where: Path, *words: str) -> str:
    result = subprocess.run(["git", *words], cwd=where, check=True, capture_output=True, text=True)
    return result.stdout.strip()


class World:
    """Two tasks at work in real worktrees."""

    def __init__(self, top: Path, reactor: SelectReactor) -> None:
        self.reactor = reactor
        self.base = git(top, "rev-parse", "HEAD")
        self.state = State()
        self.reports: list[Report] = []
        plan = build_checked_plan([Task("a"), Task("b")]).plan
        assert plan is not None
        fold_incoming(self.state, [Submit("r1", "b1", plan, Settings(), base=self.base, branch="plait/batch-b1")], 0.0)
        decide_due(self.state, 0.0)
        spaces = GitWorkspaces(top / ".git", top.parent / "worktrees")
        self.folders = {
            task: Path(spaces.prepare("b1", task, self.base, WorkspaceSetup(), top=str(top))) for task in ("a", "b")
        }
        integrator = GitBranchMerger(top / ".git", top / ".git" / "plait" / "integrator")
        self.hands = WorkerPool(reactor)
        folder = StateFolder(top / ".git" / "plait")
        batch_files.write_batch_files(folder, "b1", BatchInputs(str(top), ()), {})
        context = EngineContext(self.state, self.reports.append, self.hands, BatchInputsCache(folder), folder)
        self.foresight = ConflictPredictor(context, spaces.preview_commit, lambda: integrator)
        self.foresight.check_batches(0.0)

    def look(self) -> list[Report]:
        """The reports of the next check, applied to the state."""
        self.foresight._next["b1"] = 0.0
        self.foresight.check_batches(CHECK_SECONDS)
        assert run_until(self.reactor, lambda: self.hands.is_idle, LONG)
        result = list(self.reports)
        self.reports.clear()
        fold_incoming(self.state, result, 1.0)
        return result


def test_a_predicted_conflict_is_reported_once_and_once_more_when_it_is_gone(top: Path, reactor: SelectReactor) -> None:
    world = World(top, reactor)
    assert world.look() == []
    (world.folders["a"] / "one.txt").write_text("a\n")
    (world.folders["b"] / "one.txt").write_text("b\n")
    before = {task: (folder / "one.txt").read_text() for task, folder in world.folders.items()}
    assert world.look() == [ConflictPredicted("b1", "a", "b", ("one.txt",))]
    assert world.look() == []
    assert {task: (folder / "one.txt").read_text() for task, folder in world.folders.items()} == before
    (world.folders["b"] / "one.txt").write_text("base\n")
    assert world.look() == [ConflictCleared("b1", "a", "b")]
    world.hands.close()


def test_changes_without_a_conflict_are_not_reported(top: Path, reactor: SelectReactor) -> None:
    world = World(top, reactor)
    for task, folder in world.folders.items():
        (folder / f"{task}.txt").write_text("mine\n")
    assert world.look() == []
    world.hands.close()
