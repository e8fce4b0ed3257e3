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
from plait.forges.forge import ForgeError, NotAForgeError, PullRequestSpec
from plait.forges.pull_requests import ForgeClient, locate_forge
from plait.forges.remote import count_new_commits, fetch_target, find_default_branch, push_branch
from plait.git.command import Git
from plait.git.location import RepoLocation
from plait.store.batch_files import BatchInputs, PublishTarget
from plait.system import log


class GitPublisher:
    """Publishes batch branches. Used from a worker thread; publishing the same state again changes nothing."""

    def __init__(self, location: RepoLocation) -> None:
        self._location = location

    def publish(
        self, decision: PublishStarted, view: BatchView, inputs: BatchInputs, environment: Mapping[str, str]
    ) -> PublishDone | PublishFailed:
        """Publish the branch; `environment` supplies tokens and credentials."""
        git_dir, publish_target = self._location.git_dir, inputs.options.publish_target
        # A remote that is a relative path starts at the checkout.
        folder = self._location.top if self._location.top.is_dir() else git_dir
        git = Git(folder, environment=environment, variables={"GIT_DIR": str(git_dir)})
        is_push_only = decision.publish is Publish.PUSH or not _is_on_forge(git, publish_target, environment)
        try:
            branch = _push_branch(git, decision, view.branch, publish_target, needs_target=not is_push_only)
        except WorldError as error:
            hint = error.hint or _describe_manual_steps(git, decision, view, inputs, environment)
            return PublishFailed(decision.batch, decision.n, error.message, hint)
        if is_push_only:
            return PublishDone(decision.batch, decision.n, "", decision.commit)
        text = _build_text(decision, view, inputs, environment)
        spec = PullRequestSpec(
            view.branch,
            branch,
            text.title,
            text.body,
            draft=decision.publish is Publish.DRAFT,
            renamed=decision.renamed,
        )
        try:
            forge = ForgeClient(git, publish_target.remote, environment=environment, kind=publish_target.forge)
            result = forge.publish_pull_request(spec)
        except WorldError as error:
            return PublishFailed(decision.batch, decision.n, error.message, error.hint, decision.commit)
        if result.note:
            log.write_line(f"batch {decision.batch}: {result.note}")
        return PublishDone(decision.batch, decision.n, result.url, decision.commit)


def _is_on_forge(git: Git, target: PublishTarget, environment: Mapping[str, str]) -> bool:
    """Whether the remote has pull requests; any other problem is reported when one is opened."""
    try:
        locate_forge(git, target.remote, environment, target.forge)
    except ForgeError as error:
        return not isinstance(error, NotAForgeError)
    return True


def _push_branch(git: Git, decision: PublishStarted, branch: str, target: PublishTarget, *, needs_target: bool) -> str:
    """Push the batch branch and return its target branch, which is fetched first: the local copy may be old."""
    target_branch = target.target or find_default_branch(git, target.remote)
    if target_branch or needs_target:
        newest = fetch_target(git, target.remote, target_branch)
        if not count_new_commits(git, decision.commit, newest):
            raise ForgeError(f"nothing to propose: {target_branch} already contains this branch")
    push_branch(git, target.remote, branch, decision.commit, expected=decision.expected)
    return target_branch


def _build_text(
    decision: PublishStarted, view: BatchView, inputs: BatchInputs, environment: Mapping[str, str]
) -> PullRequestText:
    """Build title and body, without secrets."""
    text = write_pull_request(
        view, PullRequestOverride(decision.title, decision.body), usual=inputs.options.publish_target.title
    )
    return text.redact(build_redactor(environment, *(task.env for task in inputs.tasks)))


def _describe_manual_steps(
    git: Git, decision: PublishStarted, view: BatchView, inputs: BatchInputs, environment: Mapping[str, str]
) -> str:
    """Say how a person publishes the branch when the network is back."""
    target = inputs.options.publish_target
    push_command = f"By hand: git push {quote(target.remote)} {decision.commit}:refs/heads/{view.branch}"
    if decision.publish is Publish.PUSH:
        return push_command
    title = _build_text(decision, view, inputs, environment).title
    spec = PullRequestSpec(view.branch, target.target or "main", title, "")
    try:
        location = locate_forge(git, target.remote, environment, target.forge)
    except WorldError:
        return push_command
    return f"{push_command}\n  then: {location.describe_manual_steps(spec).removeprefix('By hand: ')}"
