"""Events of the stream: one JSON object each, described in docs/events.md."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from plait.client.stream_event import EventType
from plait.core.status import Category, PauseCause, WaitReason
from plait.core.task import Step
from plait.server.http.schema.base import ApiModel

_REF = "#/components/schemas/{model}"

# OpenAPI's own shape, which has no type.
OpenApiSchemas = dict[str, Any]


class Entry(ApiModel):
    """A line of agent output (`text`), or how much was left out (`bytes`)."""

    kind: Literal["activity", "skipped"]
    text: str | None = None
    bytes: int | None = None


class EventShape(ApiModel):
    """The first six fields are always present, the others by `type` as in docs/events.md; more may be added."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow")

    seq: int | None
    at: str
    type: EventType
    batch_id: str | None
    task_id: str | None
    attempt: int | None
    agent: str | None = None
    by: str | None = None
    category: Category | None = None
    cause: PauseCause | None = None
    commit: str | None = None
    conflicts_with: str | None = None
    counted: bool | None = None
    entrant_of: str | None = None
    entry: Entry | None = None
    error: str | None = None
    files: list[str] | None = None
    hint: str | None = None
    offset: int | None = None
    on: WaitReason | None = None
    percentage: int | None = None
    phase: str | None = None
    pr_url: str | None = None
    provider: str | None = None
    publishing: Literal["started", "done", "failed"] | None = None
    question: str | None = None
    reason: str | None = None
    retry_at: str | None = None
    step: Step | None = None
    title: str | None = None
    until: str | None = None
    why: str | None = None


EVENT_REF = _REF.format(model=EventShape.__name__)


def build_event_schemas() -> OpenApiSchemas:
    """For the OpenAPI document: no route returns a single event."""
    told = EventShape.model_json_schema(ref_template=_REF)
    found = {**told.pop("$defs"), EventShape.__name__: told}
    for shape in found.values():
        for each in shape.get("properties", {}).values():
            each.pop("default", None)  # a field with a default would count as always present
    return found
