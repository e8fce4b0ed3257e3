"""GitHub's dialect; on hosts of one's own it lives under /api/v3."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from plait.core.fast_dataclass import dataclass
from plait.forges.address import RepoAddress
from plait.forges.api import ForgeRepository, OpenPullRequest, PullRequestContent, PullRequestRoute
from plait.forges.http_client import ForgeHttpClient
from plait.forges.tokens import ForgeToken


@dataclass(frozen=True, slots=True)
class GitHubRepository:
    id: int
    full_name: str
    default_branch: str = ""


@dataclass(frozen=True, slots=True)
class GitHubEnd:
    """One end of a pull request; a fork may have been deleted since."""

    ref: str
    repo: GitHubRepository | None = None


@dataclass(frozen=True, slots=True)
class GitHubPull:
    number: int
    html_url: str
    title: str
    head: GitHubEnd
    base: GitHubEnd
    body: str | None = None

    def comes_from(self, route: PullRequestRoute) -> bool:
        """To be sure: a filter that a forge does not understand lets everything through."""
        return self.head.ref == route.branch and self.head.repo is not None and self.head.repo.id == route.source.id

    @property
    def pull_request(self) -> OpenPullRequest:
        return OpenPullRequest(self.number, self.html_url, self.title, self.body or "", self.base.ref)


class GitHub:
    def find_api_url(self, where: RepoAddress) -> str:
        if where.host == "github.com" or where.host.endswith(".ghe.com"):
            return f"https://api.{where.host}"
        return f"{where.base_url}/api/v3"

    def build_headers(self, token: ForgeToken) -> Mapping[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token.value}",
            "X-GitHub-Api-Version": "2022-11-28",
        }

    def get_repository(self, wire: ForgeHttpClient, path: str) -> ForgeRepository:
        found = wire.request("GET", _build_repo_path(path), GitHubRepository)
        return ForgeRepository(found.id, found.full_name, found.default_branch)

    def find_pull_requests(self, wire: ForgeHttpClient, route: PullRequestRoute) -> list[OpenPullRequest]:
        query = {"state": "open", "head": f"{route.source.owner}:{route.branch}", "per_page": "100"}
        found = wire.request("GET", f"{_build_repo_path(route.target.path)}/pulls", list[GitHubPull], query=query)
        return [each.pull_request for each in found if each.comes_from(route)]

    def create_pull_request(
        self, wire: ForgeHttpClient, route: PullRequestRoute, target: str, draft: PullRequestContent
    ) -> OpenPullRequest:
        wanted = {"title": draft.title, "body": draft.body, "base": target, **build_head(route)}
        if route.is_fork and route.source.owner == route.target.owner:
            wanted["head_repo"] = route.source.path
        send = {**wanted, "draft": True} if draft.is_draft else wanted
        return wire.request("POST", f"{_build_repo_path(route.target.path)}/pulls", GitHubPull, body=send).pull_request

    def update_pull_request(
        self, wire: ForgeHttpClient, route: PullRequestRoute, pull: OpenPullRequest, draft: PullRequestContent
    ) -> OpenPullRequest:
        send = {"title": draft.title, "body": draft.body}
        path = f"{_build_repo_path(route.target.path)}/pulls/{pull.number}"
        return wire.request("PATCH", path, GitHubPull, body=send).pull_request


def build_head(route: PullRequestRoute) -> dict[str, str]:
    return {"head": f"{route.source.owner}:{route.branch}" if route.is_fork else route.branch}


def _build_repo_path(path: str) -> str:
    return f"/repos/{quote(path)}"
