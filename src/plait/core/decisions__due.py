"""Something the core owes the world, and from when."""

from __future__ import annotations

from plait.core.decisions import Decision
from plait.core.fast_dataclass import dataclass

IMMEDIATELY = float("-inf")


@dataclass(frozen=True, slots=True)
class Due:
    at: float
    decision: Decision


def due_now(decision: Decision) -> Due:
    return Due(IMMEDIATELY, decision)
