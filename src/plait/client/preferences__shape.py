"""Settings as programs see them: a value for each name, who gave it, and what may be said in its place."""

from __future__ import annotations

from collections.abc import Mapping

from plait.config.config import Config, Layer
from plait.config.key import AnyKey
from plait.config.keys import KEYS, TABLES
from plait.config.layers__outside import saved_origin
from plait.config.value_types import InvalidValue, ValueType

GIVEN_FIELD = "given"

# What a kind is called, by something that only this kind and those further down can read.
_KIND_SAMPLES: tuple[tuple[str, object], ...] = (
    ("text", "any words"),
    ("switch", True),
    ("table", {}),
    ("duration", "1h"),
    ("size", "64MB"),
    ("amount", "20usd"),
    ("number", 1),
)
KINDS = (*(name for name, _ in _KIND_SAMPLES), "choice", "choices", "list")


def preferences_json(config: Config, saved: Mapping[str, str]) -> dict[str, object]:
    """Every setting by its name, and under `given` who gave it. Lengths of time are in seconds, sizes in bytes."""
    values: dict[str, object] = {key.saved_name: key.to_public(config.value(key)) for key in KEYS}
    return values | {GIVEN_FIELD: {key.saved_name: _given_json(config, saved, key) for key in KEYS}}


def _given_json(config: Config, saved: Mapping[str, str], key: AnyKey) -> dict[str, object]:
    """`hidden`: something is saved, and a stronger layer counts. `problem`: what is saved can't be read, and does not count."""
    given = config.origins[key.name]
    at = saved_origin(key.saved_name)
    problem = next((warning.message for warning in config.warnings if warning.at == at), None)
    return {
        "layer": given.layer.value,
        "at": str(given.at) if given.at else None,
        "saved": key.saved_name in saved,
        "hidden": key.saved_name in saved and problem is None and given.layer is not Layer.SAVED,
        "problem": problem,
    }


def preferences_schema() -> dict[str, object]:
    """What a page needs to show the settings and to ask for others, in the order of the documents."""
    return {"tables": dict(TABLES), "settings": [_key_json(key) for key in KEYS]}


def _key_json(key: AnyKey) -> dict[str, object]:
    return {
        "name": key.saved_name,
        "key": key.name,
        "table": key.table,
        "kind": name_kind(key.value_type),
        "choices": list(key.value_type.choices),
        "allowed": key.value_type.allowed,
        "default": key.value_type.plain(key.default),
        "about": key.about,
        "variable": key.env_variable,
        "canBeSaved": not key.is_secret,
    }


def name_kind(kind: ValueType[object]) -> str:
    """By what it reads: a form for it needs to know no more."""
    listed = can_read(kind, [])
    if kind.choices:
        return "choices" if listed else "choice"
    if listed:
        return "list"
    return next((name for name, sample in _KIND_SAMPLES if can_read(kind, sample)), "text")


def can_read(kind: ValueType[object], sample: object) -> bool:
    try:
        kind.read(sample)
    except InvalidValue:
        return False
    return True
