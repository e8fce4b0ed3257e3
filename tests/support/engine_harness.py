"""An engine in this process, with real attempts: what it is put together from is what `plait.engine` uses, but for the
journal and the inbox, which are in memory, and the wall clock, which the test may set.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from plait.config.loading import merge_layers
from plait.core.capacity import MachineReadings
from plait.core.graph import build_checked_plan
from plait.core.requests import ChangeEngineSettings, Request, Submit
from plait.core.settings import EngineSettings, Isolation, Settings
from plait.core.state import BatchState
from plait.core.status import TaskStatus
from plait.core.task import Task
from plait.engine.app import build_dependencies
from plait.engine.capacity_reporter import CLOCK_FILE, CapacityReporter, MachineClock
from plait.engine.loop import Engine
from plait.git.location import RepoLocation
from plait.runtime.reactor import SelectReactor
from plait.store import batch_files
from plait.store.batch_files import BatchInputs
from plait.store.interfaces import Journal
from plait.system.state_paths import StateFolder
from tests.support.git_repository import GitRepository
from tests.support.memory_store import MemoryInbox, MemoryJournal
from tests.support.waiting import TIMEOUT_SECONDS

PLACE = Settings(agents=("shell",), isolation=Isolation.IN_PLACE)


class EngineHarness:
    """A place with a journal, in which one engine after another may live."""

    def __init__(self, root: Path) -> None:
        self.place = RepoLocation(root / "work", root / "state", repository=False)
        self.place.top.mkdir(parents=True)
        self.folder = StateFolder(self.place.state)
        self.journal: Journal = MemoryJournal()
        self.inbox = MemoryInbox()
        self.clock_offset = 0.0  # of the wall clock
        self._engines: list[RunningEngine] = []

    def wall(self) -> float:
        return time.time() + self.clock_offset

    def add_repository(self) -> GitRepository:
        """A repository with one commit, in which the next engines work."""
        made = GitRepository(self.place.top)
        made.git("commit", "--quiet", "--allow-empty", "--message", "begin")
        self.place = RepoLocation(made.top, made.git_dir / "plait", repository=True)
        self.folder = StateFolder(self.place.state)
        return made

    def submit(
        self, *tasks: Task, batch: str = "b", settings: Settings = PLACE, base: str = "", branch: str = ""
    ) -> None:
        plan = build_checked_plan(tasks).plan
        assert plan
        batch_files.write_batch_files(self.folder, batch, BatchInputs(str(self.place.top), tasks), dict(os.environ))
        self.request(Submit(f"submit-{batch}", batch, plan.without_texts(), settings, base=base, branch=branch))

    def request(self, request: Request) -> None:
        self.inbox.put(request)
        for engine in self._engines:
            engine.engine.wake()

    def engine(self) -> RunningEngine:
        engine = RunningEngine(self)
        self._engines.append(engine)
        return engine

    def read_lines(self, name: str) -> list[str]:
        """The lines of a file that tasks write to."""
        path = self.place.top / name
        return path.read_text().splitlines() if path.exists() else []

    def close(self) -> None:
        for engine in self._engines:
            for batch in engine.engine.state.open.values():
                for attempt in list(batch.alive):
                    engine.parts.attempts.executors.of(attempt.batch).terminate(attempt, at_once=True)
            engine.wait_until(lambda engine=engine: not engine.parts.attempts.running)  # type: ignore[misc]
            engine.kill()


class RunningEngine:
    """One engine's time."""

    def __init__(self, harness: EngineHarness) -> None:
        self.reactor = SelectReactor()
        self.engine = Engine(os.getpid(), "test", harness.wall)
        parts = build_dependencies(harness.place, merge_layers(()), harness.journal, self.engine, self.reactor)
        parts.inbox.close()
        machine = CapacityReporter(
            _read_idle_sensors, str(harness.place.top), MachineClock(harness.place.state / CLOCK_FILE, harness.wall)
        )
        self.parts = replace(parts, inbox=harness.inbox, capacity=machine)
        self.engine.open(self.parts, ChangeEngineSettings("none", EngineSettings(), ()))
        self._alive = True

    def wait_until(self, reached: Callable[[], bool], timeout: float = TIMEOUT_SECONDS) -> bool:
        deadline = time.monotonic() + timeout
        while self._alive and not reached():
            if time.monotonic() > deadline:
                return False
            self.reactor.step(min(0.1, self.engine.max_sleep()))
            self.engine.tick()
        return True

    def batch(self, name: str = "b") -> BatchState:
        return self.engine.state.batches[name]

    def has_ended(self, name: str = "b") -> bool:
        return name in self.engine.state.batches and self.batch(name).ended is not None

    def statuses(self, name: str = "b") -> dict[str, TaskStatus | None]:
        return {task.task.id: task.status for task in self.batch(name).tasks}

    def kill(self) -> None:
        """As after kill -9: nothing is written, and no attempt is ended."""
        if self._alive:
            self._alive = False
            self.parts.sleep_inhibitor.release()
            for part in (self.parts.attempts.executors, self.parts.shared, self.parts.workers, self.reactor):
                part.close()


def _read_idle_sensors() -> MachineReadings:
    """A machine that has all it needs, whatever the tests' own machine is short of."""
    return MachineReadings(2**35, 2**35, 2**40, 2**40, 0.0, 4)
