"""Reading a file whole, and writing one that is whole before anybody sees it."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.sources.text import decode


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """A file as it was read. Not `whole`: somebody wrote into it meanwhile."""

    text: str
    stat: os.stat_result
    is_complete: bool


def read_snapshot(path: Path) -> FileSnapshot:
    # Not blocking: a pipe of that name would keep us waiting for ever.
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "this is not a regular file", str(path))
        with open(fd, "rb", closefd=False) as file:
            data = file.read()
        after = os.fstat(fd)
    finally:
        os.close(fd)
    return FileSnapshot(decode(data), after, is_unchanged(before, after) and len(data) == after.st_size)


def is_unchanged(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether nobody has replaced the file, or written into it, as far as the system can tell."""
    return os.path.samestat(one, other) and (one.st_mtime_ns, one.st_size) == (
        other.st_mtime_ns,
        other.st_size,
    )


def create_synced_file(path: Path, data: bytes, template: Path | None = None) -> os.stat_result:
    """A new file with this in it, on disk and read back, or none at all; with the mode and the owner of another one."""
    model = None if template is None else template.stat()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if model else 0o666)
    try:
        with open(fd, "wb") as file:  # noqa: PTH123 - it is open already
            file.write(data)
            file.flush()
            if model and template:
                _copy_metadata(fd, model, template)
            _sync(fd)
        _verify_content(path, data)
        return path.stat()
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _sync(fd)
    finally:
        os.close(fd)


def _verify_content(path: Path, data: bytes) -> None:
    if path.read_bytes() != data:
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


def _sync(fd: int) -> None:
    # On macOS fsync leaves the data in the disk's own cache.
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        os.fsync(fd)
    else:
        fcntl.fcntl(fd, full)
