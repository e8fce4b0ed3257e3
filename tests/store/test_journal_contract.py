from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.store.interfaces import Journal, JournalReader
from plait.store.journal_reader import SqliteJournalReader, open_journal_reader
from plait.store.journal_writer import SqliteJournal, open_journal_writer
from plait.testing.contracts.journal import JournalContract, OpenJournal, OpenReader
from tests.support.memory_store import MemoryJournal


class TestMemoryJournal(JournalContract):
    @pytest.fixture
    def fresh(self) -> OpenJournal:
        return MemoryJournal

    @pytest.fixture
    def reader_of(self) -> OpenReader:
        return lambda journal: journal


class TestSqliteJournal(JournalContract):
    @pytest.fixture
    def fresh(self, tmp_path: Path) -> Iterator[OpenJournal]:
        made: list[SqliteJournal] = []

        def make() -> Journal:
            made.append(open_journal_writer(tmp_path / str(len(made)) / "journal.db"))
            return made[-1]

        yield make
        for journal in made:
            journal.close()

    @pytest.fixture
    def reader_of(self) -> OpenReader:
        def open_one(journal: Journal) -> JournalReader:
            assert isinstance(journal, SqliteJournalReader)
            return open_journal_reader(journal._path)

        return open_one
