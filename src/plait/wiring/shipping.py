"""How a batch branch gets to its remote, and how it is announced there."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from plait.adapters.forge import default_branch, distance, open_forge, push, refresh_target
from plait.agents.discretion import of
from plait.core.decisions import PublishStarted
from plait.core.errors import WorldError
from plait.core.letter import Letter, letter
from plait.core.reports import PublishDone, PublishFailed
from plait.core.settings import Publish
from plait.core.views import BatchView
from plait.core.wording import Wording
from plait.engine import log
from plait.kit import Kit, Shipping
from plait.ports import Announcement, ForgeError
from plait.site.git import Git
from plait.wiring import Place
from plait.wiring.repository import git_dir


class Shipyard:
    """A Publisher."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def publish(
        self, order: PublishStarted, view: BatchView, kit: Kit, environment: Mapping[str, str]
    ) -> PublishDone | PublishFailed:
        where, ship = git_dir(self._place), kit.gear.shipping
        git = Git(where, environment=environment, variables={"GIT_DIR": str(where)})
        try:
            target = _pushed(git, order, view.branch, ship)
        except WorldError as error:
            hint = error.hint or _by_hand(git, order, view, kit, environment)
            return PublishFailed(order.batch, order.n, error.message, hint)
        if order.publish is Publish.PUSH:
            return PublishDone(order.batch, order.n, "", order.commit)
        said = _said(order, view, kit, environment)
        wanted = Announcement(
            view.branch,
            target,
            said.title,
            said.body,
            draft=order.publish is Publish.DRAFT,
            renamed=order.renamed,
        )
        try:
            forge = open_forge(git, ship.remote, environment=environment, kind=ship.forge.named)
            announced = forge.announce(wanted)
        except WorldError as error:
            return PublishFailed(order.batch, order.n, error.message, error.hint, order.commit)
        if announced.note:
            log.say(f"batch {order.batch}: {announced.note}")
        return PublishDone(order.batch, order.n, announced.url, order.commit)


def _pushed(git: Git, order: PublishStarted, branch: str, ship: Shipping) -> str:
    """The branch that it is for. The person's own copy of that may be old: what is new is told by the remote's."""
    target = ship.target or default_branch(git, ship.remote)
    newest = refresh_target(git, ship.remote, target)
    if not distance(git, order.commit, newest).ahead:
        raise ForgeError(f"{target} has all of it already: there is nothing to propose")
    push(git, ship.remote, branch, order.commit, expected=order.expected)
    return target


def _said(order: PublishStarted, view: BatchView, kit: Kit, environment: Mapping[str, str]) -> Letter:
    """Everybody can read it there: it is told without secrets, whoever wrote it."""
    hide = of(environment, *(task.env for task in kit.tasks))
    return letter(view, Wording(order.title, order.body), usual=kit.gear.shipping.title).hidden(hide)


def _by_hand(
    git: Git, order: PublishStarted, view: BatchView, kit: Kit, environment: Mapping[str, str]
) -> str:
    """What a person does when there is a network again."""
    ship = kit.gear.shipping
    push_it = f"By hand: git push {quote(ship.remote)} {order.commit}:refs/heads/{view.branch}"
    if order.publish is Publish.PUSH:
        return push_it
    title = _said(order, view, kit, environment).title
    wanted = Announcement(view.branch, ship.target or "main", title, "")
    try:
        forge = open_forge(git, ship.remote, environment=environment, kind=ship.forge.named)
        return f"{push_it}\n  then: {forge.by_hand(wanted).removeprefix('By hand: ')}"
    except WorldError:
        return push_it
