"""GitHub, also GitHub Enterprise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

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


@dataclass(frozen=True, slots=True)
class GitHubRepository:
    id: int
    full_name: str


@dataclass(frozen=True, slots=True)
class GitHubEnd:
    """One end of a pull request; a deleted fork has no repository."""

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
        """Whether the pull request has this route; forges ignore filters that they don't know."""
        return self.head.ref == route.branch and self.head.repo is not None and self.head.repo.id == route.source.id

    @property
    def pull_request(self) -> OpenPullRequest:
        return OpenPullRequest(self.number, self.html_url, self.title, self.body or "", self.base.ref)


class GitHub:
    kind = ForgeKind.GITHUB
    hosts: tuple[str, ...] = ("github.com", ".ghe.com")
    host_words: tuple[str, ...] = ("github", "ghe")
    ssh_hosts: Mapping[str, str] = {"ssh.github.com": "github.com"}
    has_nested_groups = False
    login_command = "gh auth login"
    token_command: tuple[str, ...] = ("gh", "auth", "token", "--hostname")

    def list_token_variables(self, address: RepoAddress, environment: Mapping[str, str]) -> tuple[str, ...]:
        # In GitHub Actions, this variable says which host the token is for.
        home = urlsplit(environment.get("GITHUB_SERVER_URL", "")).hostname or "github.com"
        if address.host in {"github.com", home} or address.host.endswith(".ghe.com"):
            return "GH_TOKEN", "GITHUB_TOKEN"
        return "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"

    def build_compare_link(self, target: RepoAddress, source: RepoAddress, spec: PullRequestSpec) -> str:
        owner = "" if source == target else f"{quote(source.owner)}:"
        return f"{target.web_url}/compare/{quote(spec.target)}...{owner}{quote(spec.branch)}?expand=1"

    def build_create_command(self, target: RepoAddress, source: RepoAddress, spec: PullRequestSpec) -> list[str]:
        head = spec.branch if source == target else f"{source.owner}:{spec.branch}"
        command = ["gh", "pr", "create", "--repo", f"{target.authority}/{target.path}"]
        return [*command, "--base", spec.target, "--head", head, *(["--draft"] if spec.draft else [])]

    def find_api_url(self, address: RepoAddress) -> str:
        if address.host == "github.com" or address.host.endswith(".ghe.com"):
            return f"https://api.{address.host}"
        return f"{address.base_url}/api/v3"

    def build_headers(self, token: ForgeToken) -> Mapping[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token.value}",
            "X-GitHub-Api-Version": "2022-11-28",
        }

    def get_repository(self, client: ForgeHttpClient, path: str) -> ForgeRepository:
        repository = client.request("GET", f"/repos/{quote(path)}", GitHubRepository)
        return ForgeRepository(repository.id, repository.full_name)

    def find_pull_requests(self, client: ForgeHttpClient, route: PullRequestRoute) -> list[OpenPullRequest]:
        query = {"state": "open", "head": f"{route.source.owner}:{route.branch}", "per_page": "100"}
        pulls = client.request("GET", build_pulls_path(route), list[GitHubPull], query=query)
        return [pull.pull_request for pull in pulls if pull.comes_from(route)]

    def create_pull_request(
        self, client: ForgeHttpClient, route: PullRequestRoute, target: str, content: PullRequestContent
    ) -> OpenPullRequest:
        head = build_head(route)
        body: dict[str, object] = {"title": content.title, "body": content.body, "base": target, "head": head}
        if route.is_fork and route.source.owner == route.target.owner:
            body["head_repo"] = route.source.path
        if content.is_draft:
            body["draft"] = True
        return client.request("POST", build_pulls_path(route), GitHubPull, body=body).pull_request

    def update_pull_request(
        self, client: ForgeHttpClient, route: PullRequestRoute, pull: OpenPullRequest, content: PullRequestContent
    ) -> OpenPullRequest:
        body = {"title": content.title, "body": content.body}
        return client.request("PATCH", f"{build_pulls_path(route)}/{pull.number}", GitHubPull, body=body).pull_request


FORGE = GitHub()


def build_head(route: PullRequestRoute) -> str:
    return f"{route.source.owner}:{route.branch}" if route.is_fork else route.branch


def build_pulls_path(route: PullRequestRoute) -> str:
    return f"/repos/{quote(route.target.path)}/pulls"
