"""Reads complete files, writes synced ones, and exchanges two files.

The exchange is atomic where the system supports it (Linux: renameat2, macOS: renamex_np): whatever was at the path,
however late it was put there, is kept under the other name. Elsewhere it takes three steps with a weaker guarantee: the
path always has a complete file, and a version written in place is kept, but one renamed there between two steps is
lost.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.sources.text import decode
from plait.system.atomic_files import fsync_descriptor, open_regular_file


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file as it was read; not `is_complete` if it was written to meanwhile."""

    text: str
    stat: os.stat_result
    is_complete: bool


def read_snapshot(path: Path) -> FileSnapshot:
    fd = open_regular_file(path, follow_links=True)
    try:
        before = os.fstat(fd)
        with open(fd, "rb", closefd=False) as file:
            data = file.read()
        after = os.fstat(fd)
    finally:
        os.close(fd)
    return FileSnapshot(decode(data), after, is_unchanged(before, after) and len(data) == after.st_size)


def is_unchanged(before: os.stat_result, after: os.stat_result) -> bool:
    """Whether the file was neither replaced nor written to, as far as its status shows."""
    same_content = (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
    return os.path.samestat(before, after) and same_content


def create_synced_file(path: Path, data: bytes, template: Path | None = None) -> os.stat_result:
    """Create a file, synced and read back, or none at all; with mode and owner of `template`."""
    model = None if template is None else template.stat()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if model else 0o666)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if model and template:
                _copy_metadata(fd, model, template)
            fsync_descriptor(fd)
        if path.read_bytes() == data:
            return path.stat()
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    path.unlink()
    raise OSError(errno.EIO, "what was written reads back differently", str(path))


def _copy_metadata(fd: int, model: os.stat_result, like: Path) -> None:
    for owner, group in ((-1, model.st_gid), (model.st_uid, -1)):
        with suppress(OSError):  # only root may give a file away
            os.fchown(fd, owner, group)
    os.fchmod(fd, stat.S_IMODE(model.st_mode))
    if sys.platform == "linux":  # access lists and labels
        with suppress(OSError):
            for name in os.listxattr(like):
                with suppress(OSError):
                    os.setxattr(fd, name, os.getxattr(like, name))


_UNSUPPORTED_ERRNOS = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
_AT_FDCWD = -100
_SWAP = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS


def exchange_files(temp: Path, path: Path) -> None:
    """Put `temp` at `path`, which must exist; afterwards `temp` names what was there."""
    if not _exchange_atomically(temp, path):
        _exchange_in_steps(temp, path)


def link_new_file(temp: Path, path: Path) -> None:
    """Put `temp` at `path`; FileExistsError if that exists, even if it was created just now."""
    try:
        os.link(temp, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        temp.replace(path)


def finish_exchange(temp: Path) -> None:
    """Complete a three-step exchange that a crash interrupted."""
    aside = _backup_path(temp)
    if aside.exists():
        if temp.exists():
            aside.unlink()
        else:
            aside.rename(temp)


def _exchange_atomically(temp: Path, path: Path) -> bool:
    """Exchange the files in one step; False where the system cannot do this."""
    call = _system_call()
    if call is None:
        return False
    if call(os.fsencode(temp), os.fsencode(path)) == 0:
        return True
    error = ctypes.get_errno()
    if error in _UNSUPPORTED_ERRNOS:
        return False
    raise OSError(error, os.strerror(error), str(path))


@cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        return lambda temp, path: libc.renamex_np(temp, path, _SWAP)
    if not hasattr(libc, "renameat2"):
        return None
    return lambda temp, path: libc.renameat2(_AT_FDCWD, temp, _AT_FDCWD, path, _SWAP)


def _exchange_in_steps(temp: Path, path: Path) -> None:
    aside = _backup_path(temp)
    try:
        os.link(path, aside)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        shutil.copy2(path, aside)
    try:
        temp.replace(path)
    except BaseException:
        aside.unlink()
        raise
    aside.rename(temp)


def _backup_path(temp: Path) -> Path:
    return temp.with_name(f"{temp.name}~")
