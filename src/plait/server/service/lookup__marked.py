"""A reading with its mark: whoever listens from that mark on misses nothing that the reading does not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from plait.client.session import Session
from plait.server.event_buffer__mark import EventCursor
from plait.server.project_session import ProjectSession

T = TypeVar("T")


async def query_with_cursor(session: ProjectSession, read: Callable[[Session], T]) -> tuple[T, str]:
    """What is read at the desk, and an id for `Last-Event-ID`."""
    return await session.query(lambda desk: (read(desk), format_cursor(desk)))


def format_cursor(desk: Session) -> str:
    return str(EventCursor(desk.journal_id or "", desk.state.seq))
