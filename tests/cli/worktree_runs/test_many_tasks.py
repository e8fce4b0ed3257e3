"""Many tasks in one batch, many at once: all of them are merged, and nothing is left of them but what they made."""

from __future__ import annotations

import json
import os
import time

from tests.support import batch_checks
from tests.support.temp_project import WorktreeProject

LONG = bool(os.environ.get("PLAIT_SOAK_LONG"))
TASKS = 1_000 if LONG else 60
AT_ONCE = 16
PATIENCE = 3_600.0 if LONG else 120.0  # seconds


def test_many_tasks_leave_nothing_but_their_work(estate: WorktreeProject) -> None:
    names = [f"t{place:04}" for place in range(TASKS)]
    for name in names:
        estate.task(name, f"sleep 0.2; mkdir -p made && echo {name} > made/{name}.txt")
    estate.commit_all()
    before = estate.snapshot_user_files()
    _run(estate)
    assert set(estate.statuses().values()) == {"done"}
    assert sorted(estate.git("ls-tree", "-r", "--name-only", f"{estate.branch}:made").split()) == [
        f"{name}.txt" for name in names
    ]
    estate.wait_for_exit()
    assert estate.snapshot_user_files() == before
    batch_checks.check_no_leftovers(estate)
    _clean(estate)
    assert estate.snapshot_user_files() == before


def _run(estate: WorktreeProject) -> None:
    env = {"PLAIT_SOURCES_WRITE_BACK": "off"}
    front = estate.start("run", "tasks", "--yes", "-p", str(AT_ONCE), "--retries", "0", env=env)
    began = time.monotonic()
    out, err = front.communicate(timeout=PATIENCE)
    assert front.returncode == 0, (out, err)
    span = time.monotonic() - began
    print(f"{TASKS} tasks in {span:.1f} s: {1000 * span / TASKS:.0f} ms each")  # noqa: T201


def _clean(estate: WorktreeProject) -> None:
    """The branches of tasks that are merged go, and the worktrees that wait; the batch branch stays, and every attempt."""
    head = estate.git("rev-parse", estate.branch)
    promised = json.loads(estate.plait("gc", "--dry-run", "--json").out)
    cleaning = estate.start("gc", "--yes")
    said = cleaning.communicate(timeout=PATIENCE)
    assert cleaning.returncode == 0, said
    assert promised["items"]
    assert estate.git("for-each-ref", "--format=%(refname:short)", "refs/heads/plait").split() == [estate.branch]
    assert estate.git("rev-parse", estate.branch) == head
    assert len(estate.git("for-each-ref", "refs/plait/attempts").splitlines()) == TASKS
    assert len(estate.git("worktree", "list").splitlines()) == 1
    assert json.loads(estate.plait("gc", "--dry-run", "--json").out)["items"] == []
