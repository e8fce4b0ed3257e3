"""The clock jumped: running attempts keep the time they had left."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import DeadlinesMoved
from plait.core.decisions__due import Due, due_now
from plait.core.state import State


def schedule_deadline_shift(state: State) -> Iterator[Due]:
    if state.clock_jump:
        yield due_now(DeadlinesMoved(state.clock_jump))
