"""A reading with its mark: whoever listens from that mark on misses nothing that the reading does not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from plait.front.desk import Desk
from plait.server.mark import Mark
from plait.server.office import Office

T = TypeVar("T")


async def marked(office: Office, read: Callable[[Desk], T]) -> tuple[T, str]:
    """What is read at the desk, and an id for `Last-Event-ID`."""
    return await office.look(lambda desk: (read(desk), mark_of(desk)))


def mark_of(desk: Desk) -> str:
    return str(Mark(desk.journal_id or "", desk.state.seq))
