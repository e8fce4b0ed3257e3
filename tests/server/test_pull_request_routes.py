"""The words of a pull request: seen before they are sent, and changed by people."""

from __future__ import annotations

import pytest

from tests.support.local_forge import REPOSITORY, LocalForge
from tests.support.running_server import Json, RunningServer
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

SECRET = "s3cret-w0rd-0f-ada"


def walls(session: RunningServer, project: TempProject, **settings: object) -> str:
    """A batch whose one task is merged; its id."""
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    batch = session.run("01-walls", settings=settings)
    session.wait_until_finished(batch)
    return batch


def told(session: RunningServer, batch: str) -> Json:
    return session.get(f"/api/batches/{batch}/pr")


def publish(session: RunningServer, batch: str, **body: object) -> None:
    """And wait until it is there."""
    answer = session.client.post(f"/api/batches/{batch}/pr", json=body)
    assert answer.status_code in {200, 202}, answer.text
    wait_until(lambda: not told(session, batch)["underWay"])
    assert session.batch(batch)["unshipped"] is None


def test_the_words_are_seen_before_they_are_sent(
    session: RunningServer, worktree_project: TempProject, remote: LocalForge
) -> None:
    batch = walls(session, worktree_project)
    seen = told(session, batch)
    assert seen["title"] == "01-walls"
    assert seen["body"].startswith("**1 of 1 task done**")
    assert seen["own"] == {"title": seen["title"], "body": seen["body"]}
    assert (seen["branch"], seen["target"], seen["url"]) == (session.batch(batch)["branch"], None, None)
    assert (seen["shipped"], seen["canPublish"], seen["canPush"], seen["why"]) == (False, True, True, None)
    publish(session, batch)
    after = told(session, batch)
    assert (after["shipped"], after["url"]) == (True, f"{remote.url}/{REPOSITORY}/pulls/1")
    assert remote.pulls[0]["title"] == seen["title"]
    assert seen["body"].strip() in remote.pulls[0]["body"]


def test_what_a_person_writes_is_sent_and_stays(
    session: RunningServer, worktree_project: TempProject, remote: LocalForge
) -> None:
    batch = walls(session, worktree_project)
    own = told(session, batch)["own"]
    publish(session, batch)
    publish(session, batch, title="Four walls, closes #12", body="As agreed with @ada.")
    assert [pull["title"] for pull in remote.pulls] == ["Four walls, closes #12"]
    assert "As agreed with @ada." in remote.pulls[0]["body"]
    assert "task done" not in remote.pulls[0]["body"]
    publish(session, batch)
    assert remote.pulls[0]["title"] == "Four walls, closes #12"
    assert "As agreed with @ada." in remote.pulls[0]["body"]
    seen = told(session, batch)
    assert (seen["title"], seen["body"]) == ("Four walls, closes #12", "As agreed with @ada.")
    assert seen["own"] == own


def test_a_title_counts_once_over_one_that_was_given_on_the_forge(
    session: RunningServer, worktree_project: TempProject, remote: LocalForge
) -> None:
    batch = walls(session, worktree_project)
    publish(session, batch)
    remote.pulls[0]["title"] = "Theirs"
    publish(session, batch, title="Mine")
    assert remote.pulls[0]["title"] == "Mine"
    remote.pulls[0]["title"] = "Theirs again"
    publish(session, batch)
    assert remote.pulls[0]["title"] == "Theirs again"


def test_what_plait_would_say_is_left_to_plait(
    session: RunningServer, worktree_project: TempProject, remote: LocalForge
) -> None:
    batch = walls(session, worktree_project)
    publish(session, batch, title="Mine", body="Mine too.")
    own = told(session, batch)["own"]
    publish(session, batch, title=own["title"], body=" \n")
    seen = told(session, batch)
    assert (seen["title"], seen["body"]) == (own["title"], own["body"])
    assert remote.pulls[0]["title"] == "01-walls"
    assert "task done" in remote.pulls[0]["body"]


def test_a_secret_is_not_told(session: RunningServer, worktree_project: TempProject, remote: LocalForge) -> None:
    worktree_project.task("01-walls", "echo walls > walls.txt", env=f"{{SITE_PASSWORD: {SECRET}}}")
    worktree_project.commit_all()
    batch = session.run("01-walls")
    session.wait_until_finished(batch)
    publish(session, batch, title=f"Walls {SECRET}", body=f"Log in with {SECRET}.")
    assert (remote.pulls[0]["title"], SECRET in remote.pulls[0]["body"]) == ("Walls ***", False)
    assert "Log in with ***." in remote.pulls[0]["body"]
    assert SECRET not in str(told(session, batch))
    kept = [path.read_bytes() for path in (worktree_project.top / ".git" / "plait").glob("*.db*")]
    assert b"Log in with ***." in b"".join(kept)
    assert not any(f"Log in with {SECRET}".encode() in data for data in kept)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": "  "}, "title"),
        ({"title": "two\nlines"}, "title"),
        ({"title": "x" * 256}, "title"),
        ({"title": 7}, "title"),
        ({"body": "x" * 60_001}, "body"),
        ({"body": "none\0"}, "body"),
    ],
)
def test_words_that_can_not_be_so(server: RunningServer, body: Json, field: str) -> None:
    server.project.task("01-walls", "true")
    batch = server.run("01-walls")
    assert server.post(f"/api/batches/{batch}/pr", body, 422)["field"] == field


def test_why_nothing_can_be_published_is_said(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    seen = told(server, batch)
    assert (seen["canPublish"], seen["canPush"], seen["branch"]) == (False, False, None)
    assert seen["why"] == f"batch {batch} runs in place: it has no branch to publish"
    server.get("/api/batches/none/pr", 404)


def test_where_no_forge_is_known_a_push_is_left(worktree_server: RunningServer, worktree_project: TempProject) -> None:
    batch = walls(worktree_server, worktree_project)
    seen = told(worktree_server, batch)
    assert (seen["canPublish"], seen["canPush"]) == (False, True)
    assert seen["why"]
    worktree_project.git("remote", "remove", "origin")
    seen = told(worktree_server, batch)
    assert (seen["canPush"], seen["hint"]) == (False, "See: git remote -v")
    assert "no remote named 'origin'" in seen["why"]


def test_the_target_is_what_the_settings_or_the_remote_say(
    session: RunningServer, worktree_project: TempProject
) -> None:
    batch = walls(session, worktree_project)
    worktree_project.git("fetch", "--quiet", "origin")
    worktree_project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert told(session, batch)["target"] == "main"


def test_a_key_stands_for_the_same_words(
    session: RunningServer, worktree_project: TempProject, remote: LocalForge
) -> None:
    batch = walls(session, worktree_project)
    for said in ({"title": "Walls"}, {"title": "Walls"}, {"title": "Roof"}, {"body": "Roof"}):
        headers = {"Idempotency-Key": "once"}
        session.client.post(f"/api/batches/{batch}/pr", json=said, headers=headers)
        wait_until(lambda: not told(session, batch)["underWay"])
    assert [pull["title"] for pull in remote.pulls] == ["Roof"]
    assert told(session, batch)["body"] == "Roof"
