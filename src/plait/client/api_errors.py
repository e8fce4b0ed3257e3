"""Problems and errors as programs see them: what is wrong, where, and the way out.

Refusals that a program can act on: what was named is not there, is not in a state for it, or has a wrong field.
"""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.errors import Bug, Fault, PlaitError, UserError
from plait.core.plan import Problem, Severity

DEBUG_VARIABLE = "PLAIT_DEBUG"


BUG_REPORT_HINT = f"Please report it, with `plait --version` and what {DEBUG_VARIABLE}=1 shows."


def add_bug_hint(error: PlaitError) -> PlaitError:
    """A bug says so, and how to report it, unless it says already where to."""
    ours = error.fault is Fault.BUG and not error.hint
    return Bug(f"this is a bug in plait: {error.message}", hint=BUG_REPORT_HINT) if ours else error


def list_error_problems(error: PlaitError) -> Sequence[Problem]:
    """An error as problems: it may know of several, each with its place."""
    known: Sequence[Problem] = getattr(error, "problems", ())
    told = add_bug_hint(error)
    return known or [Problem(Severity.ERROR, told.message, hint=told.hint)]


def problem_json(problem: Problem) -> dict[str, object]:
    return {
        "severity": problem.severity.value,
        "message": problem.message,
        "file": problem.at.file if problem.at else None,
        "line": (problem.at.line or None) if problem.at else None,
        "hint": problem.hint or None,
    }


class NotFoundError(UserError):
    """Nothing goes by that name."""


class StateError(UserError):
    """It is there, and not now: `state` is the state that it is in, in the words of its shape."""

    def __init__(self, message: str, *, state: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.state = state


class FieldError(UserError):
    """A field of what was asked for can't be so; `field` is its name in the shape, `taskIds` or `settings.budget`."""

    def __init__(self, message: str, *, field: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field
