"""Answers as they go out: JSON of whatever texts, and errors in one shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from starlette.responses import Response

from plait.core.errors import Fault, PlaitError
from plait.core.plan import Problem, Severity
from plait.front.preferences import UnfitSettingsError
from plait.front.problems import problem_json
from plait.front.refusals import FieldError, StateError, UnknownError
from plait.front.spelling import spelt
from plait.front.trust import UntrustedError, visible
from plait.server.acts.batches import PlanError
from plait.server.hints import addressed, spoken

MARK = "Plait-Mark"

# What is wrong, and with which field, if one is to blame.
Wrong = tuple[str | None, Problem]

_STATUS = {
    Fault.USER: HTTPStatus.CONFLICT,
    Fault.CONFIG: HTTPStatus.CONFLICT,
    Fault.AGENT: HTTPStatus.SERVICE_UNAVAILABLE,
    Fault.WORLD: HTTPStatus.SERVICE_UNAVAILABLE,
    Fault.BUG: HTTPStatus.INTERNAL_SERVER_ERROR,
}
_CALM = "something went wrong in the server; it is written to its log, and nothing else has changed"


def reply(told: object, status: int = HTTPStatus.OK, *, mark: str | None = None) -> Response:
    headers = {MARK: mark} if mark is not None else None
    return Response(spelt(told), status, headers, "application/json")


def refusal(  # noqa: PLR0913 - the shape of an error
    status: int,
    error: str,
    *,
    hint: str = "",
    field: str | None = None,
    state: str | None = None,
    problems: Sequence[Wrong] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    told = {
        "error": error,
        "hint": spoken(hint) or None,
        "field": field,
        "state": state,
        "problems": [problem_json(addressed(problem)) | {"field": name} for name, problem in problems]
        or None,
    }
    return Response(spelt(told), status, headers, "application/json")


def refused(error: PlaitError) -> Response:
    """Of a bug, nothing is told but that it is one: what it says is about the program, not for its callers."""
    if error.fault is Fault.BUG:
        return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, _CALM)
    return refusal(
        status_of(error),
        error.message,
        hint=error.hint,
        field=error.field if isinstance(error, FieldError) else None,
        state=error.state if isinstance(error, StateError) else None,
        problems=_problems(error),
    )


def status_of(error: PlaitError) -> HTTPStatus:
    match error:
        case UnknownError():
            return HTTPStatus.NOT_FOUND
        case FieldError() | PlanError():
            return HTTPStatus.UNPROCESSABLE_ENTITY
        case _:
            return _STATUS[error.fault]


def _problems(error: PlaitError) -> Sequence[Wrong]:
    if isinstance(error, UntrustedError):
        return [
            (None, Problem(Severity.ERROR, f"{each.name} = {visible(each.value)}", each.given.at))
            for each in error.found
            if not each.trusted
        ]
    if isinstance(error, UnfitSettingsError):
        return error.wrong
    known: Sequence[Problem] = getattr(error, "problems", ())
    return [(None, problem) for problem in known]
