"""The lock and the small files that a user's engines share. Nothing is synced: it is worthless after a reboot.

A process that was stopped while it held the lock would stop every engine. So each holder signs its turn, and waiting for one
turn is bounded: then an engine continues without the lock. It still sees what the others hold, since entries are written
whole; at worst two engines take the last slot at the same moment.
"""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path

from msgspec import DecodeError

from plait.system.atomic_files import make_private_folder
from plait.system.locks import flock_nowait, is_same_file

LOCK_TIMEOUT_SECONDS = 2.0  # seconds; on a busy machine a holder may be slow
_FIRST_PAUSE_SECONDS, _MAX_PAUSE_SECONDS = 0.0002, 0.01
_SIGNATURE_BYTES = 40


class SharedLock:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._stuck = b""  # the signature of a turn that is not waited for any more
        self._depth = 0
        self._fd: int | None = None

    @property
    def is_held(self) -> bool:
        return self._fd is not None

    @property
    def stuck_holder(self) -> str:
        """The process that holds the lock and is no longer waited for; empty if there is none."""
        return self._stuck.split(b" ")[0].decode("ascii", "replace")

    def acquire(self) -> None:
        """Check `is_held` afterwards: the holder may be stuck. Reentrant; release once for each call.

        Raises OSError if there can be no lock here.
        """
        self._depth += 1
        if self._depth == 1:
            self._fd = self._wait()

    def release(self) -> None:
        self._depth -= 1
        if self._depth == 0 and self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)

    def _wait(self) -> int | None:
        seen, since, pause = b"", time.monotonic(), _FIRST_PAUSE_SECONDS
        while True:
            fd, holder = self._try_acquire()
            if fd is not None:
                self._stuck = b""
                return fd
            if holder != seen:  # another process holds it now: the waiting time starts again
                seen, since = holder, time.monotonic()
            if holder == self._stuck or time.monotonic() - since > LOCK_TIMEOUT_SECONDS:
                self._stuck = holder
                return None
            time.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)

    def _try_acquire(self) -> tuple[int | None, bytes]:
        """The descriptor, or the signature of the holder."""
        fd = open_or_create(self.path, os.O_RDWR)
        try:
            if not flock_nowait(fd):
                holder = os.pread(fd, _SIGNATURE_BYTES, 0) or b"unknown"
            elif is_same_file(self.path, fd):
                self._write_signature(fd)
                return fd, b""
            else:
                holder = b"nobody"  # the file was removed meanwhile
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return None, holder

    @staticmethod
    def _write_signature(fd: int) -> None:
        with suppress(OSError):  # a full disk; others take us for slow, at worst
            os.pwrite(fd, f"{os.getpid()} {time.monotonic_ns()}\n".ljust(_SIGNATURE_BYTES).encode(), 0)


# What decoding a damaged or foreign file raises.
DECODE_ERRORS = (DecodeError, UnicodeError, RecursionError)
MAX_BYTES = 1 << 20  # no file of ours comes near it


def open_or_create(path: Path, how: int) -> int:
    """Mode 0600; follows no link, and creates the folder if needed."""
    how |= os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(path, how, 0o600)
    except FileNotFoundError:
        make_private_folder(path.parent)
        return os.open(path, how, 0o600)


def digest_words(*words: str) -> str:
    """A file name that is different for different words."""
    whole = "\0".join(f"{len(word)} {word}" for word in words)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def make_printable(text: str) -> str:
    """A name without characters that cannot be shown or encoded in JSON."""
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    return shown.encode("utf-8", "replace").decode()


def overwrite_in_place(path: Path, data: bytes) -> None:
    """Overwrite in one write of at most a page, which no crash cuts short; much cheaper than a new file."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.pwrite(fd, data.ljust(os.fstat(fd).st_size), 0)
    finally:
        os.close(fd)
