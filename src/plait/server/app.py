"""The app: all routes, and everything that goes wrong in one shape. Who may come in is the guard's to say, around it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Match

from plait import __version__
from plait.core.errors import Bug, Fault, PlaitError, WorldError, in_words
from plait.server.head_requests import ENDLESS, HeadRequests
from plait.server.metrics import Metrics
from plait.server.offices import Offices
from plait.server.replies import refusal, refused
from plait.server.routes import batches, docs, events, me, projects, reading, settings, steer, tasks
from plait.server.routes.common import JSON_TYPE
from plait.server.shapes.events import Schemas, schemas

_ROUTES = (projects, me, tasks, batches, steer, reading, settings, events, docs)
COMPRESSED = 1 << 10  # bytes; what is shorter goes as it is
_WORDS = {"missing": " is missing", "extra_forbidden": " is no field of this body"}
_ABOUT = (
    "Everything that the command line can do, for programs and for the web page. Every route but /health needs the token: "
    "`Authorization: Bearer TOKEN`, or the cookie that the link of `plait serve` sets. Errors have one shape: `error`, `hint`, "
    "`field`, `state`, `problems`."
)


class _App(FastAPI):
    def openapi(self) -> Schemas:
        if self.openapi_schema is None:
            super().openapi()["components"]["schemas"] |= schemas()
        return super().openapi()


def create_app(offices: Offices) -> FastAPI:
    app = described()
    app.state.offices, app.state.metrics = offices, Metrics()
    return app


def described() -> FastAPI:
    """All routes, and nobody behind them: what can be asked for is known without a server."""
    app = _App(
        title="plait",
        summary="Many agents, one pull request.",
        description=_ABOUT,
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
        redirect_slashes=False,
    )
    app.add_middleware(GZipMiddleware, minimum_size=COMPRESSED, compresslevel=6)
    app.add_middleware(HeadRequests)
    for module in _ROUTES:
        app.include_router(module.router)
    app.add_exception_handler(RequestValidationError, _unfit)
    app.add_exception_handler(HTTPException, _no_route)
    app.add_exception_handler(PlaitError, _refused)
    app.add_exception_handler(OSError, _world)
    app.add_exception_handler(Exception, _bug)
    return app


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, PlaitError)
    if error.fault is Fault.BUG:
        _log(error)
    return refused(error)


async def _world(_: Request, error: Exception) -> Response:
    return refused(WorldError(str(error), hint="See who may write there, and whether the disk has room."))


async def _bug(_: Request, error: Exception) -> Response:
    """Starlette raises it once more after that, and whoever runs the server writes it to the log."""
    return refused(Bug(in_words(error)))


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {404: "there is nothing at this address", 405: "this address has no such method"}
    hint = "GET /api/docs lists what there is." if error.status_code in said else ""
    told = said.get(error.status_code, str(error.detail))
    headers = {"Allow": ", ".join(_methods(request))} if error.status_code == 405 else error.headers
    return refusal(error.status_code, told, hint=hint, headers=headers)


def _methods(request: Request) -> list[str]:
    """All that this address has, whichever routes they belong to."""
    routes = (route for module in _ROUTES for route in module.router.routes)
    fitting = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    found = {method for route in fitting for method in getattr(route, "methods", None) or ()}
    return sorted(found | ({"HEAD"} if "GET" in found and request.url.path != ENDLESS else set()))


async def _unfit(request: Request, error: Exception) -> Response:
    """The first thing that is wrong: what was sent is not sent back."""
    assert isinstance(error, RequestValidationError)
    first: Mapping[str, object] = next(iter(error.errors()), {})
    where = first.get("loc", ())
    assert isinstance(where, Sequence)
    field, kind = ".".join(map(str, where[1:] or where)), str(first.get("type"))
    if where in {("body",), ()} or kind == "json_invalid":
        return _no_body(request, kind)
    message = str(first.get("msg", "can't be so"))
    told = _WORDS.get(kind) or f": {message[:1].lower()}{message[1:]}"
    return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, field + told, field=field)


def _no_body(request: Request, kind: str) -> Response:
    """Of what is sent as something else, nothing is read: no form of another page's is taken for JSON."""
    said = request.headers.get("Content-Type", "")
    if kind == "missing":
        told = "the body is missing: a JSON object"
    elif JSON_TYPE not in said:
        told = f"the body has to be JSON, sent with Content-Type: {JSON_TYPE}"
    else:
        told = "the body is no JSON" if kind == "json_invalid" else "the body has to be a JSON object"
    return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, told, field="body")


def _log(error: PlaitError) -> None:
    traceback.print_exception(error, file=sys.stderr)
