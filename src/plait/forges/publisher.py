"""Push a batch branch and open its pull request."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from plait.agents.redaction import build_redactor
from plait.core.decisions import PublishStarted
from plait.core.errors import WorldError
from plait.core.pull_request_text import PullRequestText, write_pull_request
from plait.core.reports import PublishDone, PublishFailed
from plait.core.requests import PullRequestOverride
from plait.core.settings import Publish
from plait.core.views import BatchView
from plait.forges.forge import ForgeError, PullRequestSpec
from plait.forges.pull_requests import ForgeClient, locate_forge
from plait.forges.remote import count_new_commits, fetch_target, find_default_branch, push_branch
from plait.git.command import Git
from plait.git.location import RepoLocation
from plait.store.batch_files import BatchInputs, PublishTarget
from plait.system import log


class GitPublisher:
    """Publishes batch branches. Used from a worker thread; publishing the same state again changes nothing."""

    def __init__(self, place: RepoLocation) -> None:
        self._place = place

    def publish(
        self, order: PublishStarted, view: BatchView, inputs: BatchInputs, environment: Mapping[str, str]
    ) -> PublishDone | PublishFailed:
        """`environment` supplies tokens and credentials."""
        where, publish_target = self._place.git_dir, inputs.options.publish_target
        git = Git(where, environment=environment, variables={"GIT_DIR": str(where)})
        try:
            branch = _push_branch(git, order, view.branch, publish_target)
        except WorldError as error:
            hint = error.hint or _describe_manual_steps(git, order, view, inputs, environment)
            return PublishFailed(order.batch, order.n, error.message, hint)
        if order.publish is Publish.PUSH:
            return PublishDone(order.batch, order.n, "", order.commit)
        text = _build_text(order, view, inputs, environment)
        spec = PullRequestSpec(
            view.branch,
            branch,
            text.title,
            text.body,
            draft=order.publish is Publish.DRAFT,
            renamed=order.renamed,
        )
        try:
            forge = ForgeClient(git, publish_target.remote, environment=environment, kind=publish_target.forge)
            result = forge.publish_pull_request(spec)
        except WorldError as error:
            return PublishFailed(order.batch, order.n, error.message, error.hint, order.commit)
        if result.note:
            log.write_line(f"batch {order.batch}: {result.note}")
        return PublishDone(order.batch, order.n, result.url, order.commit)


def _push_branch(git: Git, order: PublishStarted, branch: str, target: PublishTarget) -> str:
    """Push the batch branch and return its target branch, which is fetched first: the local copy may be old."""
    target_branch = target.target or find_default_branch(git, target.remote)
    newest = fetch_target(git, target.remote, target_branch)
    if not count_new_commits(git, order.commit, newest):
        raise ForgeError(f"nothing to propose: {target_branch} already contains this branch")
    push_branch(git, target.remote, branch, order.commit, expected=order.expected)
    return target_branch


def _build_text(
    order: PublishStarted, view: BatchView, inputs: BatchInputs, environment: Mapping[str, str]
) -> PullRequestText:
    """Title and body, without secrets."""
    text = write_pull_request(
        view, PullRequestOverride(order.title, order.body), usual=inputs.options.publish_target.title
    )
    return text.redact(build_redactor(environment, *(task.env for task in inputs.tasks)))


def _describe_manual_steps(
    git: Git, order: PublishStarted, view: BatchView, inputs: BatchInputs, environment: Mapping[str, str]
) -> str:
    """How a person publishes the branch, for when the network is back."""
    target = inputs.options.publish_target
    push_command = f"By hand: git push {quote(target.remote)} {order.commit}:refs/heads/{view.branch}"
    if order.publish is Publish.PUSH:
        return push_command
    title = _build_text(order, view, inputs, environment).title
    spec = PullRequestSpec(view.branch, target.target or "main", title, "")
    try:
        location = locate_forge(git, target.remote, environment, target.forge)
    except WorldError:
        return push_command
    return f"{push_command}\n  then: {location.describe_manual_steps(spec).removeprefix('By hand: ')}"
