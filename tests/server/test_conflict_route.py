"""A conflict with both of its sides, over HTTP."""

from __future__ import annotations

import json

import pytest

from tests.support.running_server import Json, RunningServer

# Each waits for the other to have begun, so that both have the same base.
MEET = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-slate ] && [ -e ../../02-tiles ]; do sleep 0.02; done"
NAMES = ("01-slate", "02-tiles", "03-door")


@pytest.fixture
def conflict(worktree_server: RunningServer) -> tuple[str, str, str]:
    """A batch, the task that was merged, and the one that conflicts with it."""
    worktree_server.project.write("roof.txt", "flat\nroof")
    worktree_server.project.task("01-slate", f"{MEET}; printf 'slate\\nroof\\n' > roof.txt")
    worktree_server.project.task("02-tiles", f"{MEET}; printf 'tiles\\nroof\\n' > roof.txt; echo tile > tile.txt")
    worktree_server.project.task("03-door", "echo door > door.txt")
    worktree_server.project.commit_all()
    batch = worktree_server.run(*NAMES)
    worktree_server.wait_until_finished(batch)
    statuses = worktree_server.statuses(batch)
    (lost,) = (name for name in NAMES if statuses[name] == "conflicted")
    return batch, {"01-slate": "02-tiles", "02-tiles": "01-slate"}[lost], lost


def get_conflict(server: RunningServer, batch: str, task: str) -> Json:
    return server.get(f"/api/batches/{batch}/tasks/{task}/conflict")


def word(task: str) -> str:
    return task.partition("-")[2]


def test_both_sides_of_a_conflict_are_shown(worktree_server: RunningServer, conflict: tuple[str, str, str]) -> None:
    batch, won, lost = conflict
    before = worktree_server.project.snapshot_user_files()
    found = get_conflict(worktree_server, batch, lost)
    assert (found["batchId"], found["taskId"], found["more"]) == (batch, lost, 0)
    assert found["base"] == worktree_server.batch(batch)["base"]
    (file,) = found["files"]
    assert (file["path"], file["kind"], file["binary"], file["cut"]) == ("roof.txt", "content", False, [])
    assert file["base"] == "flat\nroof\n"
    assert file["ours"] == f"{word(won)}\nroof\n"
    assert file["theirs"] == f"{word(lost)}\nroof\n"
    assert file["merged"] == (f"<<<<<<< already merged\n{word(won)}\n=======\n{word(lost)}\n>>>>>>> this task\nroof\n")
    assert file["touchedBy"] == [won]
    line = worktree_server.project.git("rev-list", "--first-parent", worktree_server.batch(batch)["branch"]).split()
    assert found["with"] in line
    assert worktree_server.project.snapshot_user_files() == before


def test_the_explanation_of_a_conflicted_task_names_the_files(
    worktree_server: RunningServer, conflict: tuple[str, str, str]
) -> None:
    batch, won, lost = conflict
    found = get_conflict(worktree_server, batch, lost)
    explained = worktree_server.get(f"/api/batches/{batch}/tasks/{lost}/explain")
    assert explained["conflict"] == {"with": found["with"], "files": ["roof.txt"]}
    assert worktree_server.get(f"/api/batches/{batch}/tasks/{won}/explain")["conflict"] is None
    data = json.loads(worktree_server.project.plait("explain", batch, lost, "--json").out)
    assert data["conflict"] == explained["conflict"]


def test_a_task_without_a_conflict_is_refused_with_its_status(
    worktree_server: RunningServer, conflict: tuple[str, str, str]
) -> None:
    batch, won, lost = conflict
    refused = worktree_server.get(f"/api/batches/{batch}/tasks/{won}/conflict", 409)
    assert (refused["state"], refused["error"]) == ("done", f"{won} has no conflict")
    worktree_server.get(f"/api/batches/{batch}/tasks/none/conflict", 404)
    worktree_server.post(f"/api/batches/{batch}/tasks/{lost}/drop")
    worktree_server.wait_for_task(batch, lost, "skipped")
    assert worktree_server.get(f"/api/batches/{batch}/tasks/{lost}/conflict", 409)["state"] == "skipped"


def test_a_change_based_on_a_dropped_task_conflicts_with_the_rebuilt_branch(
    fresh_worktree_server: RunningServer,
) -> None:
    server = fresh_worktree_server
    server.project.write("roof.txt", "flat")
    server.project.task("01-slate", "echo slate > roof.txt")
    server.project.task("02-tiles", "echo 'slate and tiles' > roof.txt")
    server.project.commit_all()
    batch = server.run("01-slate", "02-tiles", settings={"maxBatchSize": 1})
    server.wait_until_finished(batch)
    server.post(f"/api/batches/{batch}/tasks/01-slate/drop")
    server.wait_for_task(batch, "02-tiles", "conflicted")
    found = get_conflict(server, batch, "02-tiles")
    assert found["with"] == server.batch(batch)["base"]
    (file,) = found["files"]
    assert (file["base"], file["ours"], file["theirs"]) == ("slate\n", "flat\n", "slate and tiles\n")
    assert file["touchedBy"] == []


