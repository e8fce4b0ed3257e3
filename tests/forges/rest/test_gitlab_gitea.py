from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plait.forges.forge import PullRequestSpec

if TYPE_CHECKING:
    from tests.forges.rest.conftest import FakeGitea, FakeGitLab, ForgeOpener

BRANCH = "plait/batch-7f3a"
WANTED = PullRequestSpec(BRANCH, "main", "Three tasks", "| a | table |")


def test_gitlab_gets_one_merge_request_which_is_brought_up_to_date(gitlab: FakeGitLab, visitor: ForgeOpener) -> None:
    forge = visitor.open(f"{gitlab.root}/acme/tools/widgets.git", "gitlab")
    made = forge.publish_pull_request(WANTED)
    assert (made.url, made.created) == (f"{gitlab.root}/acme/tools/widgets/-/merge_requests/1", True)
    again = forge.publish_pull_request(replace(WANTED, title="Four tasks"))
    assert (again.url, again.created) == (made.url, False)
    [kept] = gitlab.pulls
    assert (kept.title, kept.branch, kept.base) == ("Four tasks", BRANCH, "main")
    assert gitlab.requests[0].path == "/projects/acme%2Ftools%2Fwidgets"


def test_gitlab_knows_a_draft_by_its_title_and_people_may_end_it(gitlab: FakeGitLab, visitor: ForgeOpener) -> None:
    forge = visitor.open(f"{gitlab.root}/acme/tools/widgets.git", "gitlab")
    forge.publish_pull_request(replace(WANTED, draft=True))
    [kept] = gitlab.pulls
    assert kept.title == "Draft: Three tasks"
    forge.publish_pull_request(replace(WANTED, draft=True, title="Four tasks"))
    assert kept.title == "Draft: Four tasks"
    kept.title = "Four tasks"
    forge.publish_pull_request(replace(WANTED, draft=True, title="Five tasks"))
    assert kept.title == "Five tasks"


def test_gitlab_is_told_of_a_fork_where_the_branch_is(gitlab: FakeGitLab, visitor: ForgeOpener) -> None:
    url, fork = f"{gitlab.root}/acme/tools/widgets.git", f"{gitlab.root}/ada/widgets.git"
    forge = visitor.open(url, "gitlab", push=fork)
    assert forge.publish_pull_request(WANTED).created
    assert [request.path for request in gitlab.find_requests("POST")] == ["/projects/8/merge_requests"]
    assert not forge.publish_pull_request(WANTED).created
    assert [request.path for request in gitlab.find_requests("PUT")] == ["/projects/7/merge_requests/1"]


def test_gitlab_says_in_a_list_that_there_is_one(gitlab: FakeGitLab, visitor: ForgeOpener) -> None:
    forge = visitor.open(f"{gitlab.root}/acme/tools/widgets.git", "gitlab")
    forge.publish_pull_request(WANTED)
    gitlab.fail_next("GET", 200, {"id": 7, "path_with_namespace": "acme/tools/widgets"})
    gitlab.fail_next("GET", 200, [])
    assert not forge.publish_pull_request(WANTED).created


def test_gitea_gets_one_pull_request_which_is_brought_up_to_date(gitea: FakeGitea, visitor: ForgeOpener) -> None:
    forge = visitor.open(f"{gitea.root}/acme/widgets.git", "gitea")
    assert forge.publish_pull_request(replace(WANTED, draft=True)).created
    [kept] = gitea.pulls
    assert kept.title == "WIP: Three tasks"
    assert not forge.publish_pull_request(replace(WANTED, title="Four tasks")).created
    assert kept.title == "WIP: Four tasks"
    assert {request.headers["authorization"] for request in gitea.requests} == {"token s3cr3t-T0ken-0123456789"}


def test_gitea_is_looked_through_page_by_page(gitea: FakeGitea, visitor: ForgeOpener) -> None:
    forge = visitor.open(f"{gitea.root}/acme/widgets.git", "gitea")
    forge.publish_pull_request(WANTED)
    for n in range(120):
        gitea.store_pull_request(title=f"other {n}", body="", branch=f"other-{n}", base="main", source="acme/widgets")
    assert not forge.publish_pull_request(WANTED).created
    assert len(gitea.find_requests("PATCH")) == 1
