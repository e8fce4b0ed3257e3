"""How a batch branch gets to its remote, and how it is announced there."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from plait.agents.redaction import build_env_redactor
from plait.core.decisions import PublishStarted
from plait.core.errors import WorldError
from plait.core.pull_request_text import PullRequestText, write_pull_request
from plait.core.reports import PublishDone, PublishFailed
from plait.core.requests import PullRequestOverride
from plait.core.settings import Publish
from plait.core.views import BatchView
from plait.forges.interfaces import ForgeError, PullRequestSpec
from plait.forges.registry import open_forge
from plait.forges.remote import count_distance, fetch_target, find_default_branch, push_branch
from plait.git.command import Git
from plait.git.location import RepoLocation
from plait.git.worktrees.paths import find_git_dir
from plait.store.batch_inputs import BatchInputs, PublishTarget
from plait.system import log


class GitPublisher:
    """A Publisher."""

    def __init__(self, place: RepoLocation) -> None:
        self._place = place

    def publish(
        self, order: PublishStarted, view: BatchView, kit: BatchInputs, environment: Mapping[str, str]
    ) -> PublishDone | PublishFailed:
        where, ship = find_git_dir(self._place), kit.gear.shipping
        git = Git(where, environment=environment, variables={"GIT_DIR": str(where)})
        try:
            target = _push_branch(git, order, view.branch, ship)
        except WorldError as error:
            hint = error.hint or _describe_manual_steps(git, order, view, kit, environment)
            return PublishFailed(order.batch, order.n, error.message, hint)
        if order.publish is Publish.PUSH:
            return PublishDone(order.batch, order.n, "", order.commit)
        said = _build_text(order, view, kit, environment)
        wanted = PullRequestSpec(
            view.branch,
            target,
            said.title,
            said.body,
            draft=order.publish is Publish.DRAFT,
            renamed=order.renamed,
        )
        try:
            forge = open_forge(git, ship.remote, environment=environment, kind=ship.forge.explicit)
            announced = forge.publish_pull_request(wanted)
        except WorldError as error:
            return PublishFailed(order.batch, order.n, error.message, error.hint, order.commit)
        if announced.note:
            log.write_line(f"batch {order.batch}: {announced.note}")
        return PublishDone(order.batch, order.n, announced.url, order.commit)


def _push_branch(git: Git, order: PublishStarted, branch: str, ship: PublishTarget) -> str:
    """The branch that it is for. The person's own copy of that may be old: what is new is told by the remote's."""
    target = ship.target or find_default_branch(git, ship.remote)
    newest = fetch_target(git, ship.remote, target)
    if not count_distance(git, order.commit, newest).ahead:
        raise ForgeError(f"{target} has all of it already: there is nothing to propose")
    push_branch(git, ship.remote, branch, order.commit, expected=order.expected)
    return target


def _build_text(
    order: PublishStarted, view: BatchView, kit: BatchInputs, environment: Mapping[str, str]
) -> PullRequestText:
    """Everybody can read it there: it is told without secrets, whoever wrote it."""
    hide = build_env_redactor(environment, *(task.env for task in kit.tasks))
    return write_pull_request(view, PullRequestOverride(order.title, order.body), usual=kit.gear.shipping.title).redact(
        hide
    )


def _describe_manual_steps(
    git: Git, order: PublishStarted, view: BatchView, kit: BatchInputs, environment: Mapping[str, str]
) -> str:
    """What a person does when there is a network again."""
    ship = kit.gear.shipping
    push_it = f"By hand: git push {quote(ship.remote)} {order.commit}:refs/heads/{view.branch}"
    if order.publish is Publish.PUSH:
        return push_it
    title = _build_text(order, view, kit, environment).title
    wanted = PullRequestSpec(view.branch, ship.target or "main", title, "")
    try:
        forge = open_forge(git, ship.remote, environment=environment, kind=ship.forge.explicit)
        return f"{push_it}\n  then: {forge.describe_manual_steps(wanted).removeprefix('By hand: ')}"
    except WorldError:
        return push_it
