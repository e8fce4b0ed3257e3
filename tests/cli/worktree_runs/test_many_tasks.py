"""Many tasks in one batch, many at once: all of them are merged, and nothing is left of them but what they made."""

from __future__ import annotations

import json
import os
import time

from tests.support import batch_checks
from tests.support.temp_project import TempProject

LONG = bool(os.environ.get("PLAIT_SOAK_LONG"))
TASKS = 1_000 if LONG else 40
AT_ONCE = 16
PATIENCE = 3_600.0 if LONG else 600.0  # seconds


def test_many_tasks_leave_only_their_results(project: TempProject) -> None:
    names = [f"t{place:04}" for place in range(TASKS)]
    for name in names:
        project.task(name, f"sleep 0.2; mkdir -p made && echo {name} > made/{name}.txt")
    project.commit_all()
    before = project.snapshot_user_files()
    _run(project)
    assert set(project.statuses().values()) == {"done"}
    assert sorted(project.git("ls-tree", "-r", "--name-only", f"{project.branch}:made").split()) == [
        f"{name}.txt" for name in names
    ]
    project.wait_for_exit()
    assert project.snapshot_user_files() == before
    batch_checks.check_no_leftovers(project)
    _clean(project)
    assert project.snapshot_user_files() == before


def _run(project: TempProject) -> None:
    env = {"PLAIT_SOURCES_WRITE_BACK": "off"}
    front = project.start("run", "tasks", "--yes", "-p", str(AT_ONCE), "--retries", "0", env=env)
    began = time.monotonic()
    out, err = front.communicate(timeout=PATIENCE)
    assert front.returncode == 0, (out, err)
    span = time.monotonic() - began
    print(f"{TASKS} tasks in {span:.1f} s: {1000 * span / TASKS:.0f} ms each")  # noqa: T201


def _clean(project: TempProject) -> None:
    """The branches of tasks that are merged go, and the worktrees that wait; the batch branch stays, and every attempt."""
    head = project.git("rev-parse", project.branch)
    promised = json.loads(project.plait("gc", "--dry-run", "--json").out)
    cleaning = project.start("gc", "--yes")
    output = cleaning.communicate(timeout=PATIENCE)
    assert cleaning.returncode == 0, output
    assert promised["items"]
    assert project.git("for-each-ref", "--format=%(refname:short)", "refs/heads/plait").split() == [project.branch]
    assert project.git("rev-parse", project.branch) == head
    assert len(project.git("for-each-ref", "refs/plait/attempts").splitlines()) == TASKS
    assert len(project.git("worktree", "list").splitlines()) == 1
    assert json.loads(project.plait("gc", "--dry-run", "--json").out)["items"] == []
