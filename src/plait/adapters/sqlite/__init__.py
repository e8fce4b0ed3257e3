"""The journal and the inbox in SQLite files: `open_writer`, `open_reader`, `open_inbox`."""

from plait.adapters.sqlite.inbox import SqliteInbox, open_inbox
from plait.adapters.sqlite.journal import SqliteJournal, open_writer
from plait.adapters.sqlite.reader import SqliteReader, open_reader

__all__ = ["SqliteInbox", "SqliteJournal", "SqliteReader", "open_inbox", "open_reader", "open_writer"]
