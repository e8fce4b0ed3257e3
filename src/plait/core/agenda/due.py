"""Something the core owes the world, and from when."""

from __future__ import annotations

from dataclasses import dataclass

from plait.core.decisions import Decision

ALWAYS = float("-inf")


@dataclass(frozen=True, slots=True)
class Due:
    at: float
    decision: Decision


def now(decision: Decision) -> Due:
    return Due(ALWAYS, decision)
