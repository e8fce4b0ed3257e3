"""Scenes with processes of this machine. Whatever happens in one, none of its processes is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.support.leaked_processes import clear

from plait.engine.reactor import SelectReactor
from plait.runtime import cgroup
from plait.runtime.local_executor import LocalExecutor
from plait.runtime.termination import GracePeriods
from plait.runtime.transcript import MAX_DISK_BYTES
from plait.store.interfaces import Executor, ExecutorCallbacks
from plait.system.state_paths import StateFolder
from plait.testing.contracts.executor__scene import Scene

QUICK = GracePeriods(interrupt=0.5, terminate=0.2, leftover=0.2)
PATIENCE = 30.0


@contextmanager
def local_scene(folder: Path, *, graces: GracePeriods = QUICK, cap: int = MAX_DISK_BYTES) -> Iterator[Scene]:
    opened: list[LocalExecutor] = []
    state = StateFolder(folder / "state")

    def site(witness: ExecutorCallbacks) -> Executor:
        opened.append(LocalExecutor(state, witness, reactor, grace_periods=graces, cap=cap))
        return opened[-1]

    def until(over: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + PATIENCE
        while not over() and time.monotonic() < deadline:
            reactor.step(0.02)
        return over()

    with closing(SelectReactor()) as reactor:
        try:
            yield Scene(site, until, folder / "a workspace, señor")
        finally:
            for executor in opened:
                executor.close()
            clear(folder)
            for path in folder.rglob("write-*/scope"):
                cgroup.remove_cgroup(path.read_text())
