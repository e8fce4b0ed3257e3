"""Gitea's and Forgejo's dialect: GitHub's shapes, without its filters; a title says that something is a draft."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

import httpx

from plait.adapters.forge.address import Address
from plait.adapters.forge.github import HubPull, HubRepository, head
from plait.adapters.forge.model import Draft, Pull, Repository, Route, Token
from plait.adapters.forge.wire import Wire

_MARK = re.compile(r"(?:wip:|\[wip\])\s*", re.IGNORECASE)
_PAGES = 40


class Gitea:
    def api(self, where: Address) -> str:
        return f"{where.root}/api/v1"

    def headers(self, token: Token) -> Mapping[str, str]:
        """With a name, what git keeps may be a password as well as a token; asked for in this way, both will do."""
        if token.user:
            request = httpx.Request("GET", "http://localhost")
            signed = next(httpx.BasicAuth(token.user, token.value).auth_flow(request))
            return {"Accept": "application/json", "Authorization": signed.headers["Authorization"]}
        return {"Accept": "application/json", "Authorization": f"token {token.value}"}

    def repository(self, wire: Wire, path: str) -> Repository:
        found = wire.ask("GET", _repo(path), HubRepository)
        return Repository(found.id, found.full_name, found.default_branch)

    def find(self, wire: Wire, route: Route) -> list[Pull]:
        """By looking through the open ones, the newest first."""
        for page in range(1, _PAGES + 1):
            query = {"state": "open", "sort": "recentupdate", "limit": "50", "page": str(page)}
            found = wire.ask("GET", f"{_repo(route.target.path)}/pulls", list[HubPull], query=query)
            ours = [_marked(each.pull) for each in found if each.comes_from(route)]
            if ours or not found:
                return ours
        return []

    def create(self, wire: Wire, route: Route, target: str, draft: Draft) -> Pull:
        title = f"WIP: {draft.title}" if draft.draft else draft.title
        send = {"title": title, "body": draft.body, "base": target, **head(route)}
        return _marked(wire.ask("POST", f"{_repo(route.target.path)}/pulls", HubPull, send=send).pull)

    def update(self, wire: Wire, route: Route, pull: Pull, draft: Draft) -> Pull:
        send = {"title": f"{pull.mark}{draft.title}", "body": draft.body}
        path = f"{_repo(route.target.path)}/pulls/{pull.number}"
        return _marked(wire.ask("PATCH", path, HubPull, send=send).pull)


def _marked(pull: Pull) -> Pull:
    mark = _MARK.match(pull.title)
    return replace(pull, mark=mark[0], title=pull.title[mark.end() :]) if mark else pull


def _repo(path: str) -> str:
    return f"/repos/{quote(path)}"
