"""The forge that a remote belongs to."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from plait.core.fast_dataclass import dataclass
from plait.forges.address import ForgeProvider, RepoAddress, detect_provider
from plait.forges.interfaces import ForgeError
from plait.forges.remote import GitRemote, find_remote as known, resolve_address
from plait.git.command import Git

if TYPE_CHECKING:
    from plait.forges.api import ForgeApi
    from plait.forges.pull_requests import RestForge
    from plait.forges.tokens import ForgeToken


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """`patience` is for one answer, in seconds; `pause` is how to wait before something is asked again."""

    timeout: float = 30.0
    sleep: Callable[[float], None] = time.sleep


def open_forge(
    git: Git,
    remote: str,
    *,
    environment: Mapping[str, str],
    kind: str = "",
    http: HttpOptions = HttpOptions(),  # noqa: B008 - frozen
) -> RestForge:
    """`kind` is what a person says of a host that nobody knows. Nothing is asked of the network before it is needed."""
    # Its HTTP client is heavy, and needed for nothing else.
    from plait.forges.http_client import ForgeHttpClient
    from plait.forges.pull_requests import ForgeLocation, RestForge
    from plait.forges.tokens import find_token

    urls = known(git, remote)
    target = resolve_address(urls.fetch, environment)
    ends = ForgeLocation(detect_provider(target, kind), target, _find_source(urls, target, environment))
    dialect = _get_api(ends.kind)

    def connect(token: ForgeToken) -> ForgeHttpClient:
        return ForgeHttpClient(
            dialect.find_api_url(target),
            dialect.build_headers(token),
            environment,
            _list_secrets(token),
            http.timeout,
        )

    return RestForge(ends, dialect, lambda: find_token(ends.kind, target, git, environment), connect, http.sleep)


def _find_source(urls: GitRemote, target: RepoAddress, environment: Mapping[str, str]) -> RepoAddress:
    """Where the branch is pushed to: the same repository, or a fork beside it."""
    if urls.push == urls.fetch:
        return target
    pushed = resolve_address(urls.push, environment)
    if pushed.host != target.host:
        raise ForgeError(
            f"{urls.name} is pushed to {pushed.host}, but its pull requests are on {target.host}",
            hint="Name another remote; see: git remote -v",
        )
    return replace(target, path=pushed.path)


def _get_api(kind: ForgeProvider) -> ForgeApi:
    from plait.forges.gitea import Gitea  # as above
    from plait.forges.github import GitHub
    from plait.forges.gitlab import GitLab

    match kind:
        case ForgeProvider.GITHUB:
            return GitHub()
        case ForgeProvider.GITLAB:
            return GitLab()
        case ForgeProvider.GITEA:
            return Gitea()
    assert_never(kind)


def _list_secrets(token: ForgeToken) -> tuple[str, ...]:
    """In every form in which it is sent."""
    basic = base64.b64encode(f"{token.user}:{token.value}".encode()).decode()
    return token.value, basic
