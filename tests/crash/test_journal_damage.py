"""A real journal, cut and flipped: what comes back is what was written, or a typed refusal that changes nothing.

One thing more may happen, and only to the end of the WAL: the last commit is dropped, as after a crash.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from plait.core.decisions import TaskEnded
from plait.core.events import Record
from plait.core.reports import EngineTaken
from plait.core.status import TaskStatus
from plait.store.interfaces import JournalCorruptError, JournalNewerError
from plait.store.journal_reader import SqliteJournalReader, open_journal_reader
from plait.store.journal_writer import SqliteJournal, open_journal_writer
from plait.store.wal import FRAME_SIZE, HEADER_SIZE, scan_wal

DB, WAL = "journal.db", "journal.db-wal"
PARTS = 4

Settings = dict[str, str]
Content = tuple[list[Record], Settings]


@dataclass(frozen=True, slots=True)
class Commit:
    """How long the WAL was after it, and what the journal held."""

    wal: int
    content: Content


@dataclass(frozen=True, slots=True)
class Image:
    """The files as a crash leaves them, and every commit that is in the WAL; the first is what the WAL came after.

    `carried`: the journal's file after a checkpoint, the WAL being what it was.
    """

    files: dict[str, bytes]
    commits: Sequence[Commit]
    carried: bytes = b""

    @property
    def whole(self) -> Content:
        return self.commits[-1].content

    def allowed(self, place: int) -> Sequence[Content | None]:
        """What may come of damage that begins at this place of the WAL."""
        if place >= self.commits[-1].wal:
            return [self.whole]
        return [None] if place < self.commits[-2].wal else [None, self.commits[-2].content]

    def with_(self, name: str, data: bytes) -> dict[str, bytes]:
        return {**self.files, name: data}


def record(seq: int) -> Record:
    if seq % 3:
        return Record(seq, seq / 8, EngineTaken(seq, "host"))
    return Record(seq, seq / 8, TaskEnded("batch", f"task-{seq}", TaskStatus.FAILED, "because " * 10 * seq))


def crashed(folder: Path) -> Image:
    """With the end of the journal in a WAL."""
    path = folder / "made" / DB
    with closing(open_journal_writer(path)) as journal:
        journal.append([record(seq) for seq in range(1, 16)])
        journal.commit({"slots": "3", "order": '"fifo"'})
    with closing(open_journal_writer(path)) as journal:
        return in_a_wal(journal)


def worn(folder: Path) -> Image:
    """The same with a WAL that was longer before and was restarted from its beginning."""
    path = folder / "made" / DB
    with closing(open_journal_writer(path)) as journal:
        for seq in range(1, 16):
            journal.append([record(seq)])
        journal.commit({"slots": "3", "order": '"fifo"'})
        journal.checkpoint("PASSIVE")
        return in_a_wal(journal)


def in_a_wal(journal: SqliteJournal) -> Image:
    def commit() -> Commit:
        return Commit(HEADER_SIZE + scan_wal(path.with_name(WAL)).kept * FRAME_SIZE, content(journal))

    path = journal._path
    commits = [Commit(0, content(journal))]
    for first, last in [(16, 16), (17, 18), (19, 19)]:
        journal.append([record(seq) for seq in range(first, last + 1)])
        commits.append(commit())
    journal.commit({"slots": "4"})
    commits.append(commit())
    journal.append([record(seq) for seq in range(20, 22)])
    commits.append(commit())
    files = {name: path.with_name(name).read_bytes() for name in (DB, WAL)}
    journal.checkpoint("PASSIVE")
    assert path.with_name(WAL).read_bytes() == files[WAL]
    return Image(files, commits, carried=path.read_bytes())


def closed(folder: Path) -> Image:
    path = folder / "made" / DB
    with closing(open_journal_writer(path)) as journal:
        journal.append([record(seq) for seq in range(1, 15)])
        journal.commit({"slots": "3"})
        commits = [Commit(0, content(journal))]
    return Image({DB: path.read_bytes()}, commits)


def content(journal: SqliteJournalReader) -> Content:
    return list(journal.read()), dict(journal.settings())


def outcome(folder: Path, files: dict[str, bytes], *, sound: bool = False) -> Content | None:
    """What both a reader and a writer find, None where they refuse; a writer must not where all is sound."""
    read = _found(folder / "read", files, open_journal_reader, leaves={f"{DB}-shm", WAL})
    written = _found(folder / "written", files, open_journal_writer, leaves={f"{DB}.lock"})
    # A reader looks at the records only, a writer at the whole file.
    assert written == read or (written is None and not sound)
    return written if read is None else read


def _found(
    folder: Path, files: dict[str, bytes], opened: Callable[[Path], SqliteJournalReader], leaves: set[str]
) -> Content | None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    try:
        with closing(opened(folder / DB)) as journal:
            return content(journal)
    except (JournalCorruptError, JournalNewerError):
        assert {name: (folder / name).read_bytes() for name in files} == files
        assert {each.name for each in folder.iterdir()} <= {*files, *leaves}
        return None


def places(size: int, part: int, stride: int) -> range:
    """This part's share of every so many bytes; the strides are odd, so that no two pages are hit in the same places."""
    return range(part * stride, size, PARTS * stride)


