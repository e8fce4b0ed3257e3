"""Flaw: why an answer can't be taken, in words for a person and for the model that is asked again."""

from __future__ import annotations

from collections.abc import Iterable

from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AnswerError:
    """`path` is the file that it is about, as the answer spells it; "" for the answer as a whole."""

    message: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def format_errors(errors: Iterable[AnswerError], max_errors: int = 12) -> str:
    """As a list, for feedback."""
    lines = [f"- {flaw}" for flaw in errors]
    more = [f"- and {len(lines) - max_errors} more"] if len(lines) > max_errors else []
    return "\n".join([*lines[:max_errors], *more])
