"""Errors for people: whose fault, what happened, and what to do."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    USER = "user"
    CONFIG = "config"
    AGENT = "agent"
    WORLD = "world"
    BUG = "bug"


class PlaitError(Exception):
    """An error message for a person; shown with a traceback only if it is a bug."""

    fault = Fault.BUG

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class UserError(PlaitError):
    fault = Fault.USER


class ConfigError(PlaitError):
    fault = Fault.CONFIG


class AgentError(PlaitError):
    fault = Fault.AGENT


class WorldError(PlaitError):
    fault = Fault.WORLD


class Bug(PlaitError):  # noqa: N818 - it is a bug, not an error in the world
    """An internal contradiction; the message ends with how to report it."""

    fault = Fault.BUG


def describe_error(error: Exception) -> str:
    """Return one sentence: the message of plait's own errors, any other with its type."""
    return error.message if isinstance(error, PlaitError) else f"{type(error).__name__}: {error}"


def format_with_hint(error: Exception) -> str:
    """Return the error and what to do about it as one text."""
    hint = error.hint if isinstance(error, PlaitError) else ""
    return f"{describe_error(error)}. {hint}" if hint else describe_error(error)
