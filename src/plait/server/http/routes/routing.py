"""How functions on a project's session become routes, and the parameters, links and errors that routes have in common.

A function returns its result or raises PlaitError, so MCP tools call it as it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI, Header, Path, Query, Request, Response
from pydantic import WithJsonSchema

from plait.server.http.responses import make_response
from plait.server.http.schema import ERROR_REF
from plait.server.project_session import ProjectSession
from plait.server.session_pool import SessionPool

JSON_MEDIA_TYPE = "application/json"
BATCH_PATH = "/api/batches/{batch_id}"
TASK_PATH = f"{BATCH_PATH}/tasks/{{task_id:path}}"

_BATCH_ID = "A batch's id, or a unique prefix of it"
# None, for MCP tools: the newest batch.
BatchId = Annotated[
    str | None,
    WithJsonSchema({"type": "string", "maxLength": 200, "description": _BATCH_ID}),
    Path(max_length=200, description=_BATCH_ID),
]
TaskName = Annotated[
    str,
    Path(description="A task's id, percent-encoded", json_schema_extra={"maxLength": 1_000}),
]
ProjectId = Annotated[str | None, Query(max_length=200, description="The project's id; none: the default project")]
IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="A repeated request with the same key is answered, but not performed again",
    ),
]


def get_session_pool(request: Request) -> SessionPool:
    pool: SessionPool = request.app.state.sessions
    return pool


async def _get_session(request: Request, project: ProjectId = None) -> ProjectSession:
    return await get_session_pool(request).get(project)


async def _get_updated_session(request: Request, project: ProjectId = None) -> ProjectSession:
    return await get_session_pool(request).get_updated(project)


SessionDep = Annotated[ProjectSession, Depends(_get_session)]
UpdatedSessionDep = Annotated[ProjectSession, Depends(_get_updated_session)]

# Any: OpenAPI objects have no type.
Links = dict[str, dict[str, Any]]
Responses = dict[int | str, dict[str, Any]]

_BATCH_OPERATIONS = (
    "getBatch",
    "getStanding",
    "getGraph",
    "getTimeline",
    "getBatchDiff",
    "getPullRequestText",
    "approveBatch",
    "pauseBatch",
    "unpauseBatch",
    "cancelBatch",
    "retryBatch",
    "resumeBatch",
    "publishBatch",
)

_TASK_OPERATIONS = (
    "getLog",
    "getTaskDiff",
    "explainTask",
    "getConflict",
    "cancelTask",
    "retryTask",
    "dropTask",
    "approveTask",
    "giveFeedback",
)


def link_operations(operations: Sequence[str], parameters: Mapping[str, str]) -> Links:
    """Make links to operations whose parameters are in the response."""
    expressions = {name: f"$response.body#/{pointer}" for name, pointer in parameters.items()}
    return {name: {"operationId": name, "parameters": expressions} for name in operations}


BATCH_LINKS = link_operations(_BATCH_OPERATIONS, {"path.batch_id": "id"}) | link_operations(
    _TASK_OPERATIONS, {"path.batch_id": "id", "path.task_id": "tasks/0/taskId"}
)
BATCH_LIST_LINKS = link_operations(_BATCH_OPERATIONS, {"path.batch_id": "batches/0/id"})

# Of responses from which an event stream can continue.
CURSOR_HEADER = "Plait-Mark"
CURSOR_HEADERS: Mapping[str, object] = {
    CURSOR_HEADER: {
        "description": "For Last-Event-ID: events from here on continue this response without a gap",
        "schema": {"type": "string"},
    }
}

_ERROR_CONTENT = {JSON_MEDIA_TYPE: {"schema": {"$ref": ERROR_REF}}}
ERRORS: Responses = {
    code: {"description": about, "content": _ERROR_CONTENT}
    for code, about in {
        400: "Malformed request",
        401: "No token, or a wrong one",
        403: "Not allowed for this token, or from another origin",
        404: "Not found",
        408: "The body took too long",
        409: "Not possible in this state, named in `state`",
        413: "The body is too large",
        414: "The URL is too long",
        421: "Unknown host name",
        422: "Invalid; `field` says what",
        429: "Too many wrong tokens",
        431: "The headers are too long",
        500: "Internal error; see the server log",
        503: "Something outside of plait failed: the disk, git, the journal",
    }.items()
}
ERRORS_BUT_CONFLICT: Responses = {code: error for code, error in ERRORS.items() if code != 409}

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[object]])
DURABLE = "Durable, but no engine has answered yet"


class Routes:
    """The routes of one subject. FastAPI gets them only when an app is created, because it takes a while for each."""

    def __init__(self, *tags: str) -> None:
        self._tags = tags
        self._added: list[Callable[[FastAPI], None]] = []

    def register(self, app: FastAPI) -> None:
        for add in self._added:
            add(app)

    def add(  # noqa: PLR0913 - what a route's documentation says
        self,
        method: str,
        path: str,
        model: type[object] | None = None,
        *,
        status: int = 200,
        accepted: tuple[str, Callable[[Any], bool]] | None = None,
        render: Callable[[Any], Response] | None = None,
        errors: Responses = ERRORS,
        links: Links | None = None,
        headers: Mapping[str, object] | None = None,
        also: Responses | None = None,
        **options: Any,
    ) -> Callable[[Handler], Handler]:
        """Make the decorated function a route that returns `model` with `status`.

        A function with CURSOR_HEADERS returns the cursor too. `accepted`: when it answers 202 instead, and what that means.
        `render`: makes a response that is not JSON. `also`: documents further responses. `options` are FastAPI's.
        """
        documentation = {name: value for name, value in (("links", links), ("headers", headers)) if value}
        responses: Responses = {} if model is None else {status: {"model": model, **documentation}}
        if accepted is not None:
            responses[202] = {"model": model, "description": accepted[0]}

        def respond(result: object) -> Response:
            if isinstance(result, Response):
                return result
            body, cursor = result if isinstance(result, tuple) else (result, None)
            headers = None if cursor is None else {CURSOR_HEADER: cursor}
            is_accepted = accepted is not None and accepted[1](body)
            return make_response(body, 202 if is_accepted else status, headers)

        def decorate(function: Handler) -> Handler:
            @wraps(function)
            async def endpoint(*args: object, **values: object) -> Response:
                return (render or respond)(await function(*args, **values))

            # Older versions of FastAPI look for the names of types in this module.
            endpoint.__signature__ = signature(function, eval_str=True)  # type: ignore[attr-defined]
            settings: dict[str, Any] = {
                "tags": [*self._tags],
                "status_code": status,
                "responses": responses | (also or {}) | errors,
                "response_model": None,
            }
            self._added.append(lambda app: app.add_api_route(path, endpoint, methods=[method], **settings | options))
            return function

        return decorate
