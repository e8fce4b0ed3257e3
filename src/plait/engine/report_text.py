"""Names and words from outside may hold bytes that are no text; what is told of them can be written down all the same."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import TypeVar

from plait.core.reports import Report

ReportT = TypeVar("ReportT", bound=Report)


def make_utf8_safe(report: ReportT) -> ReportT:
    """The same report with every such byte spelt out; itself, if there is none."""
    changes = {}
    for name in list_field_names(report):
        value = getattr(report, name)
        told = _make_value_safe(value)
        if told is not value:
            changes[name] = told
    return replace(report, **changes) if changes else report  # type: ignore[arg-type]  # of the same types


def list_field_names(report: object) -> tuple[str, ...]:
    """The fields of a report, or of a part of one: what a pattern would match them by, which is there already."""
    names: tuple[str, ...] = report.__match_args__  # type: ignore[attr-defined]  # a dataclass
    return names


def _make_value_safe(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else _escape_invalid(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, tuple):
        told = tuple(map(_make_value_safe, value))
        return value if all(old is new for old, new in zip(value, told, strict=True)) else told
    if is_dataclass(value) and not isinstance(value, type):
        return make_utf8_safe(value)  # type: ignore[type-var]  # an outcome, and other parts of reports
    return value


def _escape_invalid(value: str) -> str:
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
