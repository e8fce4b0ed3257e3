"""Open a project's journal, inbox and batch files. Imports are lazy: `plait status` starts with this module."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from plait.git.location import RepoLocation

if TYPE_CHECKING:
    from plait.store.batch_files import BatchInputs
    from plait.store.interfaces import Inbox, JournalReader
    from plait.system.state_paths import StateFolder


JOURNAL_FILE = "journal.db"
INBOX_FILE = "inbox.db"
LOCKS_FOLDER = "locks"


def has_journal(location: RepoLocation) -> bool:
    return os.path.lexists(location.state / JOURNAL_FILE)


def open_project_journal(location: RepoLocation) -> JournalReader:
    """Open the journal for reading; raises JournalMissingError if nothing was ever submitted."""
    from plait.store.journal_reader import open_journal_reader

    return open_journal_reader(location.state / JOURNAL_FILE)


def open_project_inbox(location: RepoLocation) -> Inbox:
    from plait.store.inbox import open_inbox

    return open_inbox(location.state / INBOX_FILE)


def open_state_paths(location: RepoLocation) -> StateFolder:
    from plait.system.state_paths import StateFolder as Folder

    return Folder(location.state)


def load_batch_inputs(location: RepoLocation, batch: str) -> BatchInputs:
    """Read the inputs of a batch; raises BatchInputsError."""
    from plait.store import batch_files

    return batch_files.read_batch_inputs(open_state_paths(location), batch)
