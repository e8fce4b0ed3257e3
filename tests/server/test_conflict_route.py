"""A conflict, with both sides of it."""

from __future__ import annotations

import json

import pytest

from tests.support.running_server import Json, RunningServer
from tests.support.temp_project import WorktreeProject

# Each waits for the other to have begun, so that both have the same base.
MEET = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-slate ] && [ -e ../../02-tiles ]; do sleep 0.02; done"
NAMES = ("01-slate", "02-tiles", "03-door")


@pytest.fixture
def torn(served_estate: RunningServer, estate: WorktreeProject) -> tuple[str, str, str]:
    """A batch, the task that was merged, and the one that conflicts with it."""
    estate.write("roof.txt", "flat\nroof")
    estate.task("01-slate", f"{MEET}; printf 'slate\\nroof\\n' > roof.txt")
    estate.task("02-tiles", f"{MEET}; printf 'tiles\\nroof\\n' > roof.txt; echo tile > tile.txt")
    estate.task("03-door", "echo door > door.txt")
    estate.commit_all()
    batch = served_estate.run(*NAMES)
    served_estate.wait_until_finished(batch)
    statuses = served_estate.statuses(batch)
    (lost,) = (name for name in NAMES if statuses[name] == "conflicted")
    return batch, {"01-slate": "02-tiles", "02-tiles": "01-slate"}[lost], lost


def told(served: RunningServer, batch: str, task: str) -> Json:
    return served.get(f"/api/batches/{batch}/tasks/{task}/conflict")


def word(task: str) -> str:
    return task.partition("-")[2]


def test_both_sides_are_told(served_estate: RunningServer, estate: WorktreeProject, torn: tuple[str, str, str]) -> None:
    batch, won, lost = torn
    before = estate.snapshot_user_files()
    found = told(served_estate, batch, lost)
    assert (found["batchId"], found["taskId"], found["more"]) == (batch, lost, 0)
    assert found["base"] == served_estate.batch(batch)["base"]
    (file,) = found["files"]
    assert (file["path"], file["kind"], file["binary"], file["cut"]) == ("roof.txt", "content", False, [])
    assert file["base"] == "flat\nroof\n"
    assert file["ours"] == f"{word(won)}\nroof\n"
    assert file["theirs"] == f"{word(lost)}\nroof\n"
    assert file["merged"] == (f"<<<<<<< already merged\n{word(won)}\n=======\n{word(lost)}\n>>>>>>> this task\nroof\n")
    assert file["touchedBy"] == [won]
    line = estate.git("rev-list", "--first-parent", estate.branch).split()
    assert found["with"] in line
    assert estate.snapshot_user_files() == before


def test_why_a_task_is_conflicted_names_the_files(
    served_estate: RunningServer, estate: WorktreeProject, torn: tuple[str, str, str]
) -> None:
    batch, won, lost = torn
    found = told(served_estate, batch, lost)
    explained = served_estate.get(f"/api/batches/{batch}/tasks/{lost}/explain")
    assert explained["conflict"] == {"with": found["with"], "files": ["roof.txt"]}
    assert served_estate.get(f"/api/batches/{batch}/tasks/{won}/explain")["conflict"] is None
    said = json.loads(estate.plait("explain", batch, lost, "--json").out)
    assert said["conflict"] == explained["conflict"]


def test_what_is_in_no_conflict_says_what_it_is(served_estate: RunningServer, torn: tuple[str, str, str]) -> None:
    batch, won, lost = torn
    refused = served_estate.get(f"/api/batches/{batch}/tasks/{won}/conflict", 409)
    assert (refused["state"], refused["error"]) == ("done", f"{won} has no conflict")
    served_estate.get(f"/api/batches/{batch}/tasks/none/conflict", 404)
    served_estate.post(f"/api/batches/{batch}/tasks/{lost}/drop")
    served_estate.wait_for_task(batch, lost, "skipped")
    assert served_estate.get(f"/api/batches/{batch}/tasks/{lost}/conflict", 409)["state"] == "skipped"


def test_a_change_that_stood_on_a_dropped_one_conflicts_with_the_branch_made_anew(
    served_estate: RunningServer, estate: WorktreeProject
) -> None:
    served = served_estate
    estate.write("roof.txt", "flat")
    estate.task("01-slate", "echo slate > roof.txt")
    estate.task("02-tiles", "echo 'slate and tiles' > roof.txt")
    estate.commit_all()
    batch = served.run("01-slate", "02-tiles", settings={"maxBatchSize": 1})
    served.wait_until_finished(batch)
    served.post(f"/api/batches/{batch}/tasks/01-slate/drop")
    served.wait_for_task(batch, "02-tiles", "conflicted")
    found = told(served, batch, "02-tiles")
    assert found["with"] == served.batch(batch)["base"]
    (file,) = found["files"]
    assert (file["base"], file["ours"], file["theirs"]) == ("slate\n", "flat\n", "slate and tiles\n")
    assert file["touchedBy"] == []


def test_what_git_has_lost_is_said(
    served_estate: RunningServer, estate: WorktreeProject, torn: tuple[str, str, str]
) -> None:
    batch, _, lost = torn
    tip = told(served_estate, batch, lost)["tip"]
    (estate.top / ".git" / "objects" / tip[:2] / tip[2:]).unlink()
    refused = served_estate.get(f"/api/batches/{batch}/tasks/{lost}/conflict", 409)
    assert refused["state"] == "conflicted"
    assert tip[:12] in refused["error"]
