"""Tidying up: what of the things that batches left behind is whose, and which batches can be forgotten."""

from __future__ import annotations

from plait.config.model import Config
from plait.core.errors import UserError
from plait.core.state import BatchState, State
from plait.front.desk import Desk
from plait.front.names import find_batch
from plait.wiring.attic import Attic, Batch, Facts, Known, Names, attic


def open_attic(desk: Desk, config: Config) -> Attic:
    """It asks the desk again whenever something is about to go."""

    def known() -> Known:
        desk.refresh()
        return _known(desk)

    return attic(desk.place, config, known)


def names(state: State) -> Names:
    return Names.of({batch.id: _tasks(batch) for batch in state.batches.values()})


def to_forget(state: State, facts: Facts, word: str) -> str:
    """The batch that is meant. One that the journal does not know goes by the name that its files and refs have."""
    try:
        batch = find_batch(state, word)
    except UserError:
        if any(getattr(thing, "batch", "") == word for thing in facts.things):
            return word
        raise
    if not facts.batches[batch.id].over:
        raise UserError(
            f"batch {batch.id} is not over, and only what is over can be forgotten",
            hint=f"`plait cancel {batch.id}` gives it up.",
        )
    return batch.id


def _known(desk: Desk) -> Known:
    state = desk.ahead()
    asked = {getattr(request, "batch", "") for request in desk.pending()}
    batches = {each.id: _batch(state, each, asked=each.id in asked) for each in state.batches.values()}
    return Known(batches, {each.id: _tasks(each) for each in state.batches.values()})


def _batch(state: State, batch: BatchState, *, asked: bool) -> Batch:
    """One that somebody has just asked something of is about to be opened again."""
    going = batch.ended is None or batch.id in state.open or batch.id in state.shipping
    return Batch(batch.id, over=not (going or asked), since=batch.ended_at or 0.0)


def _tasks(batch: BatchState) -> tuple[str, ...]:
    return tuple(task.task.id for task in batch.tasks)
