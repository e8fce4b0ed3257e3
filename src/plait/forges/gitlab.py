"""GitLab: pull requests are merge requests, and are created in the project that has the branch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from plait.config.git_keys import ForgeKind
from plait.core.fast_dataclass import dataclass
from plait.forges.forge import (
    ForgeRepository,
    ForgeToken,
    OpenPullRequest,
    PullRequestContent,
    PullRequestRoute,
    PullRequestSpec,
    RepoAddress,
)

if TYPE_CHECKING:
    from plait.forges.http_client import ForgeHttpClient

_DRAFT_PREFIX = re.compile(r"(?:draft:|\[draft\]|\(draft\))\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GitLabProject:
    id: int
    path_with_namespace: str


@dataclass(frozen=True, slots=True)
class GitLabMergeRequest:
    iid: int
    web_url: str
    title: str
    source_branch: str
    target_branch: str
    source_project_id: int | None = None
    description: str | None = None

    @property
    def pull_request(self) -> OpenPullRequest:
        pull = OpenPullRequest(self.iid, self.web_url, self.title, self.description or "", self.target_branch)
        return pull.split_draft_prefix(_DRAFT_PREFIX)


class GitLab:
    kind = ForgeKind.GITLAB
    hosts: tuple[str, ...] = ("gitlab.com",)
    host_words: tuple[str, ...] = ("gitlab",)
    ssh_hosts: Mapping[str, str] = {"altssh.gitlab.com": "gitlab.com"}
    has_nested_groups = True
    login_command = "glab auth login"
    token_command = ("glab", "config", "get", "token", "--host")

    def list_token_variables(self, address: RepoAddress, environment: Mapping[str, str]) -> tuple[str, ...]:
        host = environment.get("GITLAB_HOST") or environment.get("CI_SERVER_HOST") or address.host
        home = urlsplit(host if "://" in host else f"https://{host}").hostname
        return ("GITLAB_TOKEN",) if home == address.host else ()

    def build_compare_link(self, target: RepoAddress, source: RepoAddress, spec: PullRequestSpec) -> str:  # noqa: ARG002
        branches = {"merge_request[source_branch]": spec.branch, "merge_request[target_branch]": spec.target}
        return f"{source.web_url}/-/merge_requests/new?{urlencode(branches)}"

    def build_create_command(self, target: RepoAddress, source: RepoAddress, spec: PullRequestSpec) -> list[str]:
        head = [] if source == target else ["--head", source.web_url]
        branches = ["--target-branch", spec.target, "--source-branch", spec.branch]
        draft = ["--draft"] if spec.draft else []
        return ["glab", "mr", "create", "--repo", target.web_url, *head, *branches, *draft]

    def find_api_url(self, address: RepoAddress) -> str:
        return f"{address.base_url}/api/v4"

    def build_headers(self, token: ForgeToken) -> Mapping[str, str]:
        """Build the headers, with a bearer token, which works for personal and OAuth tokens."""
        return {"Accept": "application/json", "Authorization": f"Bearer {token.value}"}

    def get_repository(self, client: ForgeHttpClient, path: str) -> ForgeRepository:
        project = client.request("GET", f"/projects/{quote(path, safe='')}", GitLabProject)
        return ForgeRepository(project.id, project.path_with_namespace)

    def find_pull_requests(self, client: ForgeHttpClient, route: PullRequestRoute) -> list[OpenPullRequest]:
        query = {"state": "opened", "source_branch": route.branch, "per_page": "100"}
        merge_requests = client.request(
            "GET", _build_merge_requests_path(route.target), list[GitLabMergeRequest], query=query
        )
        return [
            merge_request.pull_request
            for merge_request in merge_requests
            if merge_request.source_branch == route.branch and merge_request.source_project_id == route.source.id
        ]

    def create_pull_request(
        self, client: ForgeHttpClient, route: PullRequestRoute, target: str, content: PullRequestContent
    ) -> OpenPullRequest:
        body = {
            "source_branch": route.branch,
            "target_branch": target,
            "target_project_id": route.target.id,
            "title": f"Draft: {content.title}" if content.is_draft else content.title,
            "description": content.body,
        }
        path = _build_merge_requests_path(route.source)
        return client.request("POST", path, GitLabMergeRequest, body=body).pull_request

    def update_pull_request(
        self, client: ForgeHttpClient, route: PullRequestRoute, pull: OpenPullRequest, content: PullRequestContent
    ) -> OpenPullRequest:
        body = {"title": f"{pull.draft_prefix}{content.title}", "description": content.body}
        path = f"{_build_merge_requests_path(route.target)}/{pull.number}"
        return client.request("PUT", path, GitLabMergeRequest, body=body).pull_request


FORGE = GitLab()


def _build_merge_requests_path(project: ForgeRepository) -> str:
    return f"/projects/{project.id}/merge_requests"
