"""What is reported goes into the journal, and from there to everybody: words in it are told without secrets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from plait.agents.redaction import Redactor
from plait.core.reports import AttemptExited, Report
from plait.core.requests import Request
from plait.engine.report_text import list_field_names

# The fields that hold words: a tool's, git's, the system's. Names of files, commits and sessions are what they are.
_TEXT_FIELDS = frozenset({"detail", "question", "name", "why", "hint"})

R = TypeVar("R")


def redact_reports(
    enqueue: Callable[[Request | Report], None], get_redactor: Callable[[str], Redactor]
) -> Callable[[Request | Report], None]:
    """`discretion` is asked with a batch; what concerns none by an empty name."""

    def told(report: Request | Report) -> None:
        enqueue(
            redact_report(report, get_redactor(_find_batch(report))) if isinstance(report, Report) else report
        )

    return told


def redact_report(report: R, redact: Redactor) -> R:
    """The same report without secrets in its words; itself, if there is none."""
    changes: dict[str, object] = {}
    for name in _TEXT_FIELDS.intersection(list_field_names(report)):
        value = getattr(report, name)
        if isinstance(value, str) and (hidden := redact(value)) != value:
            changes[name] = hidden
    if (
        isinstance(report, AttemptExited)
        and (outcome := redact_report(report.outcome, redact)) is not report.outcome
    ):
        changes["outcome"] = outcome
    return replace(report, **changes) if changes else report  # type: ignore[type-var]


def _find_batch(report: Report) -> str:
    attempt = getattr(report, "attempt", None)
    found = getattr(report, "batch", "") if attempt is None else attempt.batch
    return str(found)