def flipped(data: bytes, place: int) -> bytes:
    mask = Random(place).randrange(1, 256)
    return data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]


def zeroed(data: bytes, place: int, size: int) -> bytes:
    return (data[:place] + bytes(size) + data[place + size :])[: len(data)]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("make", [crashed, closed])
def test_a_flipped_byte_in_the_journal_is_detected(
    folder: Path, make: Callable[[Path], Image], part: int, *, long: bool
) -> None:
    image = make(folder)
    refused = 0
    for place in places(len(image.files[DB]), part, 1 if long else 97):
        found = outcome(folder, image.with_(DB, flipped(image.files[DB], place)))
        assert found in (None, image.whole), place
        refused += found is None
    assert refused


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("make", [crashed, worn])
def test_a_flipped_byte_in_the_wal_is_detected_or_an_earlier_journal(
    folder: Path, make: Callable[[Path], Image], part: int, *, long: bool
) -> None:
    image = make(folder)
    # What is behind that, in a worn one, is more of the same.
    end = min(len(image.files[WAL]), image.commits[-1].wal + 2 * FRAME_SIZE)
    for place in places(end, part, 1 if long else 149):
        found = outcome(folder, image.with_(WAL, flipped(image.files[WAL], place)))
        assert found in image.allowed(place), place


@pytest.mark.parametrize("size", [512, 4096])
@pytest.mark.parametrize("make", [crashed, closed])
def test_a_block_of_zeros_in_the_journal_is_detected(folder: Path, make: Callable[[Path], Image], size: int) -> None:
    image = make(folder)
    for place in range(0, len(image.files[DB]), size):
        found = outcome(folder, image.with_(DB, zeroed(image.files[DB], place, size)))
        assert found in (None, image.whole), place


@pytest.mark.parametrize("size", [512, 4096])
@pytest.mark.parametrize("make", [crashed, worn])
def test_a_block_of_zeros_in_the_wal_is_detected_or_an_earlier_journal(
    folder: Path, make: Callable[[Path], Image], size: int
) -> None:
    image = make(folder)
    for place in range(0, len(image.files[WAL]), size):
        data = zeroed(image.files[WAL], place, size)
        if data != image.files[WAL]:
            assert outcome(folder, image.with_(WAL, data)) in image.allowed(place), place


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("make", [crashed, worn])
def test_a_truncated_wal_is_an_earlier_journal(
    folder: Path, make: Callable[[Path], Image], part: int, *, long: bool
) -> None:
    image = make(folder)
    for size in places(image.commits[-1].wal + 1, part, 9 if long else 211):
        found = outcome(folder, image.with_(WAL, image.files[WAL][:size]), sound=True)
        expected = [commit.content for commit in image.commits if commit.wal <= size][-1]
        assert found == expected, size


@pytest.mark.parametrize("size", [512, 4096])
@pytest.mark.parametrize("make", [crashed, worn])
def test_a_crash_during_a_checkpoint_does_no_damage(folder: Path, make: Callable[[Path], Image], size: int) -> None:
    image = make(folder)
    before, after = image.files[DB], image.carried
    assert len(after) > len(before)
    for written in range(0, len(after) + 1, size):
        ahead = after[:written] + before[written:]
        assert outcome(folder, image.with_(DB, ahead), sound=True) == image.whole, written
        behind = before[:written] + after[written:]
        assert outcome(folder, image.with_(DB, behind), sound=True) == image.whole, written


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("make", [crashed, closed])
def test_a_truncated_journal_is_detected(folder: Path, make: Callable[[Path], Image], part: int, *, long: bool) -> None:
    image = make(folder)
    for size in places(len(image.files[DB]), part, 9 if long else 251):
        found = outcome(folder, image.with_(DB, image.files[DB][:size]))
        assert found in (None, image.whole), size
