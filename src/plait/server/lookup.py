"""Find a batch or task by its id or a unique prefix."""

from __future__ import annotations

from collections.abc import Iterable

from plait.client.api_errors import NotFoundError, StateError
from plait.client.batch_lookup import find_batch, find_task
from plait.core.errors import UserError
from plait.core.state import BatchState, State, TaskState


def resolve_batch(state: State, prefix: str | None) -> BatchState:
    """None: the newest."""
    try:
        return find_batch(state, prefix)
    except UserError as error:
        raise _map_lookup_error(error, prefix, state.batches) from None


def resolve_task(batch: BatchState, prefix: str) -> TaskState:
    try:
        return find_task(batch, prefix)
    except UserError as error:
        raise _map_lookup_error(error, prefix, batch.index) from None


def resolve_batch_and_task(state: State, batch: str | None, task: str) -> tuple[BatchState, TaskState]:
    found = resolve_batch(state, batch)
    return found, resolve_task(found, task)


def _map_lookup_error(error: UserError, prefix: str | None, names: Iterable[str]) -> UserError:
    """An id that is a prefix of known ones, and not found, is ambiguous."""
    if prefix and any(name.startswith(prefix) or name.partition(":")[2] == prefix for name in names):
        return StateError(error.message, state="ambiguous", hint=error.hint)
    return NotFoundError(error.message, hint=error.hint)
