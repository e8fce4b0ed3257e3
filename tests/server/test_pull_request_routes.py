"""The text of a pull request can be previewed, and replaced by a person."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.local_forge import REPOSITORY, LocalForge
from tests.support.running_server import Json, RunningServer
from tests.support.waiting import wait_until

SECRET = "s3cret-w0rd-0f-ada"


def run_batch(server: RunningServer) -> str:
    """A batch whose one task is merged; its id."""
    server.project.task("01-walls", "echo walls > walls.txt")
    server.project.commit_all()
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    return batch


def get_preview(server: RunningServer, batch: str) -> Json:
    return server.get(f"/api/batches/{batch}/pr")


def publish(server: RunningServer, batch: str, **body: object) -> None:
    """Publish, and wait until it is done."""
    answer = server.client.post(f"/api/batches/{batch}/pr", json=body)
    assert answer.status_code in {200, 202}, answer.text
    wait_until(lambda: not get_preview(server, batch)["underWay"])
    assert server.batch(batch)["unshipped"] is None


def test_title_and_body_are_previewed_before_publishing(forge_server: RunningServer, forge: LocalForge) -> None:
    batch = run_batch(forge_server)
    preview = get_preview(forge_server, batch)
    assert preview["title"] == "01-walls"
    assert preview["body"].startswith("**1 of 1 task done**")
    assert preview["own"] == {"title": preview["title"], "body": preview["body"]}
    assert (preview["branch"], preview["target"], preview["url"]) == (forge_server.batch(batch)["branch"], None, None)
    assert (preview["shipped"], preview["canPublish"], preview["canPush"], preview["why"]) == (False, True, True, None)
    publish(forge_server, batch)
    after = get_preview(forge_server, batch)
    assert (after["shipped"], after["url"]) == (True, f"{forge.url}/{REPOSITORY}/pulls/1")
    assert forge.pulls[0]["title"] == preview["title"]
    assert preview["body"].strip() in forge.pulls[0]["body"]


def test_an_edited_title_and_body_are_published_and_kept(forge_server: RunningServer, forge: LocalForge) -> None:
    batch = run_batch(forge_server)
    own = get_preview(forge_server, batch)["own"]
    publish(forge_server, batch)
    publish(forge_server, batch, title="Four walls, closes #12", body="As agreed with @ada.")
    assert [pull["title"] for pull in forge.pulls] == ["Four walls, closes #12"]
    assert "As agreed with @ada." in forge.pulls[0]["body"]
    assert "task done" not in forge.pulls[0]["body"]
    publish(forge_server, batch)
    assert forge.pulls[0]["title"] == "Four walls, closes #12"
    assert "As agreed with @ada." in forge.pulls[0]["body"]
    preview = get_preview(forge_server, batch)
    assert (preview["title"], preview["body"]) == ("Four walls, closes #12", "As agreed with @ada.")
    assert preview["own"] == own


def test_a_new_title_replaces_one_from_the_forge_once(forge_server: RunningServer, forge: LocalForge) -> None:
    batch = run_batch(forge_server)
    publish(forge_server, batch)
    forge.pulls[0]["title"] = "Theirs"
    publish(forge_server, batch, title="Mine")
    assert forge.pulls[0]["title"] == "Mine"
    forge.pulls[0]["title"] = "Theirs again"
    publish(forge_server, batch)
    assert forge.pulls[0]["title"] == "Theirs again"


def test_plait_s_own_title_and_an_empty_body_remove_the_override(
    forge_server: RunningServer, forge: LocalForge
) -> None:
    batch = run_batch(forge_server)
    publish(forge_server, batch, title="Mine", body="Mine too.")
    own = get_preview(forge_server, batch)["own"]
    publish(forge_server, batch, title=own["title"], body=" \n")
    preview = get_preview(forge_server, batch)
    assert (preview["title"], preview["body"]) == (own["title"], own["body"])
    assert forge.pulls[0]["title"] == "01-walls"
    assert "task done" in forge.pulls[0]["body"]


def test_secrets_are_redacted_from_titles_and_bodies(forge_server: RunningServer, forge: LocalForge) -> None:
    forge_server.project.task("01-walls", "echo walls > walls.txt", env=f"{{SITE_PASSWORD: {SECRET}}}")
    forge_server.project.commit_all()
    batch = forge_server.run("01-walls")
    forge_server.wait_until_finished(batch)
    publish(forge_server, batch, title=f"Walls {SECRET}", body=f"Log in with {SECRET}.")
    assert (forge.pulls[0]["title"], SECRET in forge.pulls[0]["body"]) == ("Walls ***", False)
    assert "Log in with ***." in forge.pulls[0]["body"]
    assert SECRET not in str(get_preview(forge_server, batch))
    # Another process reads them: when this one closed such a file, it would lose SQLite's locks on it.
    files = (forge_server.project.top / ".git" / "plait").glob("*.db*")
    stored = subprocess.run(["cat", *files], capture_output=True, check=True).stdout
    assert b"Log in with ***." in stored
    assert f"Log in with {SECRET}".encode() not in stored


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
def test_an_invalid_title_or_body_is_refused(server: RunningServer, body: Json, field: str) -> None:
    server.project.task("01-walls", "true")
    batch = server.run("01-walls")
    assert server.post(f"/api/batches/{batch}/pr", body, 422)["field"] == field


def test_a_batch_in_place_can_t_be_published(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    preview = get_preview(server, batch)
    assert (preview["canPublish"], preview["canPush"], preview["branch"]) == (False, False, None)
    assert preview["why"] == f"batch {batch} runs in place: it has no branch to publish"
    server.get("/api/batches/none/pr", 404)


def test_without_a_known_forge_only_a_push_is_possible(fresh_worktree_server: RunningServer) -> None:
    batch = run_batch(fresh_worktree_server)
    preview = get_preview(fresh_worktree_server, batch)
    assert (preview["canPublish"], preview["canPush"]) == (False, True)
    assert preview["why"] == "this remote is not on GitHub, GitLab or Gitea"
    fresh_worktree_server.project.git("remote", "remove", "origin")
    preview = get_preview(fresh_worktree_server, batch)
    assert (preview["canPush"], preview["hint"]) == (False, "Add one with git remote add, or set pr.remote.")
    assert "no remote named 'origin'" in preview["why"]


def test_the_target_is_the_remote_s_default_branch(fresh_worktree_server: RunningServer) -> None:
    batch = run_batch(fresh_worktree_server)
    fresh_worktree_server.project.git("fetch", "--quiet", "origin")
    fresh_worktree_server.project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert get_preview(fresh_worktree_server, batch)["target"] == "main"


def test_an_idempotency_key_is_for_one_title_and_body(forge_server: RunningServer, forge: LocalForge) -> None:
    batch = run_batch(forge_server)
    for value in ({"title": "Walls"}, {"title": "Walls"}, {"title": "Roof"}, {"body": "Roof"}):
        headers = {"Idempotency-Key": "once"}
        answer = forge_server.client.post(f"/api/batches/{batch}/pr", json=value, headers=headers)
        assert (answer.status_code == 422) == (value != {"title": "Walls"})
        wait_until(lambda: not get_preview(forge_server, batch)["underWay"])
    assert [pull["title"] for pull in forge.pulls] == ["Walls"]
