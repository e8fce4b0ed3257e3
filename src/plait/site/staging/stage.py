"""The folder in a workspace where new and old contents lie: on the same file system, and nothing that git sees."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from plait.agents.jobs.paths import STAGE
from plait.site.staging.ground import FOLDER, Ground, StagingError
from plait.site.staging.layer import Layer, decode, encode

RECORD = "record"
_HIDES = ".gitignore"
_ALL = b"*\n"
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOR_ALL = 0o666
_MOST = 16 << 20  # bytes of a record


class Stage:
    """Made when something is first written; what it holds has no folders."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._fd: int | None = None

    @property
    def fd(self) -> int:
        assert self._fd is not None, "nothing was staged"
        return self._fd

    def open(self) -> bool:
        """The one that is there; false if there is none."""
        try:
            status = os.stat(STAGE, dir_fd=self._ground.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise StagingError(f"{STAGE} is in the way: plait needs this name for a folder of its own")
        self._fd = os.open(STAGE, FOLDER, dir_fd=self._ground.fd)
        if not self._ours():
            self.close()
            raise StagingError(f"{STAGE} is in the way: plait needs this name for a folder of its own")
        return True

    def make(self) -> None:
        if self._fd is None and not self.open():
            os.mkdir(STAGE, 0o700, dir_fd=self._ground.fd)
            self._fd = os.open(STAGE, FOLDER, dir_fd=self._ground.fd)
        if self._read(_HIDES) != _ALL:
            self.put(_HIDES, _ALL, 0o600)

    def put(self, name: str, data: bytes, mode: int | None = None) -> None:
        """Whole and on the disk, or not there."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.fd)
        fd = os.open(name, _FRESH, _FOR_ALL, dir_fd=self.fd)
        try:
            if mode is not None:
                os.fchmod(fd, mode)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            os.fsync(fd)
        except BaseException:
            self.discard(name)  # on a full disk, what is not whole only takes room
            raise
        finally:
            os.close(fd)

    def discard(self, *names: str) -> None:
        for name in names if self._fd is not None else ():
            with suppress(OSError):
                os.unlink(name, dir_fd=self._fd)

    def record(self, layers: list[Layer]) -> None:
        """From here on this is what a next process would take back."""
        if not layers:
            self.forget()
            return
        self.put(f"{RECORD}.new", encode(layers), 0o600)
        os.rename(f"{RECORD}.new", RECORD, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        os.fsync(self.fd)

    def recorded(self) -> list[Layer]:
        data = self._read(RECORD)
        return [] if data is None else decode(data)

    def forget(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(RECORD, dir_fd=self.fd)
        os.fsync(self.fd)

    def remove(self) -> None:
        """The record first, what hides the rest from git last; whoever dies here leaves what the next one removes."""
        if self._fd is None:
            return
        self.forget()
        names = [name for name in os.listdir(self._fd) if name != _HIDES]  # noqa: PTH208 - of a descriptor
        self.discard(*names, _HIDES)
        self.close()
        with suppress(OSError):
            os.rmdir(STAGE, dir_fd=self._ground.fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _ours(self) -> bool:
        """It hides itself from git, or somebody died before it did."""
        names, hides = set(os.listdir(self.fd)), self._read(_HIDES)  # noqa: PTH208 - of a descriptor
        return hides == _ALL or (names <= {_HIDES} and _ALL.startswith(hides or b""))

    def _read(self, name: str) -> bytes | None:
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        with os.fdopen(fd, "rb") as file:
            return file.read(_MOST)
