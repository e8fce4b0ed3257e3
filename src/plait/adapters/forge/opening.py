"""The forge that a remote belongs to."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from plait.adapters.forge.address import Address, Kind, kind_of
from plait.adapters.forge.remote import Remote, home, remote as known
from plait.core.frozen import dataclass
from plait.ports import ForgeError
from plait.site.git import Git

if TYPE_CHECKING:
    from plait.adapters.forge.forge import RestForge
    from plait.adapters.forge.model import Dialect, Token


@dataclass(frozen=True, slots=True)
class Manners:
    """`patience` is for one answer, in seconds; `pause` is how to wait before something is asked again."""

    patience: float = 30.0
    pause: Callable[[float], None] = time.sleep


def open_forge(
    git: Git,
    remote: str,
    *,
    environment: Mapping[str, str],
    kind: str = "",
    manners: Manners = Manners(),  # noqa: B008 - frozen
) -> RestForge:
    """`kind` is what a person says of a host that nobody knows. Nothing is asked of the network before it is needed."""
    # Its HTTP client is heavy, and needed for nothing else.
    from plait.adapters.forge.forge import Ends, RestForge  # noqa: PLC0415
    from plait.adapters.forge.tokens import find_token  # noqa: PLC0415
    from plait.adapters.forge.wire import Wire  # noqa: PLC0415

    urls = known(git, remote)
    target = home(urls.fetch, environment)
    ends = Ends(kind_of(target, kind), target, _source(urls, target, environment))
    dialect = _dialect(ends.kind)

    def connect(token: Token) -> Wire:
        return Wire(
            dialect.api(target), dialect.headers(token), environment, _secrets(token), manners.patience
        )

    return RestForge(
        ends, dialect, lambda: find_token(ends.kind, target, git, environment), connect, manners.pause
    )


def _source(urls: Remote, target: Address, environment: Mapping[str, str]) -> Address:
    """Where the branch is pushed to: the same repository, or a fork beside it."""
    if urls.push == urls.fetch:
        return target
    pushed = home(urls.push, environment)
    if pushed.host != target.host:
        raise ForgeError(
            f"{urls.name} is pushed to {pushed.host}, but its pull requests are on {target.host}",
            hint="Name another remote; see: git remote -v",
        )
    return replace(target, path=pushed.path)


def _dialect(kind: Kind) -> Dialect:
    from plait.adapters.forge.gitea import Gitea  # noqa: PLC0415 - as above
    from plait.adapters.forge.github import GitHub  # noqa: PLC0415
    from plait.adapters.forge.gitlab import GitLab  # noqa: PLC0415

    match kind:
        case Kind.GITHUB:
            return GitHub()
        case Kind.GITLAB:
            return GitLab()
        case Kind.GITEA:
            return Gitea()
    assert_never(kind)


def _secrets(token: Token) -> tuple[str, ...]:
    """In every form in which it is sent."""
    basic = base64.b64encode(f"{token.user}:{token.value}".encode()).decode()
    return token.value, basic
