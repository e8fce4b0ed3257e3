"""How much an attempt has written to the disk, whatever it calls its files, and when that is too much."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from plait.runtime.sandbox.disk_watch import (
    FILES_FACTOR,
    DiskWatch,
    list_descendants,
    measure_deleted_files,
    measure_new_files,
    write_watch,
)
from plait.system.disk import remove_tree
from tests.support.deep_folder import make_deep_folder

MB = 1 << 20
USER = os.geteuid() or 65534


def find_change(path: Path) -> int:
    return path.stat().st_ctime_ns


def write(path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(size))


def test_new_files_count_whatever_their_times_and_names_are(tmp_path: Path) -> None:
    write(tmp_path / "start", 1)
    write(tmp_path / "a" / "b" / "new", MB)
    write(tmp_path / "old time", MB)
    os.utime(tmp_path / "old time", (0, 0))
    os.link(tmp_path / "old time", tmp_path / "again")
    (tmp_path / "link").symlink_to("/")
    found = sum(measure_new_files([str(tmp_path), str(tmp_path / "gone")], find_change(tmp_path / "start")).values())
    assert 2 * MB <= found < 3 * MB


def test_what_was_there_before_does_not_count(tmp_path: Path) -> None:
    write(tmp_path / "old", MB)
    assert measure_new_files([str(tmp_path)], find_change(tmp_path / "old") + 1) == {}


def test_endlessly_many_folders_are_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    assert sum(measure_new_files([str(tmp_path)], 0).values()) < MB
    monkeypatch.setattr("plait.runtime.sandbox.disk_watch._MAX_FOLDERS", 5)
    assert sum(measure_new_files([str(tmp_path)], 0).values()) > MB


@pytest.mark.parametrize("mode", [0o000, 0o300, 0o400])
def test_files_in_a_folder_that_its_owner_may_not_read_count(mode: int) -> None:
    with TemporaryDirectory() as folder:
        top = Path(folder)
        write(top / "a" / "b" / "new", MB)
        for path in (top / "a" / "b" / "new", top / "a" / "b", top / "a", top):
            os.chown(path, USER, -1)
            path.chmod(mode)
        top.chmod(0o700)
        assert measure_as_user(top) >= MB


def measure_as_user(folder: Path) -> int:
    """As somebody for whom modes count."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(Exception):
            os.setresuid(USER, USER, USER)
            os.write(write, str(sum(measure_new_files([str(folder)], 0).values())).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as file:
        return int(file.read() or 0)


def test_files_whose_path_is_too_long_count(tmp_path: Path) -> None:
    make_deep_folder(tmp_path / "deep", 1500)
    assert sum(measure_new_files([str(tmp_path)], 0).values()) > 1 << 60
    remove_tree(tmp_path / "deep")


def test_an_open_file_without_a_name_counts(tmp_path: Path) -> None:
    with (tmp_path / "gone").open("wb", buffering=0) as file:
        file.write(os.urandom(MB))
        devices = {os.fstat(file.fileno()).st_dev}
        (tmp_path / "gone").unlink()
        assert sum(measure_deleted_files(os.getpid(), devices).values()) >= MB
        assert measure_deleted_files(os.getpid(), set()) == {}
    assert sum(measure_deleted_files(os.getpid(), devices).values()) < MB


def test_all_processes_below_one_are_found() -> None:
    assert {os.getpid(), os.getppid()} <= {*list_descendants(os.getppid())}
    assert os.getppid() not in list_descendants(os.getpid())
    assert [*list_descendants(0)] == []


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[int, int]:
    """What the disk says is free, which other processes change."""
    left = {0: 100 * MB}
    monkeypatch.setattr(DiskWatch, "_read_free", lambda _: {**left})
    return left


def test_files_are_looked_at_when_the_attempt_could_have_written_too_much(
    tmp_path: Path, free: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "private").mkdir()
    folder = tmp_path / "work"
    write_watch(tmp_path / "private", MB, [str(folder), str(folder), "/with\na line break"])
    write(folder / "0", MB)
    watch = DiskWatch.load(tmp_path / "private", 0)
    assert watch is not None
    assert watch.limit == FILES_FACTOR * MB
    looks: list[int] = []

    def look(folders: list[str], since_ns: int) -> dict[tuple[int, int], int]:
        looks.append(1)
        return measure_new_files(folders, since_ns)

    monkeypatch.setattr("plait.runtime.sandbox.disk_watch.measure_new_files", look)
    assert not watch.is_exceeded()
    assert looks == []
    free[0] -= FILES_FACTOR * MB + 1  # by others
    assert not watch.is_exceeded()
    assert not watch.is_exceeded()
    assert len(looks) == 1  # again when it could have written the rest
    for name in range(1, FILES_FACTOR + 1):
        write(folder / str(name), MB)
    free[0] -= FILES_FACTOR * MB
    assert watch.is_exceeded()


def test_without_a_limit_nothing_is_watched(tmp_path: Path) -> None:
    assert DiskWatch.load(tmp_path, 0) is None
