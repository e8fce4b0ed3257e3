"""A forked `plait` can't be told from a started one, except by its command line."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from tests.support.fork_server import ForkedProcess, can_fork
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import wait_until

WAITS = "echo $PPID > parent; exec sleep 600"

pytestmark = pytest.mark.skipif(not can_fork(os.environ), reason="the fork server needs Linux")


def describe(project: TempProject) -> dict[str, object]:
    """How a run and its engine appear from outside."""
    project.task("01-walls", WAITS)
    front = project.start("run", "tasks", "--yes", "--json")
    project.wait_for_file("parent", "\n")
    process, engine = psutil.Process(front.pid), psutil.Process(project.find_engine() or 0)
    found = {process.pid, engine.pid} <= {each.pid for each in project.processes()}
    told = {
        "parents": (process.ppid() == os.getpid(), engine.ppid() == process.pid),
        "sessions": (os.getsid(process.pid) == process.pid, os.getsid(engine.pid) == engine.pid),
        "folders": (process.cwd() == str(project.top), engine.cwd()),
        "signals": (_signals(process.pid), _signals(engine.pid)),
        "files of the engine": sorted({Path(f"/proc/{engine.pid}/fd/{fd}").readlink().name for fd in (0, 1, 2)}),
        "found": found,
    }
    front.send_signal(signal.SIGTERM)
    told["code"] = project.finish(front).code
    told["error"] = project.plait("status", "--no-such-option")
    return told


def _signals(pid: int) -> list[int]:
    """Which are ignored and which handled, without those that the C library keeps to itself (from 32 on)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return [int(line.split()[1], 16) % (1 << 31) for line in lines if line.startswith(("SigIgn", "SigCgt"))]


def test_a_forked_process_is_as_a_started_one(tmp_path: Path) -> None:
    with temp_project(tmp_path / "a") as project, temp_project(tmp_path / "b", forks=False) as other:
        assert describe(project) == describe(other)
        assert [isinstance(made.cli_processes[0], ForkedProcess) for made in (project, other)] == [True, False]


def test_a_killed_process_reports_its_signal(tmp_path: Path) -> None:
    with temp_project(tmp_path) as project:
        project.task("01-walls", WAITS)
        front = project.start("run", "tasks", "--yes")
        project.wait_for_file("parent", "\n")
        front.kill()
        assert front.wait() == -signal.SIGKILL
        wait_until(lambda: not psutil.pid_exists(front.pid))
