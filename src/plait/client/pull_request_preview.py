"""Preview of a pull request: its text as it would be sent, whether it can be opened, and a person's own text for it."""

from __future__ import annotations

from plait.agents.redaction import Redactor
from plait.client.api_errors import FieldError
from plait.client.repository import check_publish_target, find_target_branch
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.pull_request_text import PullRequestText, write_pull_request
from plait.core.requests import PullRequestOverride, check_body, check_title
from plait.core.settings import Publish
from plait.core.views import BatchView
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_files import load_redactor
from plait.store.batch_inputs import BatchInputsError, PublishTarget


@dataclass(frozen=True, slots=True)
class PullRequestPreview:
    """`said` is what would be sent, `own` what plait would write by itself. `target` "": only the remote knows it.

    `no_push` and `no_pull` say why that isn't possible, as far as is known without a network ("": it is).
    """

    text: PullRequestText
    default_text: PullRequestText
    target: str
    push_problem: str
    pull_request_problem: str
    hint: str


def build_pull_request_preview(
    place: RepoLocation, view: BatchView, wording: PullRequestOverride, why_not: str | None
) -> PullRequestPreview:
    """`why_not`: why the batch itself can't be published."""
    ship, lost = _load_publish_target(place, view.id)
    hide = _load_redactor(place, view.id)
    said = write_pull_request(view, wording, usual=ship.title).redact(hide)
    own = write_pull_request(view, usual=ship.title).redact(hide)
    if why_not or lost:
        why = why_not or lost
        return PullRequestPreview(said, own, find_target_branch(place, ship), why, why, "")
    no_push, hint = _find_publish_problem(place, ship, Publish.PUSH)
    no_pull, way = (no_push, hint) if no_push else _find_publish_problem(place, ship, Publish.PR)
    return PullRequestPreview(said, own, find_target_branch(place, ship), no_push, no_pull, hint or way)


def check_pull_request_text(
    place: RepoLocation, view: BatchView, title: str | None, body: str | None
) -> tuple[str | None, str | None]:
    """The requested text without secrets; a part that equals plait's own text becomes empty. Raises FieldError."""
    if (why := check_title(title)) is not None:
        raise FieldError(why, field="title")
    if (why := check_body(body)) is not None:
        raise FieldError(why, field="body")
    if title is None and body is None:
        return None, None
    hide = _load_redactor(place, view.id)
    own = write_pull_request(view, usual=_load_publish_target(place, view.id)[0].title).redact(hide)
    return _unless_default(hide, title, own.title), _unless_default(hide, body, own.body)


def _unless_default(hide: Redactor, said: str | None, own: str) -> str | None:
    if said is None:
        return None
    told = hide(said)
    return "" if told.strip() in {"", own.strip()} else told


def _load_publish_target(place: RepoLocation, batch: str) -> tuple[PublishTarget, str]:
    """The target, and why nothing can be published if the batch's inputs are gone."""
    try:
        return project_files.load_batch_inputs(place, batch).gear.shipping, ""
    except BatchInputsError as error:
        return PublishTarget(), error.message


def _load_redactor(place: RepoLocation, batch: str) -> Redactor:
    return load_redactor(project_files.open_state_paths(place), batch)


def _find_publish_problem(place: RepoLocation, ship: PublishTarget, publish: Publish) -> tuple[str, str]:
    try:
        check_publish_target(place, ship, publish)
    except PlaitError as error:
        return error.message, error.hint
    return "", ""
