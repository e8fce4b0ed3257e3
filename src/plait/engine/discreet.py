"""What is reported goes into the journal, and from there to everybody: words in it are told without secrets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from plait.agents.discretion import Discretion
from plait.core.reports import AttemptExited, Report
from plait.core.requests import Request
from plait.engine.sound import names_of

# The fields that hold words: a tool's, git's, the system's. Names of files, commits and sessions are what they are.
_WORDS = frozenset({"detail", "question", "name", "why", "hint"})

R = TypeVar("R")


def discreetly(
    hear: Callable[[Request | Report], None], discretion: Callable[[str], Discretion]
) -> Callable[[Request | Report], None]:
    """`discretion` is asked with a batch; what concerns none by an empty name."""

    def told(report: Request | Report) -> None:
        hear(discreet(report, discretion(_batch(report))) if isinstance(report, Report) else report)

    return told


def discreet(report: R, hide: Discretion) -> R:
    """The same report without secrets in its words; itself, if there is none."""
    changes: dict[str, object] = {}
    for name in _WORDS.intersection(names_of(report)):
        value = getattr(report, name)
        if isinstance(value, str) and (hidden := hide(value)) != value:
            changes[name] = hidden
    if (
        isinstance(report, AttemptExited)
        and (outcome := discreet(report.outcome, hide)) is not report.outcome
    ):
        changes["outcome"] = outcome
    return replace(report, **changes) if changes else report  # type: ignore[type-var]


def _batch(report: Report) -> str:
    attempt = getattr(report, "attempt", None)
    found = getattr(report, "batch", "") if attempt is None else attempt.batch
    return str(found)
