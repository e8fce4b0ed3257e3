"""A real journal, cut and flipped: what comes back is what was written, or a typed refusal that changes nothing.

One thing more may happen, and only to the end of the WAL: the last commit is dropped, as after a crash.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from plait.adapters.sqlite import SqliteReader, open_reader, open_writer
from plait.core.decisions import TaskEnded
from plait.core.events import Record
from plait.core.reports import EngineTaken
from plait.core.status import TaskStatus
from plait.ports import JournalCorruptError, JournalNewerError

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
    """The files as a crash leaves them, and every commit that is in the WAL; the first is what the WAL came after."""

    files: dict[str, bytes]
    commits: Sequence[Commit]

    @property
    def whole(self) -> Content:
        return self.commits[-1].content

    def with_(self, name: str, data: bytes) -> dict[str, bytes]:
        return {**self.files, name: data}


def record(seq: int) -> Record:
    if seq % 3:
        return Record(seq, seq / 8, EngineTaken(seq, "host"))
    return Record(seq, seq / 8, TaskEnded("batch", f"task-{seq}", TaskStatus.FAILED, "because " * 15 * seq))


def crashed(folder: Path) -> Image:
    path = folder / "made" / DB
    with closing(open_writer(path)) as journal:
        journal.append([record(seq) for seq in range(1, 16)])
        journal.save_settings({"slots": "3", "order": '"fifo"'})
    with closing(open_writer(path)) as journal:
        commits = [Commit(0, content(journal))]
        for first, last in [(16, 16), (17, 20), (21, 21), (22, 23)]:
            journal.append([record(seq) for seq in range(first, last + 1)])
            commits.append(Commit(path.with_name(WAL).stat().st_size, content(journal)))
        journal.save_settings({"slots": "4"})
        commits.append(Commit(path.with_name(WAL).stat().st_size, content(journal)))
        journal.append([record(seq) for seq in range(24, 26)])
        commits.append(Commit(path.with_name(WAL).stat().st_size, content(journal)))
        return Image({name: path.with_name(name).read_bytes() for name in (DB, WAL)}, commits)


def closed(folder: Path) -> Image:
    path = folder / "made" / DB
    with closing(open_writer(path)) as journal:
        journal.append([record(seq) for seq in range(1, 15)])
        journal.save_settings({"slots": "3"})
        commits = [Commit(0, content(journal))]
    return Image({DB: path.read_bytes()}, commits)


def content(journal: SqliteReader) -> Content:
    return list(journal.read()), dict(journal.settings())


def outcome(folder: Path, files: dict[str, bytes]) -> Content | None:
    """What both a reader and a writer find, None where they refuse."""
    read = _found(folder / "read", files, open_reader, leaves={f"{DB}-shm", WAL})
    written = _found(folder / "written", files, open_writer, leaves={f"{DB}.lock"})
    # A reader looks at the records only, a writer at the whole file.
    assert written is None or written == read
    return written if read is None else read


def _found(
    folder: Path, files: dict[str, bytes], opened: Callable[[Path], SqliteReader], leaves: set[str]
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


def places(size: int, part: int, stride: int, *, long: bool) -> Iterator[int]:
    """Every byte in the long form; else some of every region, and never the same ones of neighbouring pages."""
    yield from range(part if long else part * stride, size, PARTS if long else PARTS * stride)


def flipped(data: bytes, place: int) -> bytes:
    mask = Random(place).randrange(1, 256)
    return data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]


def zeroed(data: bytes, place: int, size: int) -> bytes:
    return (data[:place] + bytes(size) + data[place + size :])[: len(data)]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("make", [crashed, closed])
def test_a_flipped_byte_of_the_file(
    folder: Path, make: Callable[[Path], Image], part: int, *, long: bool
) -> None:
    image = make(folder)
    refused = 0
    for place in places(len(image.files[DB]), part, 97, long=long):
        found = outcome(folder, image.with_(DB, flipped(image.files[DB], place)))
        assert found in (None, image.whole), place
        refused += found is None
    assert refused


@pytest.mark.parametrize("part", range(PARTS))
def test_a_flipped_byte_of_the_wal(folder: Path, part: int, *, long: bool) -> None:
    image = crashed(folder)
    last_safe, end = image.commits[-2].wal, image.commits[-1].wal
    for place in places(end, part, 149, long=long):
        found = outcome(folder, image.with_(WAL, flipped(image.files[WAL], place)))
        assert found is None or (place >= last_safe and found == image.commits[-2].content), place


@pytest.mark.parametrize("size", [512, 4096])
@pytest.mark.parametrize("make", [crashed, closed])
def test_a_block_of_zeros_in_the_file(folder: Path, make: Callable[[Path], Image], size: int) -> None:
    image = make(folder)
    for place in range(0, len(image.files[DB]), size):
        found = outcome(folder, image.with_(DB, zeroed(image.files[DB], place, size)))
        assert found in (None, image.whole), place


@pytest.mark.parametrize("size", [512, 4096])
def test_a_block_of_zeros_in_the_wal(folder: Path, size: int) -> None:
    image = crashed(folder)
    last_safe, end = image.commits[-2].wal, image.commits[-1].wal
    for place in range(0, end, size):
        data = zeroed(image.files[WAL], place, size)
        if data == image.files[WAL]:
            continue
        found = outcome(folder, image.with_(WAL, data))
        assert found is None or (place >= last_safe and found == image.commits[-2].content), place


@pytest.mark.parametrize("part", range(PARTS))
def test_a_cut_wal_is_an_earlier_journal(folder: Path, part: int, *, long: bool) -> None:
    image = crashed(folder)
    for size in places(image.commits[-1].wal + 1, part, 211, long=long):
        found = outcome(folder, image.with_(WAL, image.files[WAL][:size]))
        expected = [commit.content for commit in image.commits if commit.wal <= size][-1]
        assert found == expected, size


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("make", [crashed, closed])
def test_a_cut_file(folder: Path, make: Callable[[Path], Image], part: int, *, long: bool) -> None:
    image = make(folder)
    for size in places(len(image.files[DB]), part, 251, long=long):
        found = outcome(folder, image.with_(DB, image.files[DB][:size]))
        assert found in (None, image.whole), size
