"""MCP tools: functions on a project's session, with schemas for their parameters and results.

Agents read the descriptions of parameters: each says what it means, and what the default is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_type_hints

from mcp_types import Tool as Definition, ToolAnnotations
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from plait.client.api_errors import FieldError
from plait.client.json_encoding import Json
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Mode
from plait.server.batch_spec import BatchSpec
from plait.server.mcp.results import ToolResult
from plait.server.project_session import ProjectSession

ProgressCallback = Callable[[float, float | None, str | None], Awaitable[None]]


class ToolParams(BaseModel):
    """A tool's parameters. Unknown ones are refused: ignoring them would do something else."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _parse_list(value: object) -> object:
    """Accept a list that a host encoded as a string, and a single id that an agent gave instead of a list."""
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value) if value.startswith("[") else None
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, list) else [value]


NameArg = Annotated[str, Field(min_length=1, max_length=1000)]
# An empty list is an error: omitting it means all.
NamesArg = Annotated[tuple[NameArg, ...], Field(min_length=1, max_length=10_000), BeforeValidator(_parse_list)]
AGAIN = "Whether to run what an earlier batch completed with the same text. Omitted: only if `tasks` names it."
EXACT_IDS = "Exact ids, as `list` returns them. Omitted: all incomplete tasks."


class BatchParams(ToolParams):
    batch: str | None = Field(
        None, description="The batch's id or a unique prefix. Omitted: the newest batch.", max_length=200
    )


class TaskParams(BatchParams):
    task: NameArg = Field(description="The task's id or a unique prefix.")


def make_batch_spec(
    tasks: Sequence[str] | None,
    settings: Mapping[str, JsonValue] | None,
    mode: Mode | None = None,
    *,
    again: bool | None = None,
) -> BatchSpec:
    values = {"taskIds": list(tasks) if tasks else None, "settings": settings, "mode": mode, "again": again}
    return BatchSpec.model_validate(values)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call to a project. `closing` is set when the server shuts down, so that a tool that only waits returns."""

    session: ProjectSession
    progress: ProgressCallback
    closing: asyncio.Event


W = TypeVar("W", bound=ToolParams)
T = TypeVar("T", bound=ToolResult)
ToolHandler = Callable[[ToolCall, W], Awaitable[T]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `needs_fetch`: it starts from the current sources, so a mirror is fetched first."""

    definition: Definition
    handler: Callable[[ToolCall, Mapping[str, object]], Awaitable[Json]]
    needs_fetch: bool = False

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def is_read_only(self) -> bool:
        return bool(self.definition.annotations and self.definition.annotations.read_only_hint)


def define_tool(
    name: str, *, description: str = "", needs_fetch: bool = False, **hints: bool
) -> Callable[[ToolHandler[W, T]], Tool]:
    """Make the decorated function a tool: its docstring is the description, and its annotations give the schemas.

    `hints` are those of the protocol.
    """

    def define(handler: ToolHandler[W, T]) -> Tool:
        types = get_type_hints(handler)
        params_type: type[W] = types["params"]
        read_only = hints.get("read_only", False)
        definition = Definition(
            name=name,
            description=description or " ".join((handler.__doc__ or "").split()),
            input_schema=_json_schema(params_type, "validation"),
            output_schema=_json_schema(types["return"], "serialization"),
            annotations=ToolAnnotations(
                read_only_hint=read_only,
                destructive_hint=hints.get("destructive", False),
                idempotent_hint=read_only or hints.get("idempotent", False),
                open_world_hint=hints.get("open_world", False),
            ),
        )

        async def call_handler(call: ToolCall, arguments: Mapping[str, object]) -> Json:
            result = await handler(call, _parse_params(params_type, arguments))
            return {key: _clean_value(value) for key, value in result.model_dump(by_alias=True).items()}

        return Tool(definition, call_handler, needs_fetch)

    return define


def replace_surrogates(text: str) -> str:
    """Return valid text for JSON: file names may not be."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _clean_value(value: object) -> object:
    match value:
        case str():
            return replace_surrogates(value)
        case dict():
            return {name: _clean_value(item) for name, item in value.items()}
        case list() | tuple():
            return [_clean_value(item) for item in value]
        case _:
            return value


class _UntitledSchema(GenerateJsonSchema):
    """Generates schemas without titles, which repeat the names: every token of a schema costs."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's own types
        return False


def _json_schema(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:  # as the SDK takes it
    return model.model_json_schema(by_alias=True, mode=mode, schema_generator=_UntitledSchema)


def _parse_params(params_type: type[W], arguments: Mapping[str, object]) -> W:
    """Parse parameters. Raises FieldError for the first error, without the value: it may be long, or a secret."""
    try:
        return params_type.model_validate(arguments)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first_error["loc"]) or "arguments"
        known = ", ".join(params_type.model_fields) or "nothing"
        raise FieldError(f"{field}: {first_error['msg']}", field=field, hint=f"This tool takes {known}.") from None
