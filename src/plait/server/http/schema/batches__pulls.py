"""A pull request before it is opened, or brought up to date."""

from __future__ import annotations

from plait.server.http.schema.base__shape import ApiModel


class PullText(ApiModel):
    title: str
    body: str


class PullRequest(ApiModel):
    """`title` and `body` are what would be sent now, `own` what plait would write by itself. `target` null: only the
    remote knows it. `shipped`: the branch is published as it is. `why` says why no pull request can be opened, as far
    as that can be told without a network; with `canPush`, the branch can be pushed all the same.
    """

    batch_id: str
    title: str
    body: str
    own: PullText
    branch: str | None
    target: str | None
    url: str | None
    shipped: bool
    under_way: bool
    can_publish: bool
    can_push: bool
    why: str | None
    hint: str | None
