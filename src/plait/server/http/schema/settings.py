"""The settings, who gave them, and what may be said in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, RootModel, WithJsonSchema, create_model

from plait.client.preferences import KINDS, can_read, name_kind
from plait.config.config import Layer
from plait.config.key import AnyKey
from plait.config.keys import KEYS
from plait.server.http.schema.base import ApiModel, Problem


def _choice_type(words: Sequence[str]) -> Any:  # a type that is made just now
    return Annotated[str, WithJsonSchema({"type": "string", "enum": list(words)})]


class GivenShape(ApiModel):
    """`hidden`: something is saved, and a stronger layer counts. `problem`: what is saved can't be read."""

    layer: Layer
    at: str | None
    saved: bool
    hidden: bool
    problem: str | None


_SIMPLE_TYPES: dict[str, Any] = {
    "text": str,
    "switch": bool,
    "table": dict[str, JsonValue],
    "duration": float,
    "size": int,
    "amount": str,
    "list": list[str],
}


def _field_type(key: AnyKey) -> Any:
    shape = _value_type(key)
    return shape | None if key.default is None else shape


def _value_type(key: AnyKey) -> Any:
    match name_kind(key.value_type):
        case "choice":
            return _choice_type(key.value_type.choices)
        case "choices":
            return Sequence[_choice_type(key.value_type.choices)]  # type: ignore[misc]  # as it is made just now
        case "number" if can_read(key.value_type, "auto"):
            return int | Literal["auto"]
        case "number":
            return float if can_read(key.value_type, 0.5) else int
        case kind:
            return _SIMPLE_TYPES[kind]


# Fields have names of their own: some settings are called as something that every shape has. Any: as of `create_model`.
_FIELDS: dict[str, Any] = {
    f"the_{key.field}": (_field_type(key), Field(alias=key.saved_name, description=key.about)) for key in KEYS
}

Preferences: type[ApiModel] = create_model(
    "Preferences",
    __base__=ApiModel,
    __doc__="Every setting by its name, and under `given` who gave it. Lengths of time in seconds, sizes in bytes.",
    **_FIELDS,
    given=(dict[str, GivenShape], ...),
)

ChangedPreferences: type[ApiModel] = create_model(
    "ChangedPreferences",
    __base__=Preferences,
    __doc__="`notes` say which open batches keep what they have. `accepted`: no engine has answered yet.",
    notes=(list[Problem], ...),
    accepted=(bool, ...),
)


class PreferencesPatch(RootModel[dict[str, JsonValue]]):
    """Values by the names of GET /api/settings; null forgets what was saved."""


class SettingShape(ApiModel):
    """`kind` says which field of a form fits; `allowed` says in words what may be said."""

    name: str
    key: str
    table: str
    kind: str = Field(json_schema_extra={"enum": list(KINDS)})
    choices: list[str]
    allowed: str
    default: JsonValue
    about: str
    variable: str
    can_be_saved: bool


class PreferencesSchema(ApiModel):
    tables: dict[str, str]
    settings: list[SettingShape]
