"""A scene: an executor, its witness, and attempts that tell by files in their workspace how far they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from plait.core.task import Attempt, Step
from plait.store.interfaces import Executor, ExecutorCallbacks, LaunchSpec


@dataclass(slots=True)
class RecordedCallbacks:
    """A Witness that remembers. `ends` holds exit statuses, and why an attempt was lost."""

    launches: list[tuple[Attempt, int]] = field(default_factory=list)
    ends: dict[Attempt, int | str] = field(default_factory=dict)
    count: int = 0

    def on_launched(self, attempt: Attempt, pid: int) -> None:
        self.launches.append((attempt, pid))

    def on_exited(self, attempt: Attempt, code: int) -> None:
        self.ends[attempt] = code
        self.count += 1

    def on_lost(self, attempt: Attempt, why: str) -> None:
        self.ends[attempt] = why
        self.count += 1


@dataclass(slots=True)
class ExecutorSetup:
    """`site` opens an executor on the same site each time; `until` turns its loop until something is so, or for too long.

    `executor` is the first one, and tells `told`.
    """

    open_executor: Callable[[ExecutorCallbacks], Executor]
    wait_until: Callable[[Callable[[], bool]], bool]
    workspace: Path
    callbacks: RecordedCallbacks = field(default_factory=RecordedCallbacks)
    executor: Executor = field(init=False)

    def __post_init__(self) -> None:
        self.workspace.mkdir(parents=True)
        self.executor = self.open_executor(self.callbacks)

    def make_job(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> LaunchSpec:
        """These lines of `sh`, in the workspace."""
        environment = {"PATH": os.environ["PATH"], **(env or {})}
        return LaunchSpec(
            Attempt("batch", task, Step.WRITE, 1), ("sh", "-c", lines), str(self.workspace), environment
        )

    def start(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> Attempt:
        """Start a script, and wait until it says `: >up`."""
        job = self.make_job(lines, task, env)
        (self.workspace / "up").unlink(missing_ok=True)
        self.executor.start(job)
        assert self.wait_until((self.workspace / "up").exists), "it did not come up"
        return job.attempt

    def run(self, lines: str, task: str = "one", env: Mapping[str, str] | None = None) -> int | str:
        """Start a script, and wait for its end."""
        job = self.make_job(lines, task, env)
        self.executor.start(job)
        return self.wait_for_end(job.attempt)

    def wait_for_end(self, attempt: Attempt) -> int | str:
        assert self.wait_until(lambda: attempt in self.callbacks.ends), "its end was not told"
        return self.callbacks.ends[attempt]

    def wait_for_pid(self, name: str) -> int:
        """The number that a script writes to this file."""
        path = self.workspace / name
        assert self.wait_until(lambda: path.exists() and path.read_text().endswith("\n")), f"no {name}"
        return int(path.read_text())


def is_alive(pid: int) -> bool:
    """A process that only waits to be asked for its status is dead."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
