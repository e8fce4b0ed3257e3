"""Declare JSON objects, and encode them: keys in camelCase, times, and texts that aren't UTF-8 or would control a terminal.

A model is a frozen dataclass made by `api_model`. `--json`, HTTP, MCP and OpenAPI follow from it: keys are the fields in
camelCase, and the order of fields is the order of keys. Class names are component names of the OpenAPI document.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from enum import Enum
from typing import TypeVar, dataclass_transform

from plait.core.fast_dataclass import dataclass

T = TypeVar("T")

Json = dict[str, object]

_MAX_TIMESTAMP = 253_402_300_799.0  # the end of the year 9999, the last that can be written
_TERMINAL_CONTROLS = re.compile(rb"\x7f|\xc2[\x80-\x9f]")  # commands to some terminals; msgspec escapes the others

_KEYS: dict[
    type, tuple[tuple[str, str, bool], ...]
] = {}  # of each model: its fields, their keys, and whether None is left out
_PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})
OMIT_NONE: Mapping[str, bool] = {"omit_none": True}  # metadata of a field that is left out if it is None


def to_camel(name: str) -> str:
    """Convert a field's name to a key: `started_at` is `startedAt`; `from_` is `from`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def api_model(cls: type[T]) -> type[T]:
    """Make a frozen dataclass that pydantic documents in camelCase."""
    cls.__pydantic_config__ = {"alias_generator": to_camel}  # type: ignore[attr-defined]  # read by pydantic only
    doc = cls.__doc__
    model = dataclass(frozen=True, slots=True)(cls)
    model.__doc__ = doc  # dataclass() would make one up, and it would be in the OpenAPI document
    fields = model.__dataclass_fields__.items()  # type: ignore[attr-defined]
    _KEYS[model] = tuple((name, to_camel(name), "omit_none" in field_.metadata) for name, field_ in fields)
    return model


def fill_model(model: type[T], source: object, /, **values: object) -> T:
    """Make a model with these values; its other fields are attributes of `source` with the same names, tuples as lists."""
    for name, _, _ in _KEYS[model]:
        if name not in values:
            value = getattr(source, name)
            values[name] = list(value) if isinstance(value, tuple) else value
    return model(**values)


def to_builtins(value: object) -> object:
    """Convert models to dicts, enums to their values, and tuples to lists."""
    if type(value) in _PLAIN_TYPES:
        return value
    if type(value) in _KEYS:
        return to_json(value)
    match value:
        case Enum():
            return value.value
        case Mapping():
            return {key: to_builtins(item) for key, item in value.items()}
        case list() | tuple():
            return [to_builtins(item) for item in value]
        case _:
            return value


def to_json(model: object) -> Json:
    """Return the JSON object of a model."""
    items = ((key, getattr(model, name), omitted) for name, key, omitted in _KEYS[type(model)])
    return {key: to_builtins(value) for key, value, omitted in items if value is not None or not omitted}


def to_iso(at: float) -> str:
    """Format a time as `2026-11-15T10:00:00.000Z`."""
    time = datetime.fromtimestamp(min(max(at, 0.0), _MAX_TIMESTAMP), UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_iso_or_none(at: float | None) -> str | None:
    return None if at is None else to_iso(at)


def encode_json(value: object) -> bytes:
    """Encode a model, or a container of models and plain values."""
    return encode_plain(to_builtins(value))


def encode_plain(value: object) -> bytes:
    """Encode a value without models in it."""
    import msgspec

    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        import json

        return json.dumps(value).encode("ascii")
    if b"\xc2" not in data and b"\x7f" not in data:
        return data
    return _TERMINAL_CONTROLS.sub(lambda control: b"\\u00%02x" % control[0][-1], data)
