"""Small files that several engines read and write. Nothing is synced: what they tell of is gone after a crash of the machine."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

from msgspec import DecodeError

# What a file that somebody else wrote, or damaged, raises when it is decoded.
DAMAGED = (DecodeError, UnicodeError, RecursionError)
_MOST = 1 << 20  # bytes; no file of ours comes near it


def make_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def open_new(path: Path, how: int) -> int:
    """For the owner's eyes; no link is followed, and the folder is made if it has to be."""
    how |= os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, how, 0o600)
    except FileNotFoundError:
        make_folder(path.parent)
        return os.open(path, how, 0o600)


def open_there(path: Path | str) -> int:
    """For reading. Raise OSError if it is no regular file: a pipe of that name would keep us waiting for ever."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "this is not a regular file", str(path))
    return fd


def read(fd: int) -> bytes:
    return os.pread(fd, _MOST, 0)


def read_there(path: Path | str) -> bytes:
    fd = open_there(path)
    try:
        return read(fd)
    finally:
        os.close(fd)


def is_there(path: Path, fd: int) -> bool:
    """Whether the open file still goes by its name: a lock on one that was removed keeps nobody out."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def digest(*words: str) -> str:
    """A name that no other words have."""
    whole = "\0".join(f"{len(word)} {word}" for word in words)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def clean(text: str) -> str:
    """What a person can be shown, and JSON can hold, of any name."""
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    return shown.encode("utf-8", "replace").decode()


def make(path: Path, data: bytes) -> None:
    """Raise FileExistsError if there is one already. Nothing half-written stays."""
    fd = open_new(path, os.O_WRONLY | os.O_EXCL)
    try:
        _write(fd, data)
    except OSError:
        path.unlink(missing_ok=True)
        raise


def put(path: Path, data: bytes) -> None:
    """In one step: whoever reads has the old or the new one."""
    fresh = path.with_name(f"{path.name}.new")
    _write(open_new(fresh, os.O_WRONLY | os.O_TRUNC), data)
    fresh.replace(path)


def overwrite(path: Path, data: bytes) -> None:
    """In place, in one write of a page or less, which nobody's death cuts: much cheaper than a new file."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.pwrite(fd, data.ljust(os.fstat(fd).st_size), 0)
    finally:
        os.close(fd)


def _write(fd: int, data: bytes) -> None:
    """Close it too."""
    with open(fd, "wb") as file:
        file.write(data)
