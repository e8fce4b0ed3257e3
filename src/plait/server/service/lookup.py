"""Which batch and which task are meant, as on the command line: an id, or the beginning of one that no other has."""

from __future__ import annotations

from collections.abc import Iterable

from plait.client.api_errors__refusals import NotFoundError, StateError
from plait.client.batch_lookup import find_batch, find_task
from plait.core.errors import UserError
from plait.core.state import BatchState, State, TaskState

AMBIGUOUS_STATE = "ambiguous"


def resolve_batch(state: State, word: str | None) -> BatchState:
    """None: the newest."""
    try:
        return find_batch(state, word)
    except UserError as error:
        raise _map_lookup_error(error, word, state.batches) from None


def resolve_task(batch: BatchState, word: str) -> TaskState:
    try:
        return find_task(batch, word)
    except UserError as error:
        raise _map_lookup_error(error, word, batch.index) from None


def resolve_batch_and_task(state: State, batch: str | None, task: str) -> tuple[BatchState, TaskState]:
    found = resolve_batch(state, batch)
    return found, resolve_task(found, task)


def _map_lookup_error(error: UserError, word: str | None, names: Iterable[str]) -> UserError:
    """Where something begins like it and is not found, several do."""
    if word and any(name.startswith(word) or name.partition(":")[2] == word for name in names):
        return StateError(error.message, state=AMBIGUOUS_STATE, hint=error.hint)
    return NotFoundError(error.message, hint=error.hint)
