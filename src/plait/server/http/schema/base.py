"""Base classes of bodies and responses, OpenAPI links, and the errors of every route."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from plait.client.api_models import ProblemDetails
from plait.client.json_encoding import api_model


class ApiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class ApiBody(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True, frozen=True)


# Any: OpenAPI objects have no type.
Links = dict[str, dict[str, Any]]

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


def _link_operations(operations: tuple[str, ...], parameters: Mapping[str, str]) -> Links:
    found = {name: f"$response.body#/{place}" for name, place in parameters.items()}
    return {name: {"operationId": name, "parameters": found} for name in operations}


BATCH_LINKS = _link_operations(_BATCH_OPERATIONS, {"path.batch_id": "id"}) | _link_operations(
    _TASK_OPERATIONS, {"path.batch_id": "id", "path.task_id": "tasks/0/taskId"}
)

BATCH_LIST_LINKS = _link_operations(_BATCH_OPERATIONS, {"path.batch_id": "batches/0/id"})

TASK_LIST_LINKS = _link_operations(("getTask",), {"path.task_id": "tasks/0/id"}) | {
    name: {
        "operationId": name,
        "requestBody": {"taskIds": ["$response.body#/tasks/0/id"]},
    }
    for name in ("plan", "createBatch")
}

TASK_LINKS = _link_operations(("getTask", "editTask"), {"path.task_id": "id"})
PROJECT_LINKS = _link_operations(("removeProject",), {"path.project_id": "id"})


@api_model
class FieldProblem(ProblemDetails):
    """`field` null: it is not about a single field."""

    field: str | None


@api_model
class Error:
    """`field`: the invalid field of the request; `state`: the state that prevents it."""

    error: str
    hint: str | None
    field: str | None = dataclasses.field(
        metadata={"description": "The invalid field of the body or the query, such as `settings.budget`"}
    )
    state: str | None = dataclasses.field(metadata={"description": "The state that prevents it"})
    problems: list[FieldProblem] | None


# Any: OpenAPI objects have no type.
Responses = dict[int | str, dict[str, Any]]

_COMMON_ERRORS = {
    400: "Malformed request",
    401: "No token, or a wrong one",
    403: "Not allowed for this token, or from another origin",
    408: "The body took too long",
    413: "The body is too large",
    414: "The URL is too long",
    421: "Unknown host name",
    429: "Too many wrong tokens",
    431: "The headers are too long",
    500: "Internal error; see the server log",
    503: "Something outside of plait failed: the disk, git, the journal",
}

_ROUTE_ERRORS = {
    404: "Not found",
    409: "Not possible in this state, named in `state`",
    422: "Invalid; `field` says what",
}

# Of responses from which an event stream can continue.
CURSOR_HEADERS: Mapping[str, object] = {
    "Plait-Mark": {
        "description": "For Last-Event-ID: events from here on continue this response without a gap",
        "schema": {"type": "string"},
    }
}


def _error_responses(codes: dict[int, str]) -> Responses:
    return {code: {"model": Error, "description": about} for code, about in codes.items()}


def document_responses(
    model: type[object] | None = None,
    *codes: int,
    status: int = 200,
    also: Responses | None = None,
    links: Links | None = None,
    headers: Mapping[str, object] | None = None,
) -> Responses:
    """A route's responses: `model` with `status`, 404, 422 and these errors, and those of all routes."""
    more = {name: said for name, said in (("links", links), ("headers", headers)) if said}
    good: Responses = {} if model is None else {status: {"model": model, **more}}
    some = {code: _ROUTE_ERRORS[code] for code in (404, 422, *codes)}
    return good | (also or {}) | _error_responses(some) | _error_responses(_COMMON_ERRORS)
