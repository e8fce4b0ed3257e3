"""The folder in a workspace where new and old contents lie: on the same file system, and nothing that git sees."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from plait.agents.model_jobs.safe_paths import STAGING_DIR
from plait.runtime.atomic_apply__layer import WriteLayer, decode_layers, encode_layers
from plait.runtime.workspace_files import FOLDER_FLAGS, StagingError, WorkspaceFolder

RECORD_FILE = "record"
_IGNORE_FILE = ".gitignore"
_IGNORE_ALL = b"*\n"
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DEFAULT_MODE = 0o666
_MAX_RECORD_BYTES = 16 << 20  # bytes of a record


class StagingFolder:
    """Made when something is first written; what it holds has no folders."""

    def __init__(self, folder: WorkspaceFolder) -> None:
        self._folder = folder
        self._fd: int | None = None

    @property
    def fd(self) -> int:
        assert self._fd is not None, "nothing was staged"
        return self._fd

    def open(self) -> bool:
        """The one that is there; false if there is none."""
        try:
            status = os.stat(STAGING_DIR, dir_fd=self._folder.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise StagingError(f"{STAGING_DIR} is in the way: plait needs this name for a folder of its own")
        self._fd = os.open(STAGING_DIR, FOLDER_FLAGS, dir_fd=self._folder.fd)
        if not self._is_ours():
            self.close()
            raise StagingError(f"{STAGING_DIR} is in the way: plait needs this name for a folder of its own")
        return True

    def make(self) -> None:
        if self._fd is None and not self.open():
            os.mkdir(STAGING_DIR, 0o700, dir_fd=self._folder.fd)
            self._fd = os.open(STAGING_DIR, FOLDER_FLAGS, dir_fd=self._folder.fd)
        if self._read(_IGNORE_FILE) != _IGNORE_ALL:
            self.put(_IGNORE_FILE, _IGNORE_ALL, 0o600)

    def put(self, name: str, data: bytes, mode: int | None = None) -> None:
        """Whole and on the disk, or not there."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.fd)
        fd = os.open(name, _CREATE_FLAGS, _DEFAULT_MODE, dir_fd=self.fd)
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

    def save_record(self, layers: list[WriteLayer]) -> None:
        """From here on this is what a next process would take back."""
        if not layers:
            self.remove_record()
            return
        self.put(f"{RECORD_FILE}.new", encode_layers(layers), 0o600)
        os.rename(f"{RECORD_FILE}.new", RECORD_FILE, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        os.fsync(self.fd)

    def load_record(self) -> list[WriteLayer]:
        data = self._read(RECORD_FILE)
        return [] if data is None else decode_layers(data)

    def remove_record(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(RECORD_FILE, dir_fd=self.fd)
        os.fsync(self.fd)

    def remove(self) -> None:
        """The record first, what hides the rest from git last; whoever dies here leaves what the next one removes."""
        if self._fd is None:
            return
        self.remove_record()
        names = [name for name in os.listdir(self._fd) if name != _IGNORE_FILE]  # noqa: PTH208 - of a descriptor
        self.discard(*names, _IGNORE_FILE)
        self.close()
        with suppress(OSError):
            os.rmdir(STAGING_DIR, dir_fd=self._folder.fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _is_ours(self) -> bool:
        """It hides itself from git, or somebody died before it did."""
        names, hides = set(os.listdir(self.fd)), self._read(_IGNORE_FILE)  # noqa: PTH208 - of a descriptor
        return hides == _IGNORE_ALL or (names <= {_IGNORE_FILE} and _IGNORE_ALL.startswith(hides or b""))

    def _read(self, name: str) -> bytes | None:
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        with os.fdopen(fd, "rb") as file:
            return file.read(_MAX_RECORD_BYTES)
