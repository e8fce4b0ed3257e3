"""GitLab's dialect: pull requests are merge requests, and made where their branch is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from plait.adapters.forge.address import Address
from plait.adapters.forge.model import Draft, Pull, Repository, Route, Token
from plait.adapters.forge.wire import Wire
from plait.core.frozen import dataclass

_MARK = re.compile(r"(?:draft:|\[draft\]|\(draft\))\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LabProject:
    id: int
    path_with_namespace: str
    default_branch: str | None = None


@dataclass(frozen=True, slots=True)
class LabMerge:
    iid: int
    web_url: str
    title: str
    source_branch: str
    target_branch: str
    source_project_id: int | None = None
    description: str | None = None

    @property
    def pull(self) -> Pull:
        mark = _MARK.match(self.title)
        title = self.title[mark.end() :] if mark else self.title
        body, target = self.description or "", self.target_branch
        return Pull(self.iid, self.web_url, title, body, target, mark[0] if mark else "")


class GitLab:
    def api(self, where: Address) -> str:
        return f"{where.root}/api/v4"

    def headers(self, token: Token) -> Mapping[str, str]:
        """As a bearer's: so both a personal token and one of a login will do."""
        return {"Accept": "application/json", "Authorization": f"Bearer {token.value}"}

    def repository(self, wire: Wire, path: str) -> Repository:
        found = wire.ask("GET", f"/projects/{quote(path, safe='')}", LabProject)
        return Repository(found.id, found.path_with_namespace, found.default_branch or "")

    def find(self, wire: Wire, route: Route) -> list[Pull]:
        query = {"state": "opened", "source_branch": route.branch, "per_page": "100"}
        found = wire.ask("GET", _merges(route.target), list[LabMerge], query=query)
        return [
            each.pull
            for each in found
            if each.source_branch == route.branch and each.source_project_id == route.source.id
        ]

    def create(self, wire: Wire, route: Route, target: str, draft: Draft) -> Pull:
        send = {
            "source_branch": route.branch,
            "target_branch": target,
            "target_project_id": route.target.id,
            "title": f"Draft: {draft.title}" if draft.draft else draft.title,
            "description": draft.body,
        }
        return wire.ask("POST", _merges(route.source), LabMerge, send=send).pull

    def update(self, wire: Wire, route: Route, pull: Pull, draft: Draft) -> Pull:
        send = {"title": f"{pull.mark}{draft.title}", "description": draft.body}
        return wire.ask("PUT", f"{_merges(route.target)}/{pull.number}", LabMerge, send=send).pull


def _merges(project: Repository) -> str:
    return f"/projects/{project.id}/merge_requests"
