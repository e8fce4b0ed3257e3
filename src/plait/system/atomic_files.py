"""Private folders, files that appear whole or not at all, and reads that neither follow links nor block."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_TRUNCATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # opening a FIFO would block otherwise
_OTHERS_MODE = stat.S_IRWXG | stat.S_IRWXO
_UNSUPPORTED_ERRNOS = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


class NotPrivateError(PermissionError):
    """Other users can access the file, or it belongs to another user."""


def make_private_folder(folder: Path) -> None:
    """Create the folder and its missing parents with mode 0700."""
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
    except FileNotFoundError:
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_private_file(path: Path, content: str | bytes) -> None:
    """Overwrite a file in place, mode 0600. Not atomic: only for files that are read after the writer is done."""
    try:
        fd = os.open(path, _TRUNCATE_FLAGS, 0o600)
    except FileNotFoundError:
        make_private_folder(path.parent)
        fd = os.open(path, _TRUNCATE_FLAGS, 0o600)
    try:
        data = memoryview(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
        while data:
            data = data[os.write(fd, data) :]
    finally:
        os.close(fd)


def replace_file(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = False) -> None:
    """Replace or create the file atomically: readers see the old content or the new. A symlink is itself replaced.

    `durable`: on disk when this returns, as far as the file system can sync folders.
    """
    temp = _write_temp_file(path, data, mode, durable=durable)
    try:
        temp.replace(path)
    except BaseException:
        _unlink_quietly(temp)
        raise
    if durable:
        _fsync_parent(path)


def create_file(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = False) -> None:
    """Create the file with its whole content; FileExistsError if the name is taken, even by another writer just now."""
    temp = _write_temp_file(path, data, mode, durable=durable)
    try:
        path.hardlink_to(temp)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: claim the name, then fill it
        _write_new_file(path, data, mode, durable=durable)
    finally:
        _unlink_quietly(temp)
    if durable:
        _fsync_parent(path)


def _fsync_parent(path: Path) -> None:
    """Sync the file's folder if that is possible: some file systems can't, or don't allow it to this user."""
    with suppress(OSError):
        fsync_path(path.parent)


def fsync_path(path: Path) -> None:
    """Flush a file, or the names in a folder, to disk; no error where the file system has no such call for folders."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fsync_descriptor(fd)
    except OSError as error:
        if error.errno not in _UNSUPPORTED_ERRNOS:
            raise
    finally:
        os.close(fd)


def fsync_descriptor(fd: int) -> None:
    # On macOS fsync leaves the data in the disk's own cache; not all of its volumes know the other call.
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        with suppress(OSError):
            fcntl.fcntl(fd, full)
            return
    os.fsync(fd)


def open_regular_file(path: Path | str, *, follow_links: bool = False) -> int:
    """Open a file for reading and return the descriptor; OSError if this is not a regular file."""
    fd = os.open(path, _READ_FLAGS if follow_links else _READ_FLAGS | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return fd


def read_regular_file(path: Path | str, max_bytes: int = 1 << 20) -> bytes:
    """Read at most `max_bytes` of a file that another program may have put there; OSError as open_regular_file."""
    fd = open_regular_file(path)
    try:
        return os.pread(fd, max_bytes, 0)
    finally:
        os.close(fd)


def read_private_file(path: Path, max_bytes: int, *, follow_links: bool = False, must_own: bool = False) -> bytes:
    """Read at most `max_bytes` of a regular file that only its owner can access; NotPrivateError for any other."""
    fd = open_regular_file(path, follow_links=follow_links)
    try:
        status = os.fstat(fd)  # of the file that is read, even if its name changes meanwhile
        if status.st_mode & _OTHERS_MODE or (must_own and status.st_uid != os.geteuid()):
            raise NotPrivateError(errno.EACCES, "other users can access it", str(path))
        return os.pread(fd, max_bytes, 0)
    finally:
        os.close(fd)


def _write_temp_file(path: Path, data: bytes, mode: int, *, durable: bool) -> Path:
    temp = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    _write_new_file(temp, data, mode, durable=durable)
    return temp


def _write_new_file(path: Path, data: bytes, mode: int, *, durable: bool) -> None:
    fd = os.open(path, _CREATE_FLAGS, mode)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                fsync_descriptor(fd)
    except BaseException:
        _unlink_quietly(path)
        raise


def _unlink_quietly(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
