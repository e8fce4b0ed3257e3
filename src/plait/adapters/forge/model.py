"""What all forges have in common: repositories, and pull requests as they are found there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass as discreet, field
from typing import Protocol

from plait.adapters.forge.address import Address
from plait.adapters.forge.wire import Wire
from plait.core.frozen import dataclass


@discreet(frozen=True, slots=True)
class Token:
    """`source` is where it was found, for people. `user` is known where git keeps it with a name."""

    value: str = field(repr=False)
    source: str
    user: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Repository:
    """As the forge calls it today; it may have had another name when the remote was set."""

    id: int
    path: str
    branch: str

    @property
    def owner(self) -> str:
        return self.path.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Route:
    """From a branch of one repository to a branch of another; mostly they are the same one."""

    target: Repository
    source: Repository
    branch: str

    @property
    def fork(self) -> bool:
        return self.source.id != self.target.id


@dataclass(frozen=True, slots=True)
class Draft:
    """What is sent: a title and a body, and whether it is not to be merged yet."""

    title: str
    body: str
    draft: bool = False


@dataclass(frozen=True, slots=True)
class Pull:
    """An open pull request. `mark` is the beginning of its title by which some forges know a draft."""

    number: int
    url: str
    title: str
    body: str
    target: str
    mark: str = ""


class Dialect(Protocol):
    """How one kind of forge is spoken to. Whatever goes wrong is raised as it comes from the wire."""

    def api(self, where: Address) -> str: ...

    def headers(self, token: Token) -> Mapping[str, str]: ...

    def repository(self, wire: Wire, path: str) -> Repository: ...

    def find(self, wire: Wire, route: Route) -> list[Pull]:
        """The open ones from the route's branch, whatever they are for."""

    def create(self, wire: Wire, route: Route, target: str, draft: Draft) -> Pull: ...

    def update(self, wire: Wire, route: Route, pull: Pull, draft: Draft) -> Pull: ...
