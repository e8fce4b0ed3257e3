"""Find a batch or task by its id or a unique prefix, and read with a cursor for the event stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from plait.client.api_errors import NotFoundError, StateError
from plait.client.batch_lookup import find_batch, find_task
from plait.client.session import Session
from plait.core.errors import UserError
from plait.core.state import BatchState, State, TaskState
from plait.server.event_buffer import EventCursor
from plait.server.project_session import ProjectSession

T = TypeVar("T")

AMBIGUOUS_STATE = "ambiguous"


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
        return StateError(error.message, state=AMBIGUOUS_STATE, hint=error.hint)
    return NotFoundError(error.message, hint=error.hint)


async def query_with_cursor(session: ProjectSession, read: Callable[[Session], T]) -> tuple[T, str]:
    """What `read` returns, and the `Last-Event-ID` from which events follow without a gap."""
    return await session.query(
        lambda client: (read(client), str(EventCursor(client.journal_id or "", client.state.seq)))
    )
