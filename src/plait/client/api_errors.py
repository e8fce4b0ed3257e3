"""Errors that programs can act on."""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.errors import Bug, Fault, PlaitError, UserError
from plait.core.plan import Problem, Severity

DEBUG_VARIABLE = "PLAIT_DEBUG"
BUG_REPORT_HINT = f"Please report it, with `plait --version` and what {DEBUG_VARIABLE}=1 shows."


def add_bug_hint(error: PlaitError) -> PlaitError:
    """Say in the hint that a bug is one and how to report it, unless the error has a hint already."""
    is_unexplained = error.fault is Fault.BUG and not error.hint
    return Bug(f"this is a bug in plait: {error.message}", hint=BUG_REPORT_HINT) if is_unexplained else error


def list_error_problems(error: PlaitError) -> Sequence[Problem]:
    """List the problems of an error: some errors have several, each with its place."""
    problems: Sequence[Problem] = getattr(error, "problems", ())
    error = add_bug_hint(error)
    return problems or [Problem(Severity.ERROR, error.message, hint=error.hint)]


class NotFoundError(UserError):
    """There is nothing with this name."""


class StateError(UserError):
    """An action is not allowed in the current state of its object, which is `state`, as in its JSON."""

    def __init__(self, message: str, *, state: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.state = state


class FieldError(UserError):
    """A field of a request is invalid; `field` is its name in JSON, such as `taskIds` or `settings.budget`."""

    def __init__(self, message: str, *, field: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field
