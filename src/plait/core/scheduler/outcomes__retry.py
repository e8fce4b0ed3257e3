"""A task whose time to go again has come is ready again."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import BackoffEnded
from plait.core.decisions__due import Due
from plait.core.state import State


def schedule_backoff_ends(state: State) -> Iterator[Due]:
    for at, batch, place in state.backoffs:
        yield Due(at, BackoffEnded(batch, state.batches[batch].tasks[place].task.id))
