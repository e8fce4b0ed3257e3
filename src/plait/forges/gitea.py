"""Gitea's and Forgejo's dialect: GitHub's shapes, without its filters; a title says that something is a draft."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

import httpx

from plait.forges.address import RepoAddress
from plait.forges.api import ForgeRepository, OpenPullRequest, PullRequestContent, PullRequestRoute
from plait.forges.github import GitHubPull, GitHubRepository, build_head
from plait.forges.http_client import ForgeHttpClient
from plait.forges.tokens import ForgeToken

_DRAFT_PREFIX = re.compile(r"(?:wip:|\[wip\])\s*", re.IGNORECASE)
_MAX_PAGES = 40


class Gitea:
    def find_api_url(self, where: RepoAddress) -> str:
        return f"{where.base_url}/api/v1"

    def build_headers(self, token: ForgeToken) -> Mapping[str, str]:
        """With a name, what git keeps may be a password as well as a token; asked for in this way, both will do."""
        if token.user:
            request = httpx.Request("GET", "http://localhost")
            signed = next(httpx.BasicAuth(token.user, token.value).auth_flow(request))
            return {"Accept": "application/json", "Authorization": signed.headers["Authorization"]}
        return {"Accept": "application/json", "Authorization": f"token {token.value}"}

    def get_repository(self, wire: ForgeHttpClient, path: str) -> ForgeRepository:
        found = wire.request("GET", _build_repo_path(path), GitHubRepository)
        return ForgeRepository(found.id, found.full_name, found.default_branch)

    def find_pull_requests(self, wire: ForgeHttpClient, route: PullRequestRoute) -> list[OpenPullRequest]:
        """By looking through the open ones, the newest first."""
        for page in range(1, _MAX_PAGES + 1):
            query = {"state": "open", "sort": "recentupdate", "limit": "50", "page": str(page)}
            found = wire.request("GET", f"{_build_repo_path(route.target.path)}/pulls", list[GitHubPull], query=query)
            ours = [_split_draft_prefix(each.pull_request) for each in found if each.comes_from(route)]
            if ours or not found:
                return ours
        return []

    def create_pull_request(
        self, wire: ForgeHttpClient, route: PullRequestRoute, target: str, draft: PullRequestContent
    ) -> OpenPullRequest:
        title = f"WIP: {draft.title}" if draft.is_draft else draft.title
        send = {"title": title, "body": draft.body, "base": target, **build_head(route)}
        return _split_draft_prefix(
            wire.request("POST", f"{_build_repo_path(route.target.path)}/pulls", GitHubPull, body=send).pull_request
        )

    def update_pull_request(
        self, wire: ForgeHttpClient, route: PullRequestRoute, pull: OpenPullRequest, draft: PullRequestContent
    ) -> OpenPullRequest:
        send = {"title": f"{pull.draft_prefix}{draft.title}", "body": draft.body}
        path = f"{_build_repo_path(route.target.path)}/pulls/{pull.number}"
        return _split_draft_prefix(wire.request("PATCH", path, GitHubPull, body=send).pull_request)


def _split_draft_prefix(pull: OpenPullRequest) -> OpenPullRequest:
    mark = _DRAFT_PREFIX.match(pull.title)
    return replace(pull, draft_prefix=mark[0], title=pull.title[mark.end() :]) if mark else pull


def _build_repo_path(path: str) -> str:
    return f"/repos/{quote(path)}"
