"""GitHub's dialect; on hosts of one's own it lives under /api/v3."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from plait.adapters.forge.address import Address
from plait.adapters.forge.model import Draft, Pull, Repository, Route, Token
from plait.adapters.forge.wire import Wire
from plait.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class HubRepository:
    id: int
    full_name: str
    default_branch: str = ""


@dataclass(frozen=True, slots=True)
class HubEnd:
    """One end of a pull request; a fork may have been deleted since."""

    ref: str
    repo: HubRepository | None = None


@dataclass(frozen=True, slots=True)
class HubPull:
    number: int
    html_url: str
    title: str
    head: HubEnd
    base: HubEnd
    body: str | None = None

    def comes_from(self, route: Route) -> bool:
        """To be sure: a filter that a forge does not understand lets everything through."""
        return (
            self.head.ref == route.branch
            and self.head.repo is not None
            and self.head.repo.id == route.source.id
        )

    @property
    def pull(self) -> Pull:
        return Pull(self.number, self.html_url, self.title, self.body or "", self.base.ref)


class GitHub:
    def api(self, where: Address) -> str:
        if where.host == "github.com" or where.host.endswith(".ghe.com"):
            return f"https://api.{where.host}"
        return f"{where.root}/api/v3"

    def headers(self, token: Token) -> Mapping[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {token.value}",
            "X-GitHub-Api-Version": "2022-11-28",
        }

    def repository(self, wire: Wire, path: str) -> Repository:
        found = wire.ask("GET", _repo(path), HubRepository)
        return Repository(found.id, found.full_name, found.default_branch)

    def find(self, wire: Wire, route: Route) -> list[Pull]:
        query = {"state": "open", "head": f"{route.source.owner}:{route.branch}", "per_page": "100"}
        found = wire.ask("GET", f"{_repo(route.target.path)}/pulls", list[HubPull], query=query)
        return [each.pull for each in found if each.comes_from(route)]

    def create(self, wire: Wire, route: Route, target: str, draft: Draft) -> Pull:
        wanted = {"title": draft.title, "body": draft.body, "base": target, **head(route)}
        if route.fork and route.source.owner == route.target.owner:
            wanted["head_repo"] = route.source.path
        send = {**wanted, "draft": True} if draft.draft else wanted
        return wire.ask("POST", f"{_repo(route.target.path)}/pulls", HubPull, send=send).pull

    def update(self, wire: Wire, route: Route, pull: Pull, draft: Draft) -> Pull:
        send = {"title": draft.title, "body": draft.body}
        path = f"{_repo(route.target.path)}/pulls/{pull.number}"
        return wire.ask("PATCH", path, HubPull, send=send).pull


def head(route: Route) -> dict[str, str]:
    return {"head": f"{route.source.owner}:{route.branch}" if route.fork else route.branch}


def _repo(path: str) -> str:
    return f"/repos/{quote(path)}"
