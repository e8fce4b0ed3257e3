"""An attempt in a sandbox against the same attempt without one: prepared, run, committed by its agent, and captured."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.table import Row
from plait.core.settings import SandboxMode
from plait.runtime.sandbox.spec import SandboxSpec
from plait.testing.contracts.executor import ExecutorHarness
from tests.support.local_executor import local_executor_setup

# Each attempt makes a commit of its own: one that is there already takes less.
_SCRIPT = "echo {task} >new.txt; git add new.txt; git -c user.name=a -c user.email=a@b commit -qm new"


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    with TemporaryDirectory() as folder, local_executor_setup(Path(folder)) as harness:
        base, names = harness.commit_file("file.txt", "text\n"), count()
        modes = [None, SandboxSpec(SandboxMode.WORKTREE), SandboxSpec(SandboxMode.STRICT)]

        def measure(script: str) -> list[float]:
            """The median seconds in each mode, taken in turns. The first ones import what they need."""
            rounds = [
                [_run_attempt(harness, script, base, f"task-{next(names)}", mode) for mode in modes]
                for _ in range(8 if quick else 26)
            ]
            return [median(taken) for taken in zip(*rounds[1:], strict=True)]

        found = [("an attempt that does nothing", measure("true")), ("an attempt that commits", measure(_SCRIPT))]
    rows = [
        Row(f"{name}: {mode}", sandboxed * 1000, "ms", plain * 1000)
        for name, (plain, *others) in found
        for mode, sandboxed in zip(("worktree", "strict"), others, strict=True)
    ]
    extra = [Row(f"{row.name}, longer by", row.value - (row.floor or 0), "ms", wish="at most 30 ms") for row in rows]
    return [*rows, *extra]


def _run_attempt(harness: ExecutorHarness, script: str, base: str, task: str, sandbox: SandboxSpec | None) -> float:
    """The seconds from its start to its captured result. The next one doesn't begin before its worktree was given back."""
    job = replace(harness.make_worktree_job(script.format(task=task), base, task), sandbox=sandbox)
    began = perf_counter()
    harness.executor.start(job)
    assert harness.wait_for_end(job.attempt) == 0
    captured = harness.capture(job)
    taken = perf_counter() - began
    assert not isinstance(captured, Exception), captured
    harness.executor.workspaces.release(job.attempt.batch, job.attempt.task)
    trash = harness.repository / ".git" / "plait" / "trash"
    assert harness.wait_until(lambda: not Path(job.workspace).exists() and not [*trash.glob("*")])
    return taken
