from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plait.forges.forge import PullRequestSpec

if TYPE_CHECKING:
    from tests.forges.rest.conftest import FakeGitea, FakeGitLab, ForgeOpener

BRANCH = "plait/batch-7f3a"
WANTED = PullRequestSpec(BRANCH, "main", "Three tasks", "| a | table |")


def test_gitlab_gets_one_merge_request_which_is_updated(gitlab: FakeGitLab, forge_opener: ForgeOpener) -> None:
    forge = forge_opener.open(f"{gitlab.root}/acme/tools/widgets.git", "gitlab")
    made = forge.publish_pull_request(WANTED)
    assert (made.url, made.created) == (f"{gitlab.root}/acme/tools/widgets/-/merge_requests/1", True)
    again = forge.publish_pull_request(replace(WANTED, title="Four tasks"))
    assert (again.url, again.created) == (made.url, False)
    [kept] = gitlab.pulls
    assert (kept.title, kept.branch, kept.base) == ("Four tasks", BRANCH, "main")
    assert gitlab.requests[0].path == "/projects/acme%2Ftools%2Fwidgets"


def test_a_gitlab_draft_is_marked_by_its_title_and_can_be_ended(gitlab: FakeGitLab, forge_opener: ForgeOpener) -> None:
    forge = forge_opener.open(f"{gitlab.root}/acme/tools/widgets.git", "gitlab")
    forge.publish_pull_request(replace(WANTED, draft=True))
    [kept] = gitlab.pulls
    assert kept.title == "Draft: Three tasks"
    forge.publish_pull_request(replace(WANTED, draft=True, title="Four tasks"))
    assert kept.title == "Draft: Four tasks"
    kept.title = "Four tasks"
    forge.publish_pull_request(replace(WANTED, draft=True, title="Five tasks"))
    assert kept.title == "Five tasks"


def test_gitlab_gets_the_merge_request_of_a_fork_in_the_fork(gitlab: FakeGitLab, forge_opener: ForgeOpener) -> None:
    url, fork = f"{gitlab.root}/acme/tools/widgets.git", f"{gitlab.root}/ada/widgets.git"
    forge = forge_opener.open(url, "gitlab", push=fork)
    assert forge.publish_pull_request(WANTED).created
    assert [request.path for request in gitlab.find_requests("POST")] == ["/projects/8/merge_requests"]
    assert not forge.publish_pull_request(WANTED).created
    assert [request.path for request in gitlab.find_requests("PUT")] == ["/projects/7/merge_requests/1"]


def test_an_existing_gitlab_merge_request_is_recognised_in_a_list_of_errors(
    gitlab: FakeGitLab, forge_opener: ForgeOpener
) -> None:
    forge = forge_opener.open(f"{gitlab.root}/acme/tools/widgets.git", "gitlab")
    forge.publish_pull_request(WANTED)
    gitlab.fail_next("GET", 200, {"id": 7, "path_with_namespace": "acme/tools/widgets"})
    gitlab.fail_next("GET", 200, [])
    assert not forge.publish_pull_request(WANTED).created


def test_gitea_gets_one_pull_request_which_is_updated(gitea: FakeGitea, forge_opener: ForgeOpener) -> None:
    forge = forge_opener.open(f"{gitea.root}/acme/widgets.git", "gitea")
    assert forge.publish_pull_request(replace(WANTED, draft=True)).created
    [kept] = gitea.pulls
    assert kept.title == "WIP: Three tasks"
    assert not forge.publish_pull_request(replace(WANTED, title="Four tasks")).created
    assert kept.title == "WIP: Four tasks"
    assert {request.headers["authorization"] for request in gitea.requests} == {"token s3cr3t-T0ken-0123456789"}


def test_gitea_is_searched_page_by_page(gitea: FakeGitea, forge_opener: ForgeOpener) -> None:
    forge = forge_opener.open(f"{gitea.root}/acme/widgets.git", "gitea")
    forge.publish_pull_request(WANTED)
    for n in range(120):
        gitea.store_pull_request(title=f"other {n}", body="", branch=f"other-{n}", base="main", source="acme/widgets")
    assert not forge.publish_pull_request(WANTED).created
    assert len(gitea.find_requests("PATCH")) == 1
