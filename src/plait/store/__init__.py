"""The journal and the inbox in SQLite files: `open_writer`, `open_reader`, `open_inbox`. Each is imported when it is named."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.store.inbox import SqliteInbox, open_inbox
    from plait.store.journal_reader import SqliteJournalReader, open_journal_reader
    from plait.store.journal_writer import SqliteJournal, open_journal_writer

__all__ = [
    "SqliteInbox",
    "SqliteJournal",
    "SqliteJournalReader",
    "open_inbox",
    "open_journal_reader",
    "open_journal_writer",
]

_HOMES = {
    "SqliteInbox": "inbox",
    "open_inbox": "inbox",
    "SqliteJournal": "journal",
    "open_writer": "journal",
    "SqliteReader": "reader",
    "open_reader": "reader",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
