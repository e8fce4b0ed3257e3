"""JSON responses, and errors in one format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from starlette.responses import Response

from plait.client.api_errors import FieldError, NotFoundError, StateError
from plait.client.api_models import make_problem
from plait.client.json_encoding import encode_json
from plait.client.preferences import InvalidSettingsError
from plait.client.trust import UntrustedError, escape_command
from plait.core.errors import Fault, PlaitError
from plait.core.plan import Problem, Severity
from plait.server.batch_spec import PlanError, translate_hint, translate_problem
from plait.server.http.schema import Error, FieldProblem

_STATUS = {
    Fault.USER: HTTPStatus.CONFLICT,
    Fault.CONFIG: HTTPStatus.CONFLICT,
    Fault.AGENT: HTTPStatus.SERVICE_UNAVAILABLE,
    Fault.WORLD: HTTPStatus.SERVICE_UNAVAILABLE,
    Fault.BUG: HTTPStatus.INTERNAL_SERVER_ERROR,
}
_BUG_MESSAGE = "internal error; see the server log"


def make_response(body: object, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode_json(body), status, headers, "application/json")


def make_error(
    error: str,
    *,
    hint: str = "",
    field: str | None = None,
    state: str | None = None,
    problems: Sequence[tuple[str | None, Problem]] = (),
) -> Error:
    """Make the body of every error, also of those that middleware answers. Each problem has the field that it is about."""
    details = [(name, make_problem(translate_problem(problem))) for name, problem in problems]
    return Error(
        error,
        translate_hint(hint) or None,
        field,
        state,
        [
            FieldProblem(detail.severity, detail.message, detail.file, detail.line, detail.hint, name)
            for name, detail in details
        ]
        or None,
    )


def respond_with_error(error: PlaitError) -> Response:
    """Respond with an error. The message of a bug is about the program, so it is not sent to callers."""
    if error.fault is Fault.BUG:
        return make_response(make_error(_BUG_MESSAGE), HTTPStatus.INTERNAL_SERVER_ERROR)
    body = make_error(
        error.message,
        hint=error.hint,
        field=error.field if isinstance(error, FieldError) else None,
        state=error.state if isinstance(error, StateError) else None,
        problems=_list_problems(error),
    )
    return make_response(body, choose_status(error))


def choose_status(error: PlaitError) -> HTTPStatus:
    match error:
        case NotFoundError():
            return HTTPStatus.NOT_FOUND
        case FieldError() | PlanError():
            return HTTPStatus.UNPROCESSABLE_ENTITY
        case _:
            return _STATUS[error.fault]


def _list_problems(error: PlaitError) -> Sequence[tuple[str | None, Problem]]:
    if isinstance(error, UntrustedError):
        return [
            (None, Problem(Severity.ERROR, f"{command.name} = {escape_command(command.value)}", command.given.at))
            for command in error.commands
            if not command.trusted
        ]
    if isinstance(error, InvalidSettingsError):
        return error.field_problems
    problems: Sequence[Problem] = getattr(error, "problems", ())
    return [(None, problem) for problem in problems]
