"""The clock jumped: running attempts keep the time they had left."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.decisions import DeadlinesMoved
from plait.core.state import State


def owed(state: State) -> Iterator[Due]:
    if state.jump:
        yield now(DeadlinesMoved(state.jump))
