"""Settings as programs see them: a value for each name, who gave it, and what may be said in its place."""

from __future__ import annotations

from collections.abc import Mapping

from plait.config.key import AnyKey
from plait.config.kinds import Kind, Unfit
from plait.config.model import Config, Layer
from plait.config.outside import saved_at
from plait.config.schema import KEYS, TABLES

GIVEN = "given"

# What a kind is called, by something that only this kind and those further down can read.
_SAMPLES: tuple[tuple[str, object], ...] = (
    ("text", "any words"),
    ("switch", True),
    ("table", {}),
    ("duration", "1h"),
    ("size", "64MB"),
    ("amount", "20usd"),
    ("number", 1),
)
KINDS = (*(name for name, _ in _SAMPLES), "choice", "choices", "list")


def preferences_json(config: Config, saved: Mapping[str, str]) -> dict[str, object]:
    """Every setting by its name, and under `given` who gave it. Lengths of time are in seconds, sizes in bytes."""
    values: dict[str, object] = {key.saved: key.shown(config.value(key)) for key in KEYS}
    return values | {GIVEN: {key.saved: _given(config, saved, key) for key in KEYS}}


def _given(config: Config, saved: Mapping[str, str], key: AnyKey) -> dict[str, object]:
    """`hidden`: something is saved, and a stronger layer counts. `problem`: what is saved can't be read, and does not count."""
    given = config.given[key.name]
    at = saved_at(key.saved)
    problem = next((warning.message for warning in config.warnings if warning.at == at), None)
    return {
        "layer": given.layer.value,
        "at": str(given.at) if given.at else None,
        "saved": key.saved in saved,
        "hidden": key.saved in saved and problem is None and given.layer is not Layer.SAVED,
        "problem": problem,
    }


def preferences_schema() -> dict[str, object]:
    """What a page needs to show the settings and to ask for others, in the order of the documents."""
    return {"tables": dict(TABLES), "settings": [_described(key) for key in KEYS]}


def _described(key: AnyKey) -> dict[str, object]:
    return {
        "name": key.saved,
        "key": key.name,
        "table": key.table,
        "kind": called(key.kind),
        "choices": list(key.kind.choices),
        "allowed": key.kind.allowed,
        "default": key.kind.plain(key.default),
        "about": key.about,
        "variable": key.variable,
        "canBeSaved": not key.secret,
    }


def called(kind: Kind[object]) -> str:
    """By what it reads: a form for it needs to know no more."""
    listed = reads(kind, [])
    if kind.choices:
        return "choices" if listed else "choice"
    if listed:
        return "list"
    return next((name for name, sample in _SAMPLES if reads(kind, sample)), "text")


def reads(kind: Kind[object], sample: object) -> bool:
    try:
        kind.read(sample)
    except Unfit:
        return False
    return True
