"""An attempt in a sandbox against the same attempt without one: prepared, run, committed by its agent, and captured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.table import Row, interleaved
from plait.core.settings import SandboxMode
from plait.runtime.sandbox.spec import SandboxSpec
from plait.testing.contracts.executor import ExecutorHarness
from tests.support.local_executor import local_executor_setup

_SCRIPT = "echo $$ >new.txt; git add new.txt; git -c user.name=a -c user.email=a@b commit -qm new"


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    with TemporaryDirectory() as folder, local_executor_setup(Path(folder)) as harness:
        base, names = harness.commit_file("file.txt", "text\n"), count()
        modes = [None, SandboxSpec(SandboxMode.WORKTREE), SandboxSpec(SandboxMode.STRICT)]

        def measure(script: str) -> tuple[float, ...]:
            works = [_make_attempt(harness, script, base, names, mode) for mode in modes]
            for work in works:  # the first one imports what it needs
                work()
            return tuple(interleaved(7 if quick else 25, *works))

        found = [("an attempt that does nothing", measure("true")), ("an attempt that commits", measure(_SCRIPT))]
    rows = [
        Row(f"{name}: {mode}", sandboxed * 1000, "ms", plain * 1000)
        for name, (plain, *others) in found
        for mode, sandboxed in zip(("worktree", "strict"), others, strict=True)
    ]
    extra = [Row(f"{row.name}, longer by", row.value - (row.floor or 0), "ms", wish="at most 30 ms") for row in rows]
    return [*rows, *extra]


def _make_attempt(
    harness: ExecutorHarness, script: str, base: str, names: count[int], sandbox: SandboxSpec | None
) -> Callable[[], None]:
    def run() -> None:
        job = replace(harness.make_worktree_job(script, base, f"task-{next(names)}"), sandbox=sandbox)
        harness.executor.start(job)
        assert harness.wait_for_end(job.attempt) == 0
        captured = harness.capture(job)
        assert not isinstance(captured, Exception), captured
        harness.executor.workspaces.release(job.attempt.batch, job.attempt.task)

    return run
