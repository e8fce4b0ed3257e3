"""Names and words from outside may hold bytes that are no text; what is told of them can be written down all the same."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from plait.core.reports import Report

R = TypeVar("R", bound=Report)


def sound(report: R) -> R:
    """The same report with every such byte spelt out; itself, if there is none."""
    changes = {}
    for field in fields(report):
        value = getattr(report, field.name)
        told = _told(value)
        if told is not value:
            changes[field.name] = told
    return replace(report, **changes) if changes else report  # type: ignore[arg-type]  # of the same types


def _told(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else _text(value)
    if isinstance(value, tuple):
        told = tuple(map(_told, value))
        return value if all(old is new for old, new in zip(value, told, strict=True)) else told
    if is_dataclass(value) and not isinstance(value, type):
        return sound(value)  # type: ignore[type-var]  # an outcome, and other parts of reports
    return value


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        pass
    else:
        return value
    try:
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # no bytes stood there
        return value.encode("utf-8", "backslashreplace").decode()
