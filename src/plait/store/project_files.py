"""The only modules that name concrete adapters. This one has what every front needs; the others are for those who read
sources, are the engine, or look after things.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from plait.git.location import RepoLocation

if TYPE_CHECKING:
    from plait.store.batch_inputs import BatchInputs
    from plait.store.interfaces import Inbox, JournalReader
    from plait.system.state_paths import StateFolder


JOURNAL_FILE = "journal.db"


INBOX_FILE = "inbox.db"


LOCKS_FOLDER = "locks"


def has_journal(place: RepoLocation) -> bool:
    return os.path.exists(place.state / JOURNAL_FILE)  # noqa: PTH110 - it never raises


def open_project_journal(place: RepoLocation) -> JournalReader:
    """Raises JournalMissingError where nothing was ever submitted."""
    from plait.store.journal_reader import open_journal_reader

    return open_journal_reader(place.state / JOURNAL_FILE)


def open_project_inbox(place: RepoLocation) -> Inbox:
    from plait.store.inbox import open_inbox

    return open_inbox(place.state / INBOX_FILE)


def open_state_paths(place: RepoLocation) -> StateFolder:
    from plait.system.state_paths import StateFolder as Folder

    return Folder(place.state)


def save_batch_inputs(place: RepoLocation, batch: str, kit: BatchInputs, environment: Mapping[str, str]) -> None:
    from plait.store import batch_files

    batch_files.write_batch_files(open_state_paths(place), batch, kit, environment)


def load_batch_inputs(place: RepoLocation, batch: str) -> BatchInputs:
    """Raises KitError."""
    from plait.store import batch_files

    return batch_files.read_batch_inputs(open_state_paths(place), batch)


def is_batch_forgotten(place: RepoLocation, batch: str) -> bool:
    return os.path.lexists(open_state_paths(place).forgotten_marker(batch))


def has_batch_environment(place: RepoLocation, batch: str) -> bool:
    from plait.store import batch_files

    return batch_files.has_environment(open_state_paths(place), batch)


def save_batch_environment(place: RepoLocation, batch: str, environment: Mapping[str, str]) -> None:
    from plait.store import batch_files

    batch_files.write_batch_environment(open_state_paths(place), batch, environment)
