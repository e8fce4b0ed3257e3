"""Pull requests before they are sent: their text, a person's own text, and whether they can be opened."""

from __future__ import annotations

import os

from plait.client.api_errors import FieldError
from plait.client.json_encoding import api_model
from plait.core.errors import PlaitError, UserError, WorldError
from plait.core.plan import Problem, Severity
from plait.core.pull_request_text import write_pull_request
from plait.core.requests import PullRequestOverride, check_body, check_title
from plait.core.settings import Publish
from plait.core.views import BatchView, describe_password_wait
from plait.git.command import Git
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_files import BatchInputsError, PublishTarget
from plait.store.batch_secrets import ContentRedactor, load_content_redactor


@api_model
class PullRequestTexts:
    title: str
    body: str


@api_model
class PullRequestPreview:
    """The pull request of a batch. `title` and `body` are what would be sent now, `own` what plait would write by
    itself. `target` null: only the remote knows it. `shipped`: the branch is published as it is. `why` says why no pull
    request can be opened, as far as that is known without a network; with `canPush`, the branch can still be pushed.
    `hint` also says what git waits for while the branch is published.
    """

    batch_id: str
    title: str
    body: str
    own: PullRequestTexts
    branch: str | None
    target: str | None
    url: str | None
    shipped: bool
    under_way: bool
    can_publish: bool
    can_push: bool
    why: str | None
    hint: str | None


def preview_pull_request(
    location: RepoLocation, view: BatchView, override: PullRequestOverride, why_not: str | None, *, under_way: bool
) -> PullRequestPreview:
    """Preview the pull request; `why_not`: why the batch itself can't be published."""
    target, inputs_problem = _load_publish_target(location, view.id)
    redactor = _load_redactor(location, view.id)
    text = write_pull_request(view, override, usual=target.title).redact(redactor)
    default_text = write_pull_request(view, usual=target.title).redact(redactor)
    push_problem, hint = why_not or inputs_problem, ""
    if not push_problem:
        push_problem, hint = _find_publish_problem(location, target, Publish.PUSH)
    pull_request_problem = push_problem
    if not push_problem:
        pull_request_problem, hint = _find_publish_problem(location, target, Publish.PR)
    return PullRequestPreview(
        batch_id=view.id,
        title=text.title,
        body=text.body,
        own=PullRequestTexts(default_text.title, default_text.body),
        branch=view.branch or None,
        target=_find_target_branch(location, target) or None,
        url=view.pr_url or None,
        shipped=bool(view.shipped) and not view.is_outdated,
        under_way=under_way,
        can_publish=not pull_request_problem,
        can_push=not push_problem,
        why=pull_request_problem or None,
        hint=(describe_password_wait(view.awaited_program) if view.awaited_program else hint) or None,
    )


def check_pull_request_text(
    location: RepoLocation, view: BatchView, title: str | None, body: str | None
) -> tuple[str | None, str | None]:
    """Return the requested text without secrets; a part that equals plait's own text becomes empty. Raises FieldError."""
    if (why := check_title(title)) is not None:
        raise FieldError(why, field="title")
    if (why := check_body(body)) is not None:
        raise FieldError(why, field="body")
    if title is None and body is None:
        return None, None
    redactor = _load_redactor(location, view.id)
    default_text = write_pull_request(view, usual=_load_publish_target(location, view.id)[0].title).redact(redactor)
    return _unless_default(redactor, title, default_text.title), _unless_default(redactor, body, default_text.body)


def _unless_default(redactor: ContentRedactor, text: str | None, default_text: str) -> str | None:
    if text is None:
        return None
    redacted = redactor(text)
    return "" if redacted.strip() in {"", default_text.strip()} else redacted


def _load_publish_target(location: RepoLocation, batch: str) -> tuple[PublishTarget, str]:
    """Return the target, and why nothing can be published if the batch's inputs are gone."""
    try:
        return project_files.load_batch_inputs(location, batch).options.publish_target, ""
    except BatchInputsError as error:
        return PublishTarget(), error.message


def _load_redactor(location: RepoLocation, batch: str) -> ContentRedactor:
    return load_content_redactor(project_files.open_state_paths(location), batch)


def check_publish_target(location: RepoLocation, target: PublishTarget, publish: Publish) -> list[Problem]:
    """Warn if the branch can only be pushed. Raises UserError if a batch can't be published as requested, as far as
    that is known without a network.
    """
    from plait.forges.forge import NotAForgeError

    try:
        _check_remote(location, target, publish)
    except NotAForgeError as error:
        message = f"the branch will be pushed, without a pull request: {error.message}"
        return [Problem(Severity.WARNING, message, hint=error.hint)]
    except WorldError as error:
        raise UserError(error.message, hint=error.hint) from error
    return []


def find_publish_option(location: RepoLocation, batch: str) -> Publish:
    """Return how a batch can be published, as far as known without a network: pull request, push, or not at all."""
    target, _ = _load_publish_target(location, batch)
    for publish in (Publish.PR, Publish.PUSH):
        if not _find_publish_problem(location, target, publish)[0]:
            return publish
    return Publish.OFF


def _check_remote(location: RepoLocation, target: PublishTarget, publish: Publish) -> None:
    from plait.forges.pull_requests import locate_forge
    from plait.forges.remote import find_remote

    git = Git(location.top)
    if publish is Publish.PUSH:
        find_remote(git, target.remote)
    else:
        locate_forge(git, target.remote, os.environ, target.forge)


def _find_target_branch(location: RepoLocation, target: PublishTarget) -> str:
    """Return a pull request's target branch, as far as this repository knows it; empty if only the remote does."""
    if target.target or not location.repository:
        return target.target
    prefix = f"refs/remotes/{target.remote}/"
    remote_head = Git(location.top).run("symbolic-ref", "--quiet", f"{prefix}HEAD", codes=range(256)).text
    return remote_head.removeprefix(prefix) if remote_head.startswith(prefix) else ""


def _find_publish_problem(location: RepoLocation, target: PublishTarget, publish: Publish) -> tuple[str, str]:
    try:
        _check_remote(location, target, publish)
    except PlaitError as error:
        return error.message, error.hint
    return "", ""
