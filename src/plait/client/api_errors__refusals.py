"""Refusals that a program can act on: what was named is not there, is not in a state for it, or has a wrong field."""

from __future__ import annotations

from plait.core.errors import UserError


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
