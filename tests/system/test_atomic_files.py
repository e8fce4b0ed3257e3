from __future__ import annotations

import errno
import os
import resource
import signal
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from plait.system.atomic_files import NotPrivateError, create_file, read_private_file, read_regular_file, replace_file

NOBODY = 65534


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may grow beyond a hundred bytes: as on a full disk, a write stops half-way."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_has_the_mode_of_others(tmp_path: Path) -> None:
    path = tmp_path / "new"
    (tmp_path / "other").touch()
    create_file(path, "text é\n".encode(), mode=0o666)
    assert path.read_bytes() == "text é\n".encode()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    assert names(tmp_path) == ["new", "other"]


def test_creating_an_existing_file_fails_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(FileExistsError):
        create_file(path, b"new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_dangling_link_counts_as_existing(tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to("elsewhere")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "file", b"new")
    assert not (tmp_path / "elsewhere").exists()


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a longer old text")
    replace_file(path, b"new")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["file"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "file").symlink_to("theirs")
    replace_file(tmp_path / "file", b"ours")
    assert (tmp_path / "theirs").read_text() == "theirs"
    assert not (tmp_path / "file").is_symlink()


def test_one_of_many_concurrent_creators_wins(tmp_path: Path) -> None:
    path = tmp_path / "file"
    start = Barrier(8)

    def run(number: int) -> bool:
        start.wait()
        try:
            create_file(path, f"{number}".encode() * 10_000)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(run, range(8)))
    assert won.count(True) == 1
    assert path.read_text() == f"{won.index(True)}" * 10_000
    assert names(tmp_path) == ["file"]


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("replace", [False, True])
def test_a_full_disk_leaves_everything_unchanged(tmp_path: Path, *, replace: bool) -> None:
    if replace:
        (tmp_path / "file").write_text("old")
    before = names(tmp_path)
    with pytest.raises(OSError, match="too large"):
        (replace_file if replace else create_file)(tmp_path / "file", b"new" * 1000, durable=True)
    assert names(tmp_path) == before
    assert not replace or (tmp_path / "file").read_text() == "old"


def no_links(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_a_file_is_created_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", no_links)
    create_file(tmp_path / "file", b"new")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "file", b"newer")
    assert (tmp_path / "file").read_text() == "new"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EBADF, errno.EACCES, errno.EIO])
def test_a_file_is_written_where_folders_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    sync = os.fsync

    def sync_files_only(fd: int) -> None:
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            raise OSError(number, os.strerror(number))
        sync(fd)

    monkeypatch.setattr(os, "fsync", sync_files_only)
    create_file(tmp_path / "file", b"old", durable=True)
    replace_file(tmp_path / "file", b"new", durable=True)
    assert (tmp_path / "file").read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


def test_a_file_that_cannot_be_synced_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, "broken disk")

    (tmp_path / "file").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="broken disk"):
        replace_file(tmp_path / "file", b"new", durable=True)
    assert (tmp_path / "file").read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_a_volume_without_a_full_sync_is_synced_as_usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOTSUP, "not supported")

    synced: list[int] = []
    monkeypatch.setattr("fcntl.F_FULLFSYNC", 51, raising=False)  # as on macOS
    monkeypatch.setattr("fcntl.fcntl", refuse)
    monkeypatch.setattr(os, "fsync", synced.append)
    replace_file(tmp_path / "file", b"new", durable=True)
    assert (tmp_path / "file").read_bytes() == b"new"
    assert len(synced) == 2  # the file and its folder


def test_a_read_only_folder_is_an_error(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    tmp_path.chmod(0o555)
    root = os.geteuid() == 0
    if root:  # whom nothing is forbidden
        os.seteuid(NOBODY)
    try:
        with pytest.raises(PermissionError):
            create_file(tmp_path / "file", b"new")
    finally:
        if root:
            os.seteuid(0)
        tmp_path.chmod(0o755)
    assert names(tmp_path) == []


def test_by_default_only_the_owner_can_access_a_file(tmp_path: Path) -> None:
    create_file(tmp_path / "one", b"")
    replace_file(tmp_path / "two", b"")
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_a_private_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    create_file(tmp_path / "file", b"secret")
    assert read_private_file(tmp_path / "file", 4) == b"secr"


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o604, 0o601])
def test_a_file_that_others_can_access_is_not_read_as_private(tmp_path: Path, mode: int) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(mode)
    with pytest.raises(NotPrivateError):
        read_private_file(tmp_path / "file", 4)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_read_as_our_own(tmp_path: Path) -> None:
    create_file(tmp_path / "file", b"theirs")
    os.chown(tmp_path / "file", NOBODY, NOBODY)
    assert read_private_file(tmp_path / "file", 100) == b"theirs"
    with pytest.raises(NotPrivateError):
        read_private_file(tmp_path / "file", 100, must_own=True)


def test_neither_links_nor_pipes_are_read(tmp_path: Path) -> None:
    create_file(tmp_path / "file", b"text")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "."):
        with pytest.raises(OSError):  # noqa: PT011 - each has an errno of its own
            read_regular_file(tmp_path / name)
    (tmp_path / "file").chmod(0o600)
    assert read_private_file(tmp_path / "link", 100, follow_links=True) == b"text"
