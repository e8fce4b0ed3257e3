"""The only modules that name concrete adapters. This one has what every front needs; the others are for those who read
sources, are the engine, or look after things.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait.adapters.checkout.place import Place, find_place
from plait.core.frozen import dataclass

if TYPE_CHECKING:  # what a front needs of these is imported when it is needed: `plait status` is quick
    from plait.adapters.detached import Held  # noqa: TC004 - a name for type checkers only
    from plait.kit import Kit
    from plait.ports import Inbox, JournalReader
    from plait.site.folder import StateFolder

__all__ = ["EngineInfo", "Held", "Place", "find_place"]

JOURNAL = "journal.db"
INBOX = "inbox.db"
LOCKS = "locks"
LOG = "engine.log"
DOORBELL = "doorbell"
TROUBLE = "trouble"
HELD = "--held"
LOG_MOST = 1 << 20  # bytes; a longer log is put aside when an engine starts


def has_journal(place: Place) -> bool:
    return os.path.exists(place.state / JOURNAL)  # noqa: PTH110 - it never raises


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Who holds the lease, and since when. `trouble` is what keeps it from going on, if anything does."""

    pid: int
    since: float
    trouble: str = ""


def engine_of(place: Place) -> EngineInfo | None:
    from plait.adapters.sqlite import lock  # noqa: PLC0415 - only where there is a journal

    if not has_journal(place) or not lock.taken(place.state / JOURNAL):
        return None
    from plait.adapters import trouble  # noqa: PLC0415

    try:
        beside = lock.beside(place.state / JOURNAL)
        pid, since = int(beside.read_text() or 0), beside.stat().st_mtime
        return EngineInfo(pid, since, trouble.read(place.state / TROUBLE))
    except (OSError, ValueError):  # it is about to sign
        return EngineInfo(0, 0.0)


def start_engine(place: Place) -> int:
    """In a session of its own, so that no terminal ends it; the pid, at once. A second one leaves by itself."""
    from plait.adapters.detached import spawn  # noqa: PLC0415 - only for whoever starts one

    return spawn(_engine(place), place.state / LOG, most=LOG_MOST)


def warm_engine(place: Place) -> Held | None:
    """One that is ready to start, and touches nothing until it is told to go."""
    from plait.adapters.detached import hold  # noqa: PLC0415

    return hold([*_engine(place), HELD])


def may_go(place: Place) -> bool:
    """In such a one: wait for the word."""
    from plait.adapters.detached import await_word  # noqa: PLC0415

    return await_word(place.state / LOG, most=LOG_MOST)


def _engine(place: Place) -> list[str]:
    # Nothing that lies in the current folder is imported.
    return [sys.executable, "-P", "-m", "plait.process", str(place.state), str(place.top)]


def ring(place: Place) -> None:
    """If nobody hears it, an engine finds the request when it comes."""
    with suppress(OSError):
        fd = os.open(place.state / DOORBELL, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(fd, b".")
        finally:
            os.close(fd)


def journal_reader(place: Place) -> JournalReader:
    """Raises JournalMissingError where nothing was ever submitted."""
    from plait.adapters.sqlite import open_reader  # noqa: PLC0415

    return open_reader(place.state / JOURNAL)


def inbox(place: Place) -> Inbox:
    from plait.adapters.sqlite import open_inbox  # noqa: PLC0415

    return open_inbox(place.state / INBOX)


def commons_folder() -> Path:
    """What the user's engines share lies there."""
    from platformdirs import user_state_path  # noqa: PLC0415

    return user_state_path("plait") / "commons"


def state_folder(place: Place) -> StateFolder:
    from plait.site.folder import StateFolder as Folder  # noqa: PLC0415

    return Folder(place.state)


def save_kit(place: Place, batch: str, kit: Kit, environment: Mapping[str, str]) -> None:
    from plait.adapters import kits  # noqa: PLC0415

    kits.save(state_folder(place), batch, kit, environment)


def load_kit(place: Place, batch: str) -> Kit:
    """Raises KitError."""
    from plait.adapters import kits  # noqa: PLC0415

    return kits.load_kit(state_folder(place), batch)


def was_forgotten(place: Place, batch: str) -> bool:
    return os.path.lexists(state_folder(place).forgotten(batch))


def has_environment(place: Place, batch: str) -> bool:
    from plait.adapters import kits  # noqa: PLC0415

    return kits.has_environment(state_folder(place), batch)


def save_environment(place: Place, batch: str, environment: Mapping[str, str]) -> None:
    from plait.adapters import kits  # noqa: PLC0415

    kits.save_environment(state_folder(place), batch, environment)
