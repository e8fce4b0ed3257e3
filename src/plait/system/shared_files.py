"""Small files that several engines read and write. Nothing is synced: what they tell of is gone after a crash of the machine."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

from msgspec import DecodeError

# What a file that somebody else wrote, or damaged, raises when it is decoded.
DECODE_ERRORS = (DecodeError, UnicodeError, RecursionError)
_MAX_BYTES = 1 << 20  # bytes; no file of ours comes near it


def ensure_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def open_or_create(path: Path, how: int) -> int:
    """For the owner's eyes; no link is followed, and the folder is made if it has to be."""
    how |= os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, how, 0o600)
    except FileNotFoundError:
        ensure_folder(path.parent)
        return os.open(path, how, 0o600)


def open_regular_file(path: Path | str) -> int:
    """For reading. Raise OSError if it is no regular file: a pipe of that name would keep us waiting for ever."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "this is not a regular file", str(path))
    return fd


def read_descriptor(fd: int) -> bytes:
    return os.pread(fd, _MAX_BYTES, 0)


def read_regular_file(path: Path | str) -> bytes:
    fd = open_regular_file(path)
    try:
        return read_descriptor(fd)
    finally:
        os.close(fd)


def is_same_file(path: Path, fd: int) -> bool:
    """Whether the open file still goes by its name: a lock on one that was removed keeps nobody out."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def digest_words(*words: str) -> str:
    """A name that no other words have."""
    whole = "\0".join(f"{len(word)} {word}" for word in words)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def make_printable(text: str) -> str:
    """What a person can be shown, and JSON can hold, of any name."""
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    return shown.encode("utf-8", "replace").decode()


def create_shared_file(path: Path, data: bytes) -> None:
    """Raise FileExistsError if there is one already. Nothing half-written stays."""
    fd = open_or_create(path, os.O_WRONLY | os.O_EXCL)
    try:
        _write_and_close(fd, data)
    except OSError:
        path.unlink(missing_ok=True)
        raise


def replace_shared_file(path: Path, data: bytes) -> None:
    """In one step: whoever reads has the old or the new one."""
    fresh = path.with_name(f"{path.name}.new")
    _write_and_close(open_or_create(fresh, os.O_WRONLY | os.O_TRUNC), data)
    fresh.replace(path)


def overwrite_in_place(path: Path, data: bytes) -> None:
    """In place, in one write of a page or less, which nobody's death cuts: much cheaper than a new file."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.pwrite(fd, data.ljust(os.fstat(fd).st_size), 0)
    finally:
        os.close(fd)


def _write_and_close(fd: int, data: bytes) -> None:
    """Close it too."""
    with open(fd, "wb") as file:
        file.write(data)
