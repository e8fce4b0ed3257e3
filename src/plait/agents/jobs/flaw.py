"""Flaw: why an answer can't be taken, in words for a person and for the model that is asked again."""

from __future__ import annotations

from collections.abc import Iterable

from plait.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Flaw:
    """`path` is the file that it is about, as the answer spells it; "" for the answer as a whole."""

    message: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def told(flaws: Iterable[Flaw], most: int = 12) -> str:
    """As a list, for feedback."""
    lines = [f"- {flaw}" for flaw in flaws]
    more = [f"- and {len(lines) - most} more"] if len(lines) > most else []
    return "\n".join([*lines[:most], *more])
