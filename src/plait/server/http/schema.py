"""Base classes of bodies, the format of errors, and the events of the stream, for the OpenAPI document."""

from __future__ import annotations

import dataclasses
from typing import Any, Required, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from pydantic.alias_generators import to_camel

from plait.client.api_models import ProblemDetails
from plait.client.event_types import CommonEventFields, EventType, LogEntry
from plait.client.json_encoding import api_model

_REF = "#/components/schemas/{model}"
EVENT_REF, ERROR_REF = _REF.format(model="Event"), _REF.format(model="Error")

# OpenAPI's own shape, which has no type.
OpenApiSchemas = dict[str, Any]


class ApiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class ApiBody(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", strict=True, frozen=True)


@api_model
class FieldProblem(ProblemDetails):
    """A problem with a field. `field` null: it is not about a single field."""

    field: str | None


@api_model
class Error:
    """An error. `field`: the invalid field of the request; `state`: the state that prevents it."""

    error: str
    hint: str | None
    field: str | None = dataclasses.field(
        metadata={"description": "The invalid field of the body or the query, such as `settings.budget`"}
    )
    state: str | None = dataclasses.field(metadata={"description": "The state that prevents it"})
    problems: list[FieldProblem] | None


def _list_fields(fields: type) -> dict[str, Any]:  # as `create_model` takes them
    """Return the fields of a TypedDict; those that may be missing have a default."""
    hints = get_type_hints(fields, include_extras=True).items()
    return {
        name: (get_args(hint)[0], ...) if get_origin(hint) is Required else (hint | None, None) for name, hint in hints
    }


class _OpenModel(ApiModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="allow")


_LOG_ENTRY = create_model("LogEntry", __base__=ApiModel, __doc__=LogEntry.__doc__, **_list_fields(LogEntry))
_EVENT_FIELDS = _list_fields(CommonEventFields) | {"entry": (_LOG_ENTRY | None, None)}

Event: type[ApiModel] = create_model(
    "Event",
    __base__=_OpenModel,
    __doc__="The first six fields are always present, the others by `type` as in docs/events.md; more may be added.",
    seq=(int | None, ...),
    at=(str, ...),
    type=(EventType, ...),
    batch_id=(str | None, ...),
    task_id=(str | None, ...),
    attempt=(int | None, ...),
    **_EVENT_FIELDS,
)


def build_common_schemas() -> OpenApiSchemas:
    """Build the schemas of errors and events, to which routes refer by name: FastAPI would build the same schema for
    each status of each route.
    """
    schemas: OpenApiSchemas = {}
    for model in (Error, Event):
        schema = TypeAdapter(model).json_schema(ref_template=_REF)
        schemas |= {**schema.pop("$defs"), model.__name__: schema}
    for each in schemas.values():
        for field in each.get("properties", {}).values():
            field.pop("default", None)  # a field with a default is taken to be always present
    return schemas