def test_a_person_resolves_a_conflict_and_the_result_is_merged(
    worktree_server: RunningServer, conflict: tuple[str, str, str]
) -> None:
    batch, _, lost = conflict
    server, path = worktree_server, f"/api/batches/{batch}/tasks/{lost}/resolve"
    before = server.project.snapshot_user_files()
    found = get_conflict(server, batch, lost)
    seen = {"with": found["with"], "tip": found["tip"]}
    (file,) = found["files"]
    assert (file["sides"], file["editable"]) == (True, True)
    refused = server.post(path, {**seen, "with": found["base"], "rest": "task"}, 409)
    assert (refused["state"], "the batch branch has moved on: " in refused["error"]) == ("conflicted", True)
    refused = server.post(path, {**seen, "tip": found["base"], "rest": "task"}, 409)
    assert f"the change of {lost} has changed since" in refused["error"]
    for files, why in (
        ([{"path": "roof.txt", "text": file["merged"]}], "roof.txt:1 is still a conflict marker"),
        ([{"path": "../roof.txt", "text": "x"}], "../roof.txt is not in conflict"),
        ([{"path": "roof.txt"}], "roof.txt needs either a side or a text"),
        ([{"path": "roof.txt", "text": "a\0b"}], "the text of roof.txt is binary"),
        ([], "not resolved yet: roof.txt"),
    ):
        assert server.post(path, {**seen, "files": files}, 422)["error"] == why
    assert server.statuses(batch)[lost] == "conflicted"

    body = {**seen, "files": [{"path": "roof.txt", "text": "slate and tiles\r\nroof\n"}]}
    for _ in range(2):  # the second time, the key tells that it was granted
        (result,) = server.client.post(path, json=body, headers={"Idempotency-Key": "once"}).json()["results"]
        assert (result["taskId"], result["result"]) == (lost, "granted")
        server.wait_for_task(batch, lost, "done")
    branch = server.batch(batch)["branch"]
    assert server.project.git("cat-file", "-s", f"{branch}:roof.txt") == str(len("slate and tiles\r\nroof\n"))
    assert server.post(path, body, 409)["error"] == f"{lost} is done: it has no conflict to resolve"
    check_conversation(server, f"/api/batches/{batch}/tasks/{lost}", found)
    assert server.project.snapshot_user_files() == before


def check_conversation(server: RunningServer, task: str, conflict: Json) -> None:
    """It has the resolution, with its diff, between the conflict and the merge."""
    entries = server.get(f"{task}/conversation")["entries"]
    assert [entry["kind"] for entry in entries] == ["attempt", "merge", "ended", "resolve", "merge", "ended"]
    resolution = entries[3]["resolution"]
    assert resolution["files"] == [{"path": "roof.txt", "choice": "edited"}]
    diff = server.get(f"{task}/diff", format="json", resolution=resolution["resolution"])
    assert (diff["base"], diff["tip"], diff["attempt"], diff["resolution"]) == (
        conflict["with"],
        entries[3]["commit"],
        1,
        1,
    )
    assert "+slate and tiles" in diff["diff"]
    server.get(f"{task}/diff", 404, resolution=2)


def test_the_command_line_lists_a_conflict_and_resolves_it_in_an_editor(
    worktree_server: RunningServer, conflict: tuple[str, str, str]
) -> None:
    batch, won, lost = conflict
    project = worktree_server.project
    listed = project.plait("resolve", batch, lost).out
    assert f"  roof.txt (content, last changed by {won})" in listed
    done = project.plait("resolve", batch, lost, "--edit", env={"GIT_EDITOR": "sed -i -e '/^[<=>]/d'"})
    assert f"{lost} is done" in done.out
    branch = worktree_server.batch(batch)["branch"]
    assert project.git("show", f"{branch}:roof.txt") == f"{word(won)}\n{word(lost)}\nroof"
    assert f"+{word(lost)}" in project.plait("diff", batch, lost, "--resolution", "1").out
    refused = project.plait("resolve", batch, lost, "--rest", "task")
    assert refused.code == 2
    assert f"{lost} is done: it has no conflict to resolve" in refused.err


def test_a_commit_that_git_has_lost_is_named(worktree_server: RunningServer, conflict: tuple[str, str, str]) -> None:
    batch, _, lost = conflict
    tip = get_conflict(worktree_server, batch, lost)["tip"]
    objects = worktree_server.project.top / ".git" / "objects"
    for path in (objects / tip[:2] / tip[2:], *(objects / "pack").iterdir()):
        path.unlink()
    refused = worktree_server.get(f"/api/batches/{batch}/tasks/{lost}/conflict", 409)
    assert refused["state"] == "conflicted"
    assert tip[:12] in refused["error"]
