"""A pull request before it is one: what it would say now, whether it could be opened, and what a person wants it to say."""

from __future__ import annotations

from plait import wiring
from plait.agents.discretion import Discretion
from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.core.letter import Letter, letter
from plait.core.settings import Publish
from plait.core.views import BatchView
from plait.core.wording import Wording, problem_of_body, problem_of_title
from plait.front.refusals import FieldError
from plait.kit import KitError, Shipping
from plait.wiring import Place
from plait.wiring.repository import check_shipping, target_branch
from plait.wiring.secrets import discretion


@dataclass(frozen=True, slots=True)
class Prospect:
    """`said` is what would be sent, `own` what plait would write by itself. `target` "": only the remote knows it.

    `no_push` and `no_pull` say why that can't be, as far as it can be told without a network ("": it can).
    """

    said: Letter
    own: Letter
    target: str
    no_push: str
    no_pull: str
    hint: str


def prospect(place: Place, view: BatchView, wording: Wording, why_not: str | None) -> Prospect:
    """`why_not`: what of the batch itself stands against it."""
    ship, lost = _shipping(place, view.id)
    hide = _hide(place, view.id)
    said = letter(view, wording, usual=ship.title).hidden(hide)
    own = letter(view, usual=ship.title).hidden(hide)
    if why_not or lost:
        why = why_not or lost
        return Prospect(said, own, target_branch(place, ship), why, why, "")
    no_push, hint = _problem(place, ship, Publish.PUSH)
    no_pull, way = (no_push, hint) if no_push else _problem(place, ship, Publish.PR)
    return Prospect(said, own, target_branch(place, ship), no_push, no_pull, hint or way)


def wanted(
    place: Place, view: BatchView, title: str | None, body: str | None
) -> tuple[str | None, str | None]:
    """As it is asked for: without secrets, and what plait would say by itself left to plait. Raises FieldError."""
    if (why := problem_of_title(title)) is not None:
        raise FieldError(why, field="title")
    if (why := problem_of_body(body)) is not None:
        raise FieldError(why, field="body")
    if title is None and body is None:
        return None, None
    hide = _hide(place, view.id)
    own = letter(view, usual=_shipping(place, view.id)[0].title).hidden(hide)
    return _unless(hide, title, own.title), _unless(hide, body, own.body)


def _unless(hide: Discretion, said: str | None, own: str) -> str | None:
    if said is None:
        return None
    told = hide(said)
    return "" if told.strip() in {"", own.strip()} else told


def _shipping(place: Place, batch: str) -> tuple[Shipping, str]:
    """And why nothing can be published, if what was handed over with the batch is gone."""
    try:
        return wiring.load_kit(place, batch).gear.shipping, ""
    except KitError as error:
        return Shipping(), error.message


def _hide(place: Place, batch: str) -> Discretion:
    return discretion(wiring.state_folder(place), batch)


def _problem(place: Place, ship: Shipping, publish: Publish) -> tuple[str, str]:
    try:
        check_shipping(place, ship, publish)
    except PlaitError as error:
        return error.message, error.hint
    return "", ""
