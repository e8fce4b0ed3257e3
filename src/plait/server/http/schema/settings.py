"""Settings, where they come from, and their allowed values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, JsonValue, RootModel, WithJsonSchema, create_model

from plait.client.api_models import ProblemDetails
from plait.client.preferences import SettingOrigin
from plait.config.key import AnyKey
from plait.config.keys import KEYS
from plait.config.value_types import ValueKind
from plait.server.http.schema.base import ApiModel


def _choice_type(words: Sequence[str]) -> Any:  # a type that is made just now
    return Annotated[str, WithJsonSchema({"type": "string", "enum": list(words)})]


def _field_type(key: AnyKey) -> Any:
    match key.value_type.kind:
        case ValueKind.CHOICE:
            shape = _choice_type(key.value_type.choices)
        case ValueKind.CHOICES:
            shape = Sequence[_choice_type(key.value_type.choices)]  # type: ignore[misc]  # as it is made just now
        case ValueKind.TABLE:
            shape = dict[str, JsonValue]
        case _:
            shape = key.value_type.json_type
    return shape | None if key.default is None else shape


# Fields get other names, because some settings are named like attributes of every model. Any: as in `create_model`.
_FIELDS: dict[str, Any] = {
    f"the_{key.field}": (_field_type(key), Field(alias=key.json_name, description=key.about)) for key in KEYS
}

Preferences: type[ApiModel] = create_model(
    "Preferences",
    __base__=ApiModel,
    __doc__="Every setting by its name, and under `given` where it comes from. Durations in seconds, sizes in bytes.",
    **_FIELDS,
    given=(dict[str, SettingOrigin], ...),
)

ChangedPreferences: type[ApiModel] = create_model(
    "ChangedPreferences",
    __base__=Preferences,
    __doc__="`notes` say which open batches keep the old values. `accepted`: no engine has answered yet.",
    notes=(list[ProblemDetails], ...),
    accepted=(bool, ...),
)


class PreferencesPatch(RootModel[dict[str, JsonValue]]):
    """Values by the names of GET /api/settings; null removes a saved value."""
