"""Events of the stream: one JSON object each, described in docs/events.md."""

from __future__ import annotations

from typing import Any, Required, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, create_model
from pydantic.alias_generators import to_camel

from plait.client.stream_event import CommonEventFields, EventType, LogEntry
from plait.server.http.schema.base import ApiModel

_REF = "#/components/schemas/{model}"

# OpenAPI's own shape, which has no type.
OpenApiSchemas = dict[str, Any]


def _list_fields(fields: type) -> dict[str, Any]:  # as `create_model` takes them
    """The fields of a TypedDict; those that may be missing have a default."""
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

EVENT_REF = _REF.format(model=Event.__name__)


def build_event_schemas() -> OpenApiSchemas:
    """For the OpenAPI document: no route returns a single event."""
    schema = Event.model_json_schema(ref_template=_REF)
    schemas = {**schema.pop("$defs"), Event.__name__: schema}
    for each in schemas.values():
        for field in each.get("properties", {}).values():
            field.pop("default", None)  # a field with a default is taken to be always present
    return schemas
