"""Each attempt goes to the executor of its batch, and a cluster is joined only for a batch that runs on it."""

from __future__ import annotations

from pathlib import Path

from plait.core.settings import ExecutorKind, Settings
from plait.core.task import Attempt, Step
from plait.engine.executors import BatchExecutors
from plait.runtime.executor import Executor
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
