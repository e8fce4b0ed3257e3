"""A tool: what an agent may ask of a project, in words that it reads, and the shape of what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from mcp_types import Tool as Listed, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from plait.core.frozen import dataclass
from plait.front.refusals import FieldError
from plait.server.office import Office

Json = dict[str, object]
Progress = Callable[[float, float | None, str | None], Awaitable[None]]


class Wanted(BaseModel):
    """What a tool is called with. A word that it does not know is refused: without it, something else would be done."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Told(BaseModel):
    """What a tool tells, in the words of the HTTP interface."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True)


@dataclass(frozen=True, slots=True)
class Call:
    """Whom a call is about, and how whoever waits for it hears of its progress. `over`: the server is about to end, and who
    only waits has to come back.
    """

    office: Office
    progress: Progress
    over: asyncio.Event


W = TypeVar("W", bound=Wanted)
T = TypeVar("T", bound=Told)
Act = Callable[[Call, Mapping[str, object]], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class Tool:
    """`listed` is how hosts see it; `act` answers a call. `fresh`: it starts from what the sources say now."""

    listed: Listed
    act: Act
    fresh: bool = False

    @property
    def name(self) -> str:
        return self.listed.name

    @property
    def reads(self) -> bool:
        return bool(self.listed.annotations and self.listed.annotations.read_only_hint)


def tool(  # noqa: PLR0913 - each is a thing of its own, and named where it is given
    name: str,
    says: str,
    wanted: type[W],
    told: type[T],
    act: Callable[[Call, W], Awaitable[T]],
    *,
    reads: bool = False,
    undoes: bool = False,
    again: bool = False,
    far: bool = False,
    fresh: bool = False,
) -> Tool:
    """`reads`: it changes nothing. `undoes`: something may be given up by it. `again`: a second call does no more.
    `far`: it reaches beyond this machine. `fresh`: see Tool.
    """
    listed = Listed(
        name=name,
        description=says,
        input_schema=_schema(wanted, "validation"),
        output_schema=_schema(told, "serialization"),
        annotations=ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=undoes,
            idempotent_hint=reads or again,
            open_world_hint=far,
        ),
    )

    async def called(call: Call, words: Mapping[str, object]) -> Json:
        answer = await act(call, _read(wanted, words))
        return {name: _sound(value) for name, value in answer.model_dump(by_alias=True).items()}

    return Tool(listed, called, fresh)


def utf8(text: str) -> str:
    """The names of files may be no text; of those it has what JSON can tell."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _sound(value: object) -> object:
    match value:
        case str():
            return utf8(value)
        case dict():
            return {name: _sound(each) for name, each in value.items()}
        case list() | tuple():
            return [_sound(each) for each in value]
        case _:
            return value


class _Terse(GenerateJsonSchema):
    """Without a title for each field: it says what its name says, and whoever reads it pays by the word."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's own types
        return False


def _schema(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:  # as the SDK takes it
    return model.model_json_schema(by_alias=True, mode=mode, schema_generator=_Terse)


def _read(wanted: type[W], words: Mapping[str, object]) -> W:
    """Raises FieldError for the first thing that is wrong. What was said is not repeated: it may be long, or a secret."""
    try:
        return wanted.model_validate(words)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "arguments"
        known = ", ".join(wanted.model_fields) or "nothing"
        raise FieldError(f"{field}: {first['msg']}", field=field, hint=f"This tool takes {known}.") from None
