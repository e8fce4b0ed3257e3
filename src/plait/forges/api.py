"""What all forges have in common: repositories, and pull requests as they are found there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from plait.core.fast_dataclass import dataclass
from plait.forges.address import RepoAddress
from plait.forges.http_client import ForgeHttpClient
from plait.forges.tokens import ForgeToken


@dataclass(frozen=True, slots=True)
class ForgeRepository:
    """As the forge calls it today; it may have had another name when the remote was set."""

    id: int
    path: str
    branch: str

    @property
    def owner(self) -> str:
        return self.path.partition("/")[0]


@dataclass(frozen=True, slots=True)
class PullRequestRoute:
    """From a branch of one repository to a branch of another; mostly they are the same one."""

    target: ForgeRepository
    source: ForgeRepository
    branch: str

    @property
    def is_fork(self) -> bool:
        return self.source.id != self.target.id


@dataclass(frozen=True, slots=True)
class PullRequestContent:
    """What is sent: a title and a body, and whether it is not to be merged yet."""

    title: str
    body: str
    is_draft: bool = False


@dataclass(frozen=True, slots=True)
class OpenPullRequest:
    """An open pull request. `mark` is the beginning of its title by which some forges know a draft."""

    number: int
    url: str
    title: str
    body: str
    target: str
    draft_prefix: str = ""


class ForgeApi(Protocol):
    """How one kind of forge is spoken to. Whatever goes wrong is raised as it comes from the wire."""

    def find_api_url(self, where: RepoAddress) -> str: ...

    def build_headers(self, token: ForgeToken) -> Mapping[str, str]: ...

    def get_repository(self, wire: ForgeHttpClient, path: str) -> ForgeRepository: ...

    def find_pull_requests(self, wire: ForgeHttpClient, route: PullRequestRoute) -> list[OpenPullRequest]:
        """The open ones from the route's branch, whatever they are for."""

    def create_pull_request(
        self, wire: ForgeHttpClient, route: PullRequestRoute, target: str, draft: PullRequestContent
    ) -> OpenPullRequest: ...

    def update_pull_request(
        self, wire: ForgeHttpClient, route: PullRequestRoute, pull: OpenPullRequest, draft: PullRequestContent
    ) -> OpenPullRequest: ...
