"""What the world does to a batch: processes killed from outside, reboots, full and read-only disks, two runs at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from plait.core.decisions import RetryGranted
from plait.core.reports import AttemptExited, AttemptLaunched, AttemptLost
from plait.core.status import Category
from plait.system.state_paths import StateFolder
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import wait_until

RUN = ("run", "tasks", "--yes", "--isolation", "in-place")
WAIT = "until [ -e go ]; do sleep 0.02; done\n"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with temp_project(tmp_path / "project", forks=False) as made:
        yield made


def launched(project: TempProject) -> list[AttemptLaunched]:
    with suppress(Exception):  # there may be no journal yet
        return [record.event for record in project.read_records() if isinstance(record.event, AttemptLaunched)]
    return []


def test_an_agent_killed_from_outside_is_retried(project: TempProject) -> None:
    project.task("one", 'echo $$ > "pid.$PLAIT_ATTEMPT"\nif [ "$PLAIT_ATTEMPT" = 1 ]; then exec sleep 600; fi\n')
    front = project.start(*RUN)
    wait_until(lambda: (project.top / "pid.1").exists() and (project.top / "pid.1").read_text().endswith("\n"))
    os.kill(int((project.top / "pid.1").read_text()), signal.SIGKILL)
    assert front.wait(60) == 0, front.communicate()
    retries = [record.event for record in project.read_records() if isinstance(record.event, RetryGranted)]
    assert [retry.category for retry in retries] == [Category.KILLED]
    front.communicate()


def test_a_reboot_loses_the_attempts_and_nothing_else(project: TempProject) -> None:
    """All processes are gone, and another process has the supervisor's pid."""
    project.task("one", f'echo $PLAIT_ATTEMPT >> told\nif [ "$PLAIT_ATTEMPT" = 1 ]; then {WAIT.strip()}; fi\n')
    front = project.start(*RUN)
    wait_until(lambda: launched(project) and (project.top / "told").exists())
    project.kill_processes()
    front.communicate()
    other = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        claim = StateFolder(project.place.state).attempt(launched(project)[0].attempt).pidfile
        claim.write_text(f"{other.pid} 1 00000000-0000-0000-0000-000000000000 \n")
        answer = project.plait(*RUN, "--resume")
        assert answer.code == 0, answer.output
        assert other.poll() is None, "a process that is not ours was touched"
    finally:
        other.kill()
        other.wait()
    assert (project.top / "told").read_text() == "1\n2\n"
    assert [type(r.event) for r in project.read_records() if isinstance(r.event, AttemptLost | AttemptExited)] == [
        AttemptLost,
        AttemptExited,
    ]


def test_a_batch_survives_a_disk_that_fills_up(project: TempProject, tmp_path: Path) -> None:
    """A small file system of its own, filled by a task and freed by it again; meanwhile others end."""
    top = tmp_path / "small"
    top.mkdir()
    mount = f"mount -t tmpfs -o size=3m none '{top}'"
    inside = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
    if subprocess.run(["env", *inside, mount], check=False, capture_output=True).returncode:
        pytest.skip("mounting is not permitted here")
    waits = "touch up-$PLAIT_TASK_ID; until [ -e filler ] || [ -e freed ]; do sleep 0.01; done"
    tasks = {
        "1-fill": "until [ -e up-2-wait ] && [ -e up-3-wait ]; do sleep 0.01; done\n"
        "cat /dev/zero > filler\nsleep 2\nrm filler\ntouch freed",
        "2-wait": waits,
        "3-wait": waits,
        "4-after": "true",
    }
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    words = [
        *inside,
        f'{mount} && cd "{top}" && exec "$@"',
        "sh",
        sys.executable,
        str(script),
        json.dumps(tasks),
    ]
    done = subprocess.run(words, env=project.env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["statuses"] == dict.fromkeys(tasks, "done"), result
    assert "records wait" in result["log"], result["log"]
    assert result["runs"] == {"2-wait": 1, "3-wait": 1}, "a finished attempt ran again"


# In the small file system: the tasks, a run, and what came of it. The engine is ended with it.
SCRIPT = """
import json, os, pathlib, subprocess, sys, time
tasks = json.loads(sys.argv[1])
folder = pathlib.Path("tasks"); folder.mkdir()
for name, run in tasks.items():
    lines = "".join(f"  {line}\\n" for line in run.splitlines())
    (folder / f"{name}.md").write_text(f"---\\nrun: |\\n{lines}---\\n# {name}\\n")
run = subprocess.run([sys.executable, "-m", "plait", "run", "tasks", "--yes", "-p", "3"], text=True, capture_output=True)
status = json.loads(subprocess.run([sys.executable, "-m", "plait", "status", "--json"], capture_output=True).stdout)
batch = status["batches"][0]
attempts = pathlib.Path(".plait/batches", batch["id"], "tasks")
runs = {name: len(list((attempts / name).glob("write-*"))) for name in ("2-wait", "3-wait")}
log = pathlib.Path(".plait/engine.log").read_text()
print(run.stdout, run.stderr)
print(json.dumps({"statuses": {t["taskId"]: t["status"] for t in batch["tasks"]}, "log": log, "runs": runs}))
sys.exit(run.returncode)
"""


def test_nothing_starts_when_the_state_folder_cannot_be_written(project: TempProject) -> None:
    project.task("one", "touch ran")
    blocked = project.place.state
    blocked.parent.joinpath(blocked.name).write_text("not a folder")
    answer = project.plait(*RUN)
    assert answer.code in {1, 2}
    assert "Traceback" not in answer.output
    assert str(blocked) in answer.output
    assert not (project.top / "ran").exists()


def test_two_runs_at_once_share_one_engine(project: TempProject) -> None:
    for folder in ("left", "right"):
        for number in range(3):
            project.task(f"{folder}{number}", "echo $PLAIT_TASK_ID >> told\nsleep 0.1", folder=folder)
    fronts = [project.start("run", folder, *RUN[2:]) for folder in ("left", "right")]
    for front in fronts:
        out, _ = front.communicate(timeout=60)
        assert front.returncode == 0, out
    assert sorted((project.top / "told").read_text().split()) == sorted(
        f"{folder}{number}" for folder in ("left", "right") for number in range(3)
    )
    project.wait_for_exit()


def test_engines_of_one_user_share_the_slots(project: TempProject, tmp_path: Path) -> None:
    with temp_project(tmp_path / "other", user=project, forks=False) as other:
        result = tmp_path / "told"
        for each in (project, other):
            for number in range(6):
                each.task(f"{number}", f"echo + >> {result}\nsleep 0.3\necho - >> {result}")
        fronts = [each.start(*RUN) for each in (project, other)]
        for front in fronts:
            out, _ = front.communicate(timeout=60)
            assert front.returncode == 0, out
        depth = most = 0
        for line in result.read_text().split():
            depth += 1 if line == "+" else -1
            most = max(most, depth)
        assert depth == 0
        assert most <= 4, "more than all of them may have"
        other.wait_for_exit()
