from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plait.ports import Announcement

if TYPE_CHECKING:
    from tests.forge.rest.conftest import FakeGitea, FakeGitLab, Visitor

BRANCH = "plait/batch-7f3a"
WANTED = Announcement(BRANCH, "main", "Three tasks", "| a | table |")


def test_gitlab_gets_one_merge_request_which_is_brought_up_to_date(
    gitlab: FakeGitLab, visitor: Visitor
) -> None:
    forge = visitor.open(f"{gitlab.root}/acme/tools/widgets.git", "gitlab")
    made = forge.announce(WANTED)
    assert (made.url, made.made) == (f"{gitlab.root}/acme/tools/widgets/-/merge_requests/1", True)
    again = forge.announce(replace(WANTED, title="Four tasks"))
    assert (again.url, again.made) == (made.url, False)
    [kept] = gitlab.pulls
    assert (kept.title, kept.branch, kept.base) == ("Four tasks", BRANCH, "main")
    assert gitlab.requests[0].path == "/projects/acme%2Ftools%2Fwidgets"


def test_gitlab_knows_a_draft_by_its_title_and_people_may_end_it(
    gitlab: FakeGitLab, visitor: Visitor
) -> None:
    forge = visitor.open(f"{gitlab.root}/acme/tools/widgets.git", "gitlab")
    forge.announce(replace(WANTED, draft=True))
    [kept] = gitlab.pulls
    assert kept.title == "Draft: Three tasks"
    forge.announce(replace(WANTED, draft=True, title="Four tasks"))
    assert kept.title == "Draft: Four tasks"
    kept.title = "Four tasks"
    forge.announce(replace(WANTED, draft=True, title="Five tasks"))
    assert kept.title == "Five tasks"


def test_gitlab_is_told_of_a_fork_where_the_branch_is(gitlab: FakeGitLab, visitor: Visitor) -> None:
    url, fork = f"{gitlab.root}/acme/tools/widgets.git", f"{gitlab.root}/ada/widgets.git"
    forge = visitor.open(url, "gitlab", push=fork)
    assert forge.announce(WANTED).made
    assert [request.path for request in gitlab.asked("POST")] == ["/projects/8/merge_requests"]
    assert not forge.announce(WANTED).made
    assert [request.path for request in gitlab.asked("PUT")] == ["/projects/7/merge_requests/1"]


def test_gitlab_says_in_a_list_that_there_is_one(gitlab: FakeGitLab, visitor: Visitor) -> None:
    forge = visitor.open(f"{gitlab.root}/acme/tools/widgets.git", "gitlab")
    forge.announce(WANTED)
    gitlab.trouble("GET", 200, {"id": 7, "path_with_namespace": "acme/tools/widgets"})
    gitlab.trouble("GET", 200, [])
    assert not forge.announce(WANTED).made


def test_gitea_gets_one_pull_request_which_is_brought_up_to_date(gitea: FakeGitea, visitor: Visitor) -> None:
    forge = visitor.open(f"{gitea.root}/acme/widgets.git", "gitea")
    assert forge.announce(replace(WANTED, draft=True)).made
    [kept] = gitea.pulls
    assert kept.title == "WIP: Three tasks"
    assert not forge.announce(replace(WANTED, title="Four tasks")).made
    assert kept.title == "WIP: Four tasks"
    assert {request.headers["authorization"] for request in gitea.requests} == {
        "token s3cr3t-T0ken-0123456789"
    }


def test_gitea_is_looked_through_page_by_page(gitea: FakeGitea, visitor: Visitor) -> None:
    forge = visitor.open(f"{gitea.root}/acme/widgets.git", "gitea")
    forge.announce(WANTED)
    for n in range(120):
        gitea.keep(title=f"other {n}", body="", branch=f"other-{n}", base="main", source="acme/widgets")
    assert not forge.announce(WANTED).made
    assert len(gitea.asked("PATCH")) == 1


def test_each_says_its_default_branch(gitea: FakeGitea, gitlab: FakeGitLab, visitor: Visitor) -> None:
    assert visitor.open(f"{gitea.root}/acme/widgets", "gitea").target() == "trunk"
    visitor.clone.git.run("remote", "remove", "origin")
    assert visitor.open(f"{gitlab.root}/acme/tools/widgets", "gitlab").target() == "trunk"
