"""Every exchange here is checked against GitHub's published description of its REST API, from both sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from plait.forges.forge import PullRequestSpec

if TYPE_CHECKING:
    from plait.forges.pull_requests import ForgeClient
    from tests.forges.rest.conftest import FakeGitHub, ForgeOpener

BRANCH = "plait/batch-7f3a"
WANTED = PullRequestSpec(BRANCH, "main", "Three tasks", "| a | table |")


@pytest.fixture
def forge(github: FakeGitHub, forge_opener: ForgeOpener) -> ForgeClient:
    return forge_opener.open(f"{github.root}/acme/widgets.git", "github")


def invalid(message: str) -> object:
    error = {"resource": "PullRequest", "code": "custom", "message": message}
    return {"message": "Validation Failed", "errors": [error], "documentation_url": "https://docs.github.com"}


def test_a_pull_request_is_opened_for_the_branch(github: FakeGitHub, forge: ForgeClient) -> None:
    made = forge.publish_pull_request(WANTED)
    assert (made.url, made.created, made.note) == (f"{github.root}/acme/widgets/pull/1", True, "")
    [kept] = github.pulls
    assert (kept.title, kept.branch, kept.base, kept.draft) == ("Three tasks", BRANCH, "main", False)
    assert "| a | table |" in kept.body


def test_a_second_publish_updates_the_pull_request(github: FakeGitHub, forge: ForgeClient) -> None:
    first = forge.publish_pull_request(WANTED)
    second = forge.publish_pull_request(replace(WANTED, title="Four tasks", body="another table"))
    assert (second.url, second.created) == (first.url, False)
    [kept] = github.pulls
    assert kept.title == "Four tasks"
    assert "another table" in kept.body
    assert "| a | table |" not in kept.body


def test_text_that_people_wrote_stays(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(WANTED)
    [kept] = github.pulls
    kept.title, kept.body = "Better words", f"Please read this first.\r\n\r\n{kept.body}\r\nThanks!"
    forge.publish_pull_request(replace(WANTED, body="another table"))
    assert kept.title == "Better words"
    assert kept.body.startswith("Please read this first.")
    assert kept.body.endswith("Thanks!")
    assert "another table" in kept.body
    assert "| a | table |" not in kept.body


def test_a_requested_title_replaces_any_other(github: FakeGitHub, forge: ForgeClient) -> None:
    github.store_pull_request(title="Mine", body="By hand.", branch=BRANCH, base="main", source="acme/widgets")
    forge.publish_pull_request(replace(WANTED, title="The best words", renamed=True))
    [kept] = github.pulls
    assert kept.title == "The best words"
    forge.publish_pull_request(replace(WANTED, title="Five tasks"))
    assert kept.title == "Five tasks"


def test_a_pull_request_opened_by_a_person_is_updated(github: FakeGitHub, forge: ForgeClient) -> None:
    github.store_pull_request(title="Mine", body="By hand.", branch=BRANCH, base="main", source="acme/widgets")
    assert not forge.publish_pull_request(WANTED).created
    [kept] = github.pulls
    assert kept.title == "Mine"
    assert kept.body.startswith("By hand.\n\n")
    assert "| a | table |" in kept.body


def test_a_closed_pull_request_is_left_alone(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(WANTED)
    github.pulls[0].open = False
    assert forge.publish_pull_request(WANTED).created
    assert len(github.pulls) == 2


def test_a_pull_request_with_another_target_is_updated_with_a_note(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(WANTED)
    github.pulls[0].base = "release"
    again = forge.publish_pull_request(WANTED)
    assert (again.created, again.note) == (False, "the pull request targets release, not main")
    assert github.pulls[0].base == "release"


def test_a_branch_of_the_same_name_in_another_repository_is_ignored(github: FakeGitHub, forge: ForgeClient) -> None:
    """A filter that the forge does not understand lets everything through."""
    github.filters = False
    github.store_pull_request(title="Theirs", body="", branch=BRANCH, base="main", source="ada/widgets")
    github.store_pull_request(title="Other", body="", branch="other", base="main", source="acme/widgets")
    assert forge.publish_pull_request(WANTED).created
    assert [kept.title for kept in github.pulls] == ["Theirs", "Other", "Three tasks"]


def test_a_draft_is_created_as_a_draft(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(replace(WANTED, draft=True))
    assert github.pulls[0].draft


def test_a_refused_draft_becomes_a_normal_pull_request_with_a_note(github: FakeGitHub, forge: ForgeClient) -> None:
    github.fail_next("POST", 422, invalid("Draft pull requests are not supported in this repository."))
    made = forge.publish_pull_request(replace(WANTED, draft=True))
    assert made.created
    assert made.note.startswith("not a draft")
    assert [kept.draft for kept in github.pulls] == [False]


def test_a_branch_of_a_fork_is_named_with_its_owner(github: FakeGitHub, forge_opener: ForgeOpener) -> None:
    url = f"{github.root}/acme/widgets.git"
    forge = forge_opener.open(url, "github", push=f"{github.root}/ada/widgets.git")
    assert forge.publish_pull_request(WANTED).created
    [post] = github.find_requests("POST")
    assert (post.path, post.body["head"]) == ("/repos/acme/widgets/pulls", f"ada:{BRANCH}")
    assert not forge.publish_pull_request(WANTED).created


def test_a_fork_of_the_same_owner_is_named_in_full(github: FakeGitHub, forge_opener: ForgeOpener) -> None:
    url = f"{github.root}/acme/widgets.git"
    forge = forge_opener.open(url, "github", push=f"{github.root}/acme/fork.git")
    assert forge.publish_pull_request(WANTED).created
    [post] = github.find_requests("POST")
    assert post.body["head_repo"] == "acme/fork"


def test_two_clients_at_once_create_one_pull_request(github: FakeGitHub, forge: ForgeClient) -> None:
    """The second was looked for before the first was there."""
    github.store_pull_request(title="Mine", body="", branch=BRANCH, base="main", source="acme/widgets")
    github.fail_next("GET", 200, github.repository("acme/widgets"))
    github.fail_next("GET", 200, [])
    assert not forge.publish_pull_request(WANTED).created
    assert len(github.pulls) == 1


def test_a_lost_answer_does_not_create_a_second_pull_request(github: FakeGitHub, forge: ForgeClient) -> None:
    github.drop_answer("POST")
    assert not forge.publish_pull_request(WANTED).created
    assert len(github.pulls) == 1


def test_a_renamed_repository_is_followed(github: FakeGitHub, forge_opener: ForgeOpener) -> None:
    forge = forge_opener.open(f"{github.root}/old/name.git", "github")
    github.fail_next("GET", 301, {"message": "Moved"}, {"location": "/api/v3/repos/acme/widgets"})
    assert forge.publish_pull_request(WANTED).created
    assert [request.path for request in github.find_requests("POST")] == ["/repos/acme/widgets/pulls"]


def test_an_overlong_body_of_one_line_is_cut_within_the_line(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(replace(WANTED, body="word " * 20_000))
    [made] = github.pulls
    assert 65_000 < len(made.body) <= 65_536
    assert "word word" in made.body


def test_a_body_that_is_too_long_is_cut(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(replace(WANTED, body="line\n" * 20_000))
    github.pulls[0].body = "x" * 30_000 + github.pulls[0].body
    forge.publish_pull_request(replace(WANTED, body="line\n" * 20_000))
    [kept] = github.pulls
    assert 60_000 < len(kept.body) <= 65_536
    assert kept.body.startswith("x" * 30_000)
    assert kept.body.endswith("(truncated)\n<!-- /plait -->")


def test_the_token_is_sent_as_a_bearer_token(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(WANTED)
    assert {request.headers["authorization"] for request in github.requests} == {"Bearer s3cr3t-T0ken-0123456789"}
    assert {request.headers["x-github-api-version"] for request in github.requests} == {"2022-11-28"}
