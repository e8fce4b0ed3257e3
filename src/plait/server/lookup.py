"""Find a batch or task by its id or a unique prefix."""

from __future__ import annotations

from plait.client.api_errors import NotFoundError, StateError
from plait.client.batch_lookup import AmbiguousNameError, find_batch, find_task
from plait.core.errors import UserError
from plait.core.state import BatchState, State, TaskState


def resolve_batch(state: State, prefix: str | None) -> BatchState:
    """Return the batch with this prefix of its id; None: the newest."""
    try:
        return find_batch(state, prefix)
    except UserError as error:
        raise _map_lookup_error(error) from None


def resolve_task(batch: BatchState, prefix: str) -> TaskState:
    try:
        return find_task(batch, prefix)
    except UserError as error:
        raise _map_lookup_error(error) from None


def resolve_batch_and_task(state: State, batch: str | None, task: str) -> tuple[BatchState, TaskState]:
    found_batch = resolve_batch(state, batch)
    return found_batch, resolve_task(found_batch, task)


def _map_lookup_error(error: UserError) -> UserError:
    if isinstance(error, AmbiguousNameError):
        return StateError(error.message, state="ambiguous", hint=error.hint)
    return NotFoundError(error.message, hint=error.hint)
