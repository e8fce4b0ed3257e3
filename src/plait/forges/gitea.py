"""Gitea and Forgejo: GitHub's API without its filters; a prefix of the title marks a draft."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING

from plait.config.git_keys import ForgeKind
from plait.forges.forge import (
    ForgeToken,
    OpenPullRequest,
    PullRequestContent,
    PullRequestRoute,
    PullRequestSpec,
    RepoAddress,
)
from plait.forges.github import GitHub, GitHubPull, build_head, build_pulls_path

if TYPE_CHECKING:
    from plait.forges.http_client import ForgeHttpClient

_DRAFT_PREFIX = re.compile(r"(?:wip:|\[wip\])\s*", re.IGNORECASE)
_MAX_PAGES = 40


class Gitea(GitHub):
    kind = ForgeKind.GITEA
    hosts = ("codeberg.org", "gitea.com")
    host_words = ("gitea", "forgejo")
    ssh_hosts: Mapping[str, str] = {}
    login_command = ""
    token_command = ()

    def list_token_variables(self, address: RepoAddress, environment: Mapping[str, str]) -> tuple[str, ...]:  # noqa: ARG002
        return ("GITEA_TOKEN",)

    def build_compare_link(self, target: RepoAddress, source: RepoAddress, spec: PullRequestSpec) -> str:
        return super().build_compare_link(target, source, spec).removesuffix("?expand=1")

    def build_create_command(self, target: RepoAddress, source: RepoAddress, spec: PullRequestSpec) -> list[str]:
        head = spec.branch if source == target else f"{source.owner}:{spec.branch}"
        return ["tea", "pulls", "create", "--repo", target.path, "--base", spec.target, "--head", head]

    def find_api_url(self, address: RepoAddress) -> str:
        return f"{address.base_url}/api/v1"

    def build_headers(self, token: ForgeToken) -> Mapping[str, str]:
        """Build the headers: basic authentication with a user name, which accepts passwords and tokens."""
        if token.user:
            signature = f"Basic {b64encode(f'{token.user}:{token.value}'.encode()).decode()}"
        else:
            signature = f"token {token.value}"
        return {"Accept": "application/json", "Authorization": signature}

    def find_pull_requests(self, client: ForgeHttpClient, route: PullRequestRoute) -> list[OpenPullRequest]:
        """Search the open pull requests page by page, the most recently updated first."""
        for page in range(1, _MAX_PAGES + 1):
            query = {"state": "open", "sort": "recentupdate", "limit": "50", "page": str(page)}
            pulls = client.request("GET", build_pulls_path(route), list[GitHubPull], query=query)
            matching = [pull.pull_request.split_draft_prefix(_DRAFT_PREFIX) for pull in pulls if pull.comes_from(route)]
            if matching or not pulls:
                return matching
        return []

    def create_pull_request(
        self, client: ForgeHttpClient, route: PullRequestRoute, target: str, content: PullRequestContent
    ) -> OpenPullRequest:
        title = f"WIP: {content.title}" if content.is_draft else content.title
        body = {"title": title, "body": content.body, "base": target, "head": build_head(route)}
        pull = client.request("POST", build_pulls_path(route), GitHubPull, body=body).pull_request
        return pull.split_draft_prefix(_DRAFT_PREFIX)

    def update_pull_request(
        self, client: ForgeHttpClient, route: PullRequestRoute, pull: OpenPullRequest, content: PullRequestContent
    ) -> OpenPullRequest:
        titled = PullRequestContent(f"{pull.draft_prefix}{content.title}", content.body)
        return super().update_pull_request(client, route, pull, titled).split_draft_prefix(_DRAFT_PREFIX)


FORGE = Gitea()
