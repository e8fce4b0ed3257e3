"""An attempt that runs too long, or shows no sign of life for too long, is asked to end."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import AttemptEnding
from plait.core.decisions__due import Due
from plait.core.state import State
from plait.core.status import EndWhy


def schedule_timeouts(state: State) -> Iterator[Due]:
    for at, name in state.deadlines:
        attempt = state.find_attempt(name)
        if attempt is not None:
            why = EndWhy.TIMEOUT if attempt.deadline <= at else EndWhy.IDLE
            yield Due(at, AttemptEnding(name, why))
