"""One engine at a time looks and takes. Nobody holds this for longer than it takes to decide.

A process that was stopped while it held the lock would stop every engine. So patience with one holder is bounded, which is
why each signs its turn: after it, an engine goes on without the lock. It still sees what the others hold, since entries are
read, and written, whole; all that is lost is that two may take the last slot in the same moment.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from plait.system import shared_files

LOCK_TIMEOUT_SECONDS = 2.0  # seconds; on a busy machine somebody may be slow
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
        """The process that has it and is not waited for; empty if there is none."""
        return self._stuck.split(b" ")[0].decode("ascii", "replace")

    def acquire(self) -> None:
        """Ask `mine` whether that went well: it may be stuck. A second time, inside, is the same lock.

        Raise OSError if there can be no lock here. In any case it is released once for each time.
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
            if holder != seen:  # it goes from hand to hand
                seen, since = holder, time.monotonic()
            if holder == self._stuck or time.monotonic() - since > LOCK_TIMEOUT_SECONDS:
                self._stuck = holder
                return None
            time.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE_SECONDS)

    def _try_acquire(self) -> tuple[int | None, bytes]:
        """It, or the signature of who has it."""
        fd = shared_files.open_or_create(self.path, os.O_RDWR)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if shared_files.is_same_file(self.path, fd):
                self._write_signature(fd)
                return fd, b""
            holder = b"nobody"  # the file was removed meanwhile
        except BlockingIOError:
            holder = os.pread(fd, _SIGNATURE_BYTES, 0) or b"unknown"
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return None, holder

    @staticmethod
    def _write_signature(fd: int) -> None:
        with suppress(OSError):  # a full disk; others take us for slow, at worst
            os.pwrite(fd, f"{os.getpid()} {time.monotonic_ns()}\n".ljust(_SIGNATURE_BYTES).encode(), 0)
