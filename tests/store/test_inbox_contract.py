from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.store.inbox import SqliteInbox, open_inbox
from plait.store.interfaces import Inbox
from plait.testing.contracts.inbox import InboxContract, OpenInbox, ReopenInbox
from tests.support.memory_store import MemoryInbox


class TestMemoryInbox(InboxContract):
    @pytest.fixture
    def fresh(self) -> OpenInbox:
        return MemoryInbox

    @pytest.fixture
    def again(self) -> ReopenInbox:
        return lambda inbox: inbox


class TestSqliteInbox(InboxContract):
    @pytest.fixture
    def fresh(self, tmp_path: Path) -> Iterator[OpenInbox]:
        made: list[SqliteInbox] = []

        def make() -> Inbox:
            made.append(open_inbox(tmp_path / str(len(made)) / "inbox.db"))
            return made[-1]

        yield make
        for inbox in made:
            inbox.close()

    @pytest.fixture
    def again(self) -> ReopenInbox:
        def open_again(inbox: Inbox) -> Inbox:
            assert isinstance(inbox, SqliteInbox)
            return open_inbox(inbox._path)

        return open_again
