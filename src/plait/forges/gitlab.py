"""GitLab's dialect: pull requests are merge requests, and made where their branch is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from plait.core.fast_dataclass import dataclass
from plait.forges.address import RepoAddress
from plait.forges.api import ForgeRepository, OpenPullRequest, PullRequestContent, PullRequestRoute
from plait.forges.http_client import ForgeHttpClient
from plait.forges.tokens import ForgeToken

_DRAFT_PREFIX = re.compile(r"(?:draft:|\[draft\]|\(draft\))\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GitLabProject:
    id: int
    path_with_namespace: str
    default_branch: str | None = None


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
        mark = _DRAFT_PREFIX.match(self.title)
        title = self.title[mark.end() :] if mark else self.title
        body, target = self.description or "", self.target_branch
        return OpenPullRequest(self.iid, self.web_url, title, body, target, mark[0] if mark else "")


class GitLab:
    def find_api_url(self, where: RepoAddress) -> str:
        return f"{where.base_url}/api/v4"

    def build_headers(self, token: ForgeToken) -> Mapping[str, str]:
        """As a bearer's: so both a personal token and one of a login will do."""
        return {"Accept": "application/json", "Authorization": f"Bearer {token.value}"}

    def get_repository(self, wire: ForgeHttpClient, path: str) -> ForgeRepository:
        found = wire.request("GET", f"/projects/{quote(path, safe='')}", GitLabProject)
        return ForgeRepository(found.id, found.path_with_namespace, found.default_branch or "")

    def find_pull_requests(self, wire: ForgeHttpClient, route: PullRequestRoute) -> list[OpenPullRequest]:
        query = {"state": "opened", "source_branch": route.branch, "per_page": "100"}
        found = wire.request("GET", _build_merge_requests_path(route.target), list[GitLabMergeRequest], query=query)
        return [
            each.pull_request
            for each in found
            if each.source_branch == route.branch and each.source_project_id == route.source.id
        ]

    def create_pull_request(
        self, wire: ForgeHttpClient, route: PullRequestRoute, target: str, draft: PullRequestContent
    ) -> OpenPullRequest:
        send = {
            "source_branch": route.branch,
            "target_branch": target,
            "target_project_id": route.target.id,
            "title": f"Draft: {draft.title}" if draft.is_draft else draft.title,
            "description": draft.body,
        }
        return wire.request(
            "POST", _build_merge_requests_path(route.source), GitLabMergeRequest, body=send
        ).pull_request

    def update_pull_request(
        self, wire: ForgeHttpClient, route: PullRequestRoute, pull: OpenPullRequest, draft: PullRequestContent
    ) -> OpenPullRequest:
        send = {"title": f"{pull.draft_prefix}{draft.title}", "description": draft.body}
        return wire.request(
            "PUT", f"{_build_merge_requests_path(route.target)}/{pull.number}", GitLabMergeRequest, body=send
        ).pull_request


def _build_merge_requests_path(project: ForgeRepository) -> str:
    return f"/projects/{project.id}/merge_requests"
