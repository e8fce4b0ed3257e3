"""Scenes with processes of this machine. Whatever happens in one, none of its processes is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from plait.adapters.local import Graces, LocalExecutor
from plait.engine.reactor import SelectReactor
from plait.ports import Executor, Witness
from plait.site import scope
from plait.site.folder import StateFolder
from plait.site.transcript import CAP
from plait.testing.scene import Scene
from plait.testing.strays import clear

QUICK = Graces(ask=0.5, tell=0.2, leftover=0.2)
PATIENCE = 30.0


@contextmanager
def local_scene(folder: Path, *, graces: Graces = QUICK, cap: int = CAP) -> Iterator[Scene]:
    opened: list[LocalExecutor] = []
    state = StateFolder(folder / "state")

    def site(witness: Witness) -> Executor:
        opened.append(LocalExecutor(state, witness, reactor, graces=graces, cap=cap))
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
                scope.remove(path.read_text())
