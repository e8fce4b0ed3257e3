"""A tool: what an agent may ask of a project, in words that it reads, and the shape of what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from mcp_types import Tool as Listed, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from plait.client.api_errors import FieldError
from plait.core.fast_dataclass import dataclass
from plait.server.project_session import ProjectSession

Json = dict[str, object]
ProgressCallback = Callable[[float, float | None, str | None], Awaitable[None]]


class ToolParams(BaseModel):
    """What a tool is called with. A word that it does not know is refused: without it, something else would be done."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolResult(BaseModel):
    """What a tool tells, in the words of the HTTP interface."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Whom a call is about, and how whoever waits for it hears of its progress. `over`: the server is about to end, and who
    only waits has to come back.
    """

    session: ProjectSession
    progress: ProgressCallback
    closing: asyncio.Event


W = TypeVar("W", bound=ToolParams)
T = TypeVar("T", bound=ToolResult)
ToolHandler = Callable[[ToolCall, Mapping[str, object]], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Tool:
    """`listed` is how hosts see it; `act` answers a call. `fresh`: it starts from what the sources say now."""

    definition: Listed
    handler: ToolHandler
    needs_fetch: bool = False

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def is_read_only(self) -> bool:
        return bool(self.definition.annotations and self.definition.annotations.read_only_hint)


def define_tool(  # noqa: PLR0913 - each is a thing of its own, and named where it is given
    name: str,
    description: str,
    params_type: type[W],
    result_type: type[T],
    handler: Callable[[ToolCall, W], Awaitable[T]],
    *,
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    open_world: bool = False,
    needs_fetch: bool = False,
) -> Tool:
    """`reads`: it changes nothing. `undoes`: something may be given up by it. `again`: a second call does no more.
    `far`: it reaches beyond this machine. `fresh`: see Tool.
    """
    definition = Listed(
        name=name,
        description=description,
        input_schema=_json_schema(params_type, "validation"),
        output_schema=_json_schema(result_type, "serialization"),
        annotations=ToolAnnotations(
            read_only_hint=read_only,
            destructive_hint=destructive,
            idempotent_hint=read_only or idempotent,
            open_world_hint=open_world,
        ),
    )

    async def call_handler(call: ToolCall, words: Mapping[str, object]) -> Json:
        answer = await handler(call, _parse_params(params_type, words))
        return {name: _clean_value(value) for name, value in answer.model_dump(by_alias=True).items()}

    return Tool(definition, call_handler, needs_fetch)


def replace_surrogates(text: str) -> str:
    """The names of files may be no text; of those it has what JSON can tell."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _clean_value(value: object) -> object:
    match value:
        case str():
            return replace_surrogates(value)
        case dict():
            return {name: _clean_value(each) for name, each in value.items()}
        case list() | tuple():
            return [_clean_value(each) for each in value]
        case _:
            return value


class _UntitledSchema(GenerateJsonSchema):
    """Without a title for each field: it says what its name says, and whoever reads it pays by the word."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's own types
        return False


def _json_schema(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:  # as the SDK takes it
    return model.model_json_schema(by_alias=True, mode=mode, schema_generator=_UntitledSchema)


def _parse_params(params_type: type[W], words: Mapping[str, object]) -> W:
    """Raises FieldError for the first thing that is wrong. What was said is not repeated: it may be long, or a secret."""
    try:
        return params_type.model_validate(words)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "arguments"
        known = ", ".join(params_type.model_fields) or "nothing"
        raise FieldError(f"{field}: {first['msg']}", field=field, hint=f"This tool takes {known}.") from None
