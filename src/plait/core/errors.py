"""Whose fault it is, what happened, and the way out: every error a person meets carries all three."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    USER = "user"
    CONFIG = "config"
    AGENT = "agent"
    WORLD = "world"
    BUG = "bug"


class PlaitError(Exception):
    """Something a person should be told; never shown as a traceback, except where the fault is ours."""

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
    """The program contradicts itself; the message ends with how to report it."""

    fault = Fault.BUG


def describe_error(error: Exception) -> str:
    """For a sentence: what plait's own errors say, and the name of any other one before what it says."""
    return error.message if isinstance(error, PlaitError) else f"{type(error).__name__}: {error}"
