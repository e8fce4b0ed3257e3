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
def forge(github: FakeGitHub, visitor: ForgeOpener) -> ForgeClient:
    return visitor.open(f"{github.root}/acme/widgets.git", "github")


def invalid(message: str) -> object:
    error = {"resource": "PullRequest", "code": "custom", "message": message}
    return {"message": "Validation Failed", "errors": [error], "documentation_url": "https://docs.github.com"}


def test_a_pull_request_is_opened_for_the_branch(github: FakeGitHub, forge: ForgeClient) -> None:
    made = forge.publish_pull_request(WANTED)
    assert (made.url, made.created, made.note) == (f"{github.root}/acme/widgets/pull/1", True, "")
    [kept] = github.pulls
    assert (kept.title, kept.branch, kept.base, kept.draft) == ("Three tasks", BRANCH, "main", False)
    assert "| a | table |" in kept.body


def test_a_second_time_it_is_brought_up_to_date(github: FakeGitHub, forge: ForgeClient) -> None:
    first = forge.publish_pull_request(WANTED)
    second = forge.publish_pull_request(replace(WANTED, title="Four tasks", body="another table"))
    assert (second.url, second.created) == (first.url, False)
    [kept] = github.pulls
    assert kept.title == "Four tasks"
    assert "another table" in kept.body
    assert "| a | table |" not in kept.body


def test_what_people_wrote_into_it_stays(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(WANTED)
    [kept] = github.pulls
    kept.title, kept.body = "Better words", f"Please read this first.\r\n\r\n{kept.body}\r\nThanks!"
    forge.publish_pull_request(replace(WANTED, body="another table"))
    assert kept.title == "Better words"
    assert kept.body.startswith("Please read this first.")
    assert kept.body.endswith("Thanks!")
    assert "another table" in kept.body
    assert "| a | table |" not in kept.body


def test_a_title_that_a_person_asks_for_counts_whatever_is_there(github: FakeGitHub, forge: ForgeClient) -> None:
    github.store_pull_request(title="Mine", body="By hand.", branch=BRANCH, base="main", source="acme/widgets")
    forge.publish_pull_request(replace(WANTED, title="The best words", renamed=True))
    [kept] = github.pulls
    assert kept.title == "The best words"
    forge.publish_pull_request(replace(WANTED, title="Five tasks"))
    assert kept.title == "Five tasks"


def test_one_that_a_person_opened_is_taken_up(github: FakeGitHub, forge: ForgeClient) -> None:
    github.store_pull_request(title="Mine", body="By hand.", branch=BRANCH, base="main", source="acme/widgets")
    assert not forge.publish_pull_request(WANTED).created
    [kept] = github.pulls
    assert kept.title == "Mine"
    assert kept.body.startswith("By hand.\n\n")
    assert "| a | table |" in kept.body


def test_a_closed_one_is_left_alone(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(WANTED)
    github.pulls[0].open = False
    assert forge.publish_pull_request(WANTED).created
    assert len(github.pulls) == 2


def test_one_for_another_branch_is_still_the_one_and_that_is_said(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(WANTED)
    github.pulls[0].base = "release"
    again = forge.publish_pull_request(WANTED)
    assert (again.created, again.note) == (False, "the pull request targets release, not main")
    assert github.pulls[0].base == "release"


def test_somebody_elses_branch_of_the_same_name_is_not_ours(github: FakeGitHub, forge: ForgeClient) -> None:
    """A filter that the forge does not understand lets everything through."""
    github.filters = False
    github.store_pull_request(title="Theirs", body="", branch=BRANCH, base="main", source="ada/widgets")
    github.store_pull_request(title="Other", body="", branch="other", base="main", source="acme/widgets")
    assert forge.publish_pull_request(WANTED).created
    assert [kept.title for kept in github.pulls] == ["Theirs", "Other", "Three tasks"]


def test_a_draft_is_one(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(replace(WANTED, draft=True))
    assert github.pulls[0].draft


def test_where_drafts_are_refused_it_is_none_and_that_is_said(github: FakeGitHub, forge: ForgeClient) -> None:
    github.fail_next("POST", 422, invalid("Draft pull requests are not supported in this repository."))
    made = forge.publish_pull_request(replace(WANTED, draft=True))
    assert made.created
    assert made.note.startswith("not a draft")
    assert [kept.draft for kept in github.pulls] == [False]


def test_a_branch_of_a_fork_is_named_with_its_owner(github: FakeGitHub, visitor: ForgeOpener) -> None:
    url = f"{github.root}/acme/widgets.git"
    forge = visitor.open(url, "github", push=f"{github.root}/ada/widgets.git")
    assert forge.publish_pull_request(WANTED).created
    [post] = github.find_requests("POST")
    assert (post.path, post.body["head"]) == ("/repos/acme/widgets/pulls", f"ada:{BRANCH}")
    assert not forge.publish_pull_request(WANTED).created


def test_a_fork_of_the_same_owner_is_named_in_full(github: FakeGitHub, visitor: ForgeOpener) -> None:
    url = f"{github.root}/acme/widgets.git"
    forge = visitor.open(url, "github", push=f"{github.root}/acme/fork.git")
    assert forge.publish_pull_request(WANTED).created
    [post] = github.find_requests("POST")
    assert post.body["head_repo"] == "acme/fork"


def test_two_at_once_make_one(github: FakeGitHub, forge: ForgeClient) -> None:
    """The second was looked for before the first was there."""
    github.store_pull_request(title="Mine", body="", branch=BRANCH, base="main", source="acme/widgets")
    github.fail_next("GET", 200, github.repository("acme/widgets"))
    github.fail_next("GET", 200, [])
    assert not forge.publish_pull_request(WANTED).created
    assert len(github.pulls) == 1


def test_an_answer_that_was_lost_does_not_make_a_second_one(github: FakeGitHub, forge: ForgeClient) -> None:
    github.drop_answer("POST")
    assert not forge.publish_pull_request(WANTED).created
    assert len(github.pulls) == 1


def test_a_repository_that_was_renamed_is_followed(github: FakeGitHub, visitor: ForgeOpener) -> None:
    forge = visitor.open(f"{github.root}/old/name.git", "github")
    github.fail_next("GET", 301, {"message": "Moved"}, {"location": "/api/v3/repos/acme/widgets"})
    assert forge.publish_pull_request(WANTED).created
    assert [request.path for request in github.find_requests("POST")] == ["/repos/acme/widgets/pulls"]


def test_a_body_of_one_line_that_is_too_long_is_cut_within_it(github: FakeGitHub, forge: ForgeClient) -> None:
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


def test_the_token_is_a_bearers_and_nobody_follows_links(github: FakeGitHub, forge: ForgeClient) -> None:
    forge.publish_pull_request(WANTED)
    assert {request.headers["authorization"] for request in github.requests} == {"Bearer s3cr3t-T0ken-0123456789"}
    assert {request.headers["x-github-api-version"] for request in github.requests} == {"2022-11-28"}
