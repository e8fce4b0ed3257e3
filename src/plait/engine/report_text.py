"""Reports go into the journal: their texts are redacted, and bytes that are not UTF-8 are escaped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import TypeVar

from plait.agents.redaction import Redactor
from plait.core.reports import AttemptExited, Report
from plait.core.requests import Request

# Fields with text of tools, git and the system. Names of files, commits and sessions are left as they are.
_TEXT_FIELDS = frozenset({"detail", "question", "name", "why", "hint"})


R = TypeVar("R")


def redact_reports(
    enqueue: Callable[[Request | Report], None], get_redactor: Callable[[str], Redactor]
) -> Callable[[Request | Report], None]:
    """An `enqueue` that redacts reports with the redactor of their batch, or of batch "" if they have none."""

    def redact_and_enqueue(report: Request | Report) -> None:
        enqueue(redact_report(report, get_redactor(_find_batch(report))) if isinstance(report, Report) else report)

    return redact_and_enqueue


def redact_report(report: R, redact: Redactor) -> R:
    """The same report without secrets; itself, if there is none."""
    changes: dict[str, object] = {}
    for name in _TEXT_FIELDS.intersection(list_field_names(report)):
        value = getattr(report, name)
        if isinstance(value, str) and (hidden := redact(value)) != value:
            changes[name] = hidden
    if isinstance(report, AttemptExited) and (outcome := redact_report(report.outcome, redact)) is not report.outcome:
        changes["outcome"] = outcome
    return replace(report, **changes) if changes else report  # type: ignore[type-var]


def _find_batch(report: Report) -> str:
    attempt = getattr(report, "attempt", None)
    return str(getattr(report, "batch", "") if attempt is None else attempt.batch)


ReportT = TypeVar("ReportT", bound=Report)


def make_utf8_safe(report: ReportT) -> ReportT:
    """The same report with every invalid byte escaped; itself, if there is none."""
    changes = {}
    for name in list_field_names(report):
        value = getattr(report, name)
        safe = _make_value_safe(value)
        if safe is not value:
            changes[name] = safe
    return replace(report, **changes) if changes else report  # type: ignore[arg-type]  # of the same types


def list_field_names(report: object) -> tuple[str, ...]:
    """The fields of a report, or of a part of one: faster than `dataclasses.fields`."""
    names: tuple[str, ...] = report.__match_args__  # type: ignore[attr-defined]  # a dataclass
    return names


def _make_value_safe(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else _escape_invalid(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, tuple):
        safe = tuple(map(_make_value_safe, value))
        return value if all(old is new for old, new in zip(value, safe, strict=True)) else safe
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
    except UnicodeEncodeError:  # lone surrogates that stand for no byte
        return value.encode("utf-8", "backslashreplace").decode()
