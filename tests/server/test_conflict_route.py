"""A conflict, with both sides of it."""

from __future__ import annotations

import json

import pytest

from tests.support.running_server import Json, RunningServer
from tests.support.temp_project import TempProject

# Each waits for the other to have begun, so that both have the same base.
MEET = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-slate ] && [ -e ../../02-tiles ]; do sleep 0.02; done"
NAMES = ("01-slate", "02-tiles", "03-door")


@pytest.fixture
def torn(worktree_server: RunningServer, worktree_project: TempProject) -> tuple[str, str, str]:
    """A batch, the task that was merged, and the one that conflicts with it."""
    worktree_project.write("roof.txt", "flat\nroof")
    worktree_project.task("01-slate", f"{MEET}; printf 'slate\\nroof\\n' > roof.txt")
    worktree_project.task("02-tiles", f"{MEET}; printf 'tiles\\nroof\\n' > roof.txt; echo tile > tile.txt")
    worktree_project.task("03-door", "echo door > door.txt")
    worktree_project.commit_all()
    batch = worktree_server.run(*NAMES)
    worktree_server.wait_until_finished(batch)
    statuses = worktree_server.statuses(batch)
    (lost,) = (name for name in NAMES if statuses[name] == "conflicted")
    return batch, {"01-slate": "02-tiles", "02-tiles": "01-slate"}[lost], lost


def told(server: RunningServer, batch: str, task: str) -> Json:
    return server.get(f"/api/batches/{batch}/tasks/{task}/conflict")


def word(task: str) -> str:
    return task.partition("-")[2]


def test_both_sides_are_told(
    worktree_server: RunningServer, worktree_project: TempProject, torn: tuple[str, str, str]
) -> None:
    batch, won, lost = torn
    before = worktree_project.snapshot_user_files()
    found = told(worktree_server, batch, lost)
    assert (found["batchId"], found["taskId"], found["more"]) == (batch, lost, 0)
    assert found["base"] == worktree_server.batch(batch)["base"]
    (file,) = found["files"]
    assert (file["path"], file["kind"], file["binary"], file["cut"]) == ("roof.txt", "content", False, [])
    assert file["base"] == "flat\nroof\n"
    assert file["ours"] == f"{word(won)}\nroof\n"
    assert file["theirs"] == f"{word(lost)}\nroof\n"
    assert file["merged"] == (f"<<<<<<< already merged\n{word(won)}\n=======\n{word(lost)}\n>>>>>>> this task\nroof\n")
    assert file["touchedBy"] == [won]
    line = worktree_project.git("rev-list", "--first-parent", worktree_project.branch).split()
    assert found["with"] in line
    assert worktree_project.snapshot_user_files() == before


def test_why_a_task_is_conflicted_names_the_files(
    worktree_server: RunningServer, worktree_project: TempProject, torn: tuple[str, str, str]
) -> None:
    batch, won, lost = torn
    found = told(worktree_server, batch, lost)
    explained = worktree_server.get(f"/api/batches/{batch}/tasks/{lost}/explain")
    assert explained["conflict"] == {"with": found["with"], "files": ["roof.txt"]}
    assert worktree_server.get(f"/api/batches/{batch}/tasks/{won}/explain")["conflict"] is None
    said = json.loads(worktree_project.plait("explain", batch, lost, "--json").out)
    assert said["conflict"] == explained["conflict"]


def test_what_is_in_no_conflict_says_what_it_is(worktree_server: RunningServer, torn: tuple[str, str, str]) -> None:
    batch, won, lost = torn
    refused = worktree_server.get(f"/api/batches/{batch}/tasks/{won}/conflict", 409)
    assert (refused["state"], refused["error"]) == ("done", f"{won} has no conflict")
    worktree_server.get(f"/api/batches/{batch}/tasks/none/conflict", 404)
    worktree_server.post(f"/api/batches/{batch}/tasks/{lost}/drop")
    worktree_server.wait_for_task(batch, lost, "skipped")
    assert worktree_server.get(f"/api/batches/{batch}/tasks/{lost}/conflict", 409)["state"] == "skipped"


def test_a_change_that_stood_on_a_dropped_one_conflicts_with_the_branch_made_anew(
    worktree_server: RunningServer, worktree_project: TempProject
) -> None:
    server = worktree_server
    worktree_project.write("roof.txt", "flat")
    worktree_project.task("01-slate", "echo slate > roof.txt")
    worktree_project.task("02-tiles", "echo 'slate and tiles' > roof.txt")
    worktree_project.commit_all()
    batch = server.run("01-slate", "02-tiles", settings={"maxBatchSize": 1})
    server.wait_until_finished(batch)
    server.post(f"/api/batches/{batch}/tasks/01-slate/drop")
    server.wait_for_task(batch, "02-tiles", "conflicted")
    found = told(server, batch, "02-tiles")
    assert found["with"] == server.batch(batch)["base"]
    (file,) = found["files"]
    assert (file["base"], file["ours"], file["theirs"]) == ("slate\n", "flat\n", "slate and tiles\n")
    assert file["touchedBy"] == []


def test_what_git_has_lost_is_said(
    worktree_server: RunningServer, worktree_project: TempProject, torn: tuple[str, str, str]
) -> None:
    batch, _, lost = torn
    tip = told(worktree_server, batch, lost)["tip"]
    (worktree_project.top / ".git" / "objects" / tip[:2] / tip[2:]).unlink()
    refused = worktree_server.get(f"/api/batches/{batch}/tasks/{lost}/conflict", 409)
    assert refused["state"] == "conflicted"
    assert tip[:12] in refused["error"]
