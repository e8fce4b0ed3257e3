"""Each attempt goes to the executor of its batch, and a cluster is joined only for a batch that runs on it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from plait.core.settings import ExecutorKind, Isolation, Settings
from plait.core.task import Attempt, Step
from plait.engine.executors import BatchExecutors
from plait.engine.perform import Performer
from plait.runtime.executor import Executor
from plait.runtime.ray.placements import Placements
from plait.system.state_paths import StateFolder
from plait.testing.script import BATCH, Script
from tests.support.local_executor import local_executor_setup


def test_a_batch_runs_where_its_settings_say(tmp_path: Path) -> None:
    script = Script("a")
    script.submit("b", settings=Settings(executor=ExecutorKind.RAY), batch="remote")
    here, there = (Attempt(batch, "a", Step.WRITE, 1) for batch in (BATCH, "remote"))
    opened: list[Executor] = []
    with local_executor_setup(tmp_path / "here") as local, local_executor_setup(tmp_path / "there") as remote:

        def open_remote() -> Executor:
            opened.append(remote.executor)
            return remote.executor

        executors = BatchExecutors(script.state, local.executor, open_remote)
        assert executors.of(here.batch) is local.executor
        assert (executors.list_nodes(), executors.end_leftovers(), opened) == ([], 0, [])
        assert executors.of(there.batch) is remote.executor
        assert executors.workspaces_of(there.batch) is remote.executor.workspaces
        assert executors.list_open() == [local.executor, remote.executor]
        assert opened == [remote.executor]


def test_the_cluster_is_not_connected_to_for_a_batch_that_has_nothing_there(tmp_path: Path) -> None:
    script = Script(start=False)
    settings = Settings(executor=ExecutorKind.RAY, isolation=Isolation.WORKTREE)
    script.submit("b", settings=settings, batch="remote")
    script.exit_attempt("b", batch="remote")
    assert script.batch("remote").ended is not None
    state = StateFolder(tmp_path / "state")
    opened: list[Executor] = []
    with local_executor_setup(tmp_path / "here") as local, local_executor_setup(tmp_path / "there") as remote:

        def open_remote() -> Executor:
            opened.append(remote.executor)
            return remote.executor

        executors = BatchExecutors(
            script.state, local.executor, open_remote, lambda batch: state.nodes_file(batch).exists()
        )
        attempts: Any = SimpleNamespace(executors=executors)
        context: Any = SimpleNamespace(state=script.state)
        unused: Any = None

        def start_engine() -> int:
            Performer(context, attempts, unused, unused).recover()
            return len(opened)

        assert start_engine() == 0
        Placements(state).add_node("remote", "node")
        assert start_engine() == 1
