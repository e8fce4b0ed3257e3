"""The FastAPI app: all routes, and one format for errors. Authentication is in the middleware around it.

`python -m plait.server.http.app` prints the OpenAPI document. The page's types are generated from it.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from plait import __version__
from plait.core.errors import Bug, Fault, PlaitError, WorldError, describe_error
from plait.server.http.responses import make_error, make_response, respond_with_error
from plait.server.http.routes import (
    actions,
    batches,
    bulk,
    conflicts,
    diffs,
    docs,
    events,
    inspection,
    projects,
    publishing,
    settings,
    tasks,
)
from plait.server.http.routes.events import EVENTS_PATH
from plait.server.http.routes.routing import JSON_MEDIA_TYPE
from plait.server.http.schema import OpenApiSchemas, build_common_schemas
from plait.server.metrics import ServerMetrics
from plait.server.session_pool import SessionPool

_ROUTE_MODULES = (
    projects,
    tasks,
    batches,
    actions,
    publishing,
    bulk,
    conflicts,
    diffs,
    inspection,
    settings,
    events,
    docs,
)
GZIP_MIN_BYTES = 1 << 10
_VALIDATION_MESSAGES = {"missing": " is missing", "extra_forbidden": " is not a field of this body"}

_API_DESCRIPTION = (
    "Everything that the command line can do, for programs and for the web page. Every route but /health needs the token: "
    "`Authorization: Bearer TOKEN`, or the cookie that the link of `plait serve` sets. Errors have one shape: `error`, `hint`, "
    "`field`, `state`, `problems`."
)


class _App(FastAPI):
    def openapi(self) -> OpenApiSchemas:
        if self.openapi_schema is None:
            super().openapi()["components"]["schemas"] |= build_common_schemas()
        return super().openapi()


def create_app(sessions: SessionPool) -> FastAPI:
    app = create_bare_app()
    app.state.sessions, app.state.metrics = sessions, ServerMetrics()
    return app


def create_bare_app() -> FastAPI:
    """Create an app with all routes, without sessions: enough for the OpenAPI document."""
    app = _App(
        title="plait",
        summary="Many agents, one pull request.",
        description=_API_DESCRIPTION,
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: to_camel(route.name),
    )
    app.add_middleware(GZipMiddleware, minimum_size=GZIP_MIN_BYTES, compresslevel=6)
    app.add_middleware(HeadRequestMiddleware)
    for module in _ROUTE_MODULES:
        module.routes.register(app)
    app.add_exception_handler(RequestValidationError, _handle_validation_error)
    app.add_exception_handler(HTTPException, _handle_http_exception)
    for error in (PlaitError, OSError, Exception):
        app.add_exception_handler(error, _handle_error)
    return app


async def _handle_error(_: Request, error: Exception) -> Response:
    match error:
        case PlaitError():
            if error.fault is Fault.BUG:
                traceback.print_exception(error, file=sys.stderr)
            return respond_with_error(error)
        case OSError():
            return respond_with_error(WorldError(str(error), hint="Check permissions and free disk space."))
        case _:  # Starlette raises it again afterwards, and uvicorn logs it
            return respond_with_error(Bug(describe_error(error)))


async def _handle_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    messages = {404: "not found", 405: "method not allowed"}
    hint = "GET /api/docs lists all routes." if error.status_code in messages else ""
    message = messages.get(error.status_code, str(error.detail))
    headers = {"Allow": ", ".join(_list_allowed_methods(request))} if error.status_code == 405 else error.headers
    return make_response(make_error(message, hint=hint), error.status_code, headers)


def _list_allowed_methods(request: Request) -> list[str]:
    """List the methods of all routes with this path."""
    matching = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    methods = {method for route in matching for method in getattr(route, "methods", None) or ()}
    return sorted(methods | ({"HEAD"} if "GET" in methods and request.url.path != EVENTS_PATH else set()))


async def _handle_validation_error(request: Request, error: Exception) -> Response:
    """Respond with the first error, without the value that was sent."""
    assert isinstance(error, RequestValidationError)
    first_error: Mapping[str, object] = next(iter(error.errors()), {})
    location = first_error.get("loc", ())
    assert isinstance(location, Sequence)
    field, kind = ".".join(map(str, location[1:] or location)), str(first_error.get("type"))
    if location in {("body",), ()} or kind == "json_invalid":
        return _body_error_response(request, kind)
    message = str(first_error.get("msg", "invalid"))
    detail = _VALIDATION_MESSAGES.get(kind) or f": {message[:1].lower()}{message[1:]}"
    return make_response(make_error(field + detail, field=field), HTTPStatus.UNPROCESSABLE_ENTITY)


def _body_error_response(request: Request, kind: str) -> Response:
    """Respond to a missing or invalid body. One with another content type is not parsed, so that a form on a foreign
    page doesn't count as JSON.
    """
    content_type = request.headers.get("Content-Type", "")
    if kind == "missing":
        message = "the body is missing: a JSON object"
    elif JSON_MEDIA_TYPE not in content_type:
        message = f"the body must be JSON, sent with Content-Type: {JSON_MEDIA_TYPE}"
    else:
        message = "the body is not valid JSON" if kind == "json_invalid" else "the body must be a JSON object"
    return make_response(make_error(message, field="body"), HTTPStatus.UNPROCESSABLE_ENTITY)


class HeadRequestMiddleware:
    """Answers HEAD like GET, except for event streams, which never end; uvicorn leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD" and scope["path"] != EVENTS_PATH:
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)


def render_openapi() -> str:
    """Render the OpenAPI document, sorted, so that every difference is a change."""
    return json.dumps(create_bare_app().openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render_openapi())
