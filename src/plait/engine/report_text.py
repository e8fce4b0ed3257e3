"""What is reported goes into the journal, and from there to everybody: words in it are told without secrets.

Names and words from outside may hold bytes that are no text; what is told of them can be written down all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import TypeVar

from plait.agents.redaction import Redactor
from plait.core.reports import AttemptExited, Report
from plait.core.requests import Request

# The fields that hold words: a tool's, git's, the system's. Names of files, commits and sessions are what they are.
_TEXT_FIELDS = frozenset({"detail", "question", "name", "why", "hint"})


R = TypeVar("R")


def redact_reports(
    enqueue: Callable[[Request | Report], None], get_redactor: Callable[[str], Redactor]
) -> Callable[[Request | Report], None]:
    """`discretion` is asked with a batch; what concerns none by an empty name."""

    def told(report: Request | Report) -> None:
        enqueue(redact_report(report, get_redactor(_find_batch(report))) if isinstance(report, Report) else report)

    return told


def redact_report(report: R, redact: Redactor) -> R:
    """The same report without secrets in its words; itself, if there is none."""
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
    found = getattr(report, "batch", "") if attempt is None else attempt.batch
    return str(found)


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
