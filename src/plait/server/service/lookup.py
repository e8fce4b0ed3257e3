"""Which batch and which task are meant, as on the command line: an id, or the beginning of one that no other has.

A reading with its mark: whoever listens from that mark on misses nothing that the reading does not show.
"""

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


T = TypeVar("T")


async def query_with_cursor(session: ProjectSession, read: Callable[[Session], T]) -> tuple[T, str]:
    """What is read at the desk, and an id for `Last-Event-ID`."""
    return await session.query(lambda desk: (read(desk), format_cursor(desk)))


def format_cursor(desk: Session) -> str:
    return str(EventCursor(desk.journal_id or "", desk.state.seq))
