"""Batches in a repository that is pruned all the time, as agents do it: nothing is lost, and git works afterwards."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.temp_project import TempProject, temp_project

TASKS = 8
PRUNE = "while test ! -e $0; do git prune --expire=now; sleep 0.3; git gc --quiet --prune=now; sleep 0.3; done"
# Some leave files, some stage them, some commit; all change one file, so that their merges make new objects.
WORK = (
    "true",
    "git add -A || true",  # what an agent's own git makes may be pruned, too
    "git add -A || true; git commit -qm by-the-agent || true; git prune --expire=now || true",
)


@contextmanager
def pruning(project: TempProject) -> Iterator[None]:
    end = project.folder / "end"
    words = ["sh", "-c", PRUNE, str(end)]
    with subprocess.Popen(words, cwd=project.top, env=project.env, stderr=subprocess.DEVNULL):
        try:
            yield
        finally:
            end.touch()


def test_nothing_is_lost_while_the_repository_is_pruned(tmp_path: Path, *, long: bool) -> None:
    for number in range(9 if long else 1):
        with temp_project(tmp_path / str(number), worktrees=True) as project:
            project.write("made/readme.txt", "files that tasks make")
            project.write("shared.txt", "\n".join(map(str, range(12 * TASKS))))
            for task in range(TASKS):
                needs = f"[t{task - 4}]" if task >= 4 else "[]"
                edit = f"sed -i 's/^{12 * task + 5}$/changed by {task}/' shared.txt"
                make = "echo $PLAIT_TASK_ID > made/$PLAIT_TASK_ID.txt"
                project.task(f"t{task}", f"{edit}\n{make}\n{WORK[task % len(WORK)]}", needs=needs)
            project.commit_all()
            with pruning(project):
                ran = project.plait("run", "tasks", "--yes", "-p", "4", "--retries", "0", "--file-conflicts", "off")
            assert ran.code == 0, f"{ran.out}\n{project.read_engine_log()}"
            assert set(project.statuses().values()) == {"done"}
            files = project.read_merged_files()
            assert {f"made/t{task}.txt" for task in range(TASKS)} <= files.keys()
            assert files["shared.txt"].count("changed by") == TASKS
            project.wait_for_exit()
            for words in (
                # A reflog may still name a commit that the agent's own git lost.
                ("fsck", "--no-dangling", "--connectivity-only", "--no-reflogs"),
                ("gc", "--quiet", "--prune=now"),
                ("clone", "--quiet", "--mirror", ".", str(tmp_path / f"clone-{number}")),
            ):
                done = subprocess.run(
                    ["git", *words], cwd=project.top, env=project.env, capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, f"{done.stdout}{done.stderr}{project.read_engine_log()}"
            attempts = [record for record in project.read_records() if type(record.event).__name__ == "AttemptStarted"]
            assert len(attempts) == TASKS
