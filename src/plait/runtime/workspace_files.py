"""Accesses a workspace through a descriptor: no link is followed on the way to a file, whatever is renamed meanwhile.

Also handles a file's line endings and byte order mark, which a new text keeps.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plait.agents.model_jobs.safe_paths import PathRefusal, normalize_path
from plait.core.errors import WorldError

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_FILE_BYTES = 8 << 20  # bytes of a file that is read
_LOCK_BUSY = {errno.EWOULDBLOCK, errno.EAGAIN}


class StagingError(WorldError):
    """An error in staging files. The call that raises it changed nothing, unless the message says so."""


class FileChangedError(StagingError):
    """A file was changed since it was read here, so that the new text no longer fits."""


class WorkspaceFolder:
    """A workspace's folder. It stays the same folder even if it is renamed or replaced by a link. Only one process at a
    time can open it.
    """

    def __init__(self, workspace: Path) -> None:
        try:
            self.fd = os.open(workspace, FOLDER_FLAGS & ~os.O_NOFOLLOW)
        except OSError as error:
            raise StagingError(f"the workspace can't be opened: {error.strerror}") from error
        self._device = os.fstat(self.fd).st_dev
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _LOCK_BUSY:  # some network file systems have no locks
                os.close(self.fd)
                raise StagingError("another process writes to this workspace already") from error

    def close(self) -> None:
        os.close(self.fd)

    @contextmanager
    def open_parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Open a file's folder; yield its descriptor, and the file's name there. Raises FileNotFoundError if the folder
        is missing.
        """
        *above, name = check_path(path).split("/")
        at = os.dup(self.fd)
        try:
            for part in above:
                inner = self._open_inner(at, part, path, make=make)
                os.close(at)
                at = inner
            yield at, name
        finally:
            os.close(at)

    def _open_inner(self, at: int, part: str, path: str, *, make: bool) -> int:
        if make:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=at)
        try:
            inner = os.open(part, FOLDER_FLAGS, dir_fd=at)
        except OSError as error:
            if error.errno not in {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}:
                raise
            raise StagingError(f"{path}: {part} on the way to it is a link or a file, not a folder") from error
        if os.fstat(inner).st_dev != self._device:
            os.close(inner)
            raise StagingError(f"{path}: {part} on the way to it is another file system")
        return inner

    def missing_folders(self, path: str) -> list[str]:
        """List the missing folders on the way to a file, the outermost first."""
        *above, _ = path.split("/")
        for count in range(1, len(above) + 1):
            folder = "/".join(above[:count])
            if self.lstat(folder) is None:
                return ["/".join(above[:end]) for end in range(count, len(above) + 1)]
        return []

    def lstat(self, path: str) -> os.stat_result | None:
        """Return the path's own status, without following links; None if it does not exist."""
        try:
            with self.open_parent(path) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def read_bytes(self, path: str) -> tuple[bytes, int] | None:
        """Read a file's content and mode; None if there is none."""
        try:
            with self.open_parent(path) as (folder, name):
                fd = os.open(name, _READ_FLAGS, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.EMLINK}:
                raise StagingError(f"{path}: it is a link, and links are neither read nor written") from error
            raise StagingError(f"{path}: it can't be read: {error.strerror}") from error
        try:
            return _read_content(fd, path)
        finally:
            os.close(fd)


def check_path(path: str) -> str:
    """Return the path if it is normalised and inside the workspace. Raises StagingError otherwise."""
    found = normalize_path(path)
    if isinstance(found, PathRefusal):
        raise StagingError(f"{_printable(path)}: {found.reason}")
    if found != path:
        raise StagingError(f"{_printable(path)}: write it as {found}")
    return path


def _read_content(fd: int, path: str) -> tuple[bytes, int]:
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise StagingError(f"{path}: it is not a file")
    if status.st_size > _MAX_FILE_BYTES:
        raise StagingError(f"{path}: it has more than {_MAX_FILE_BYTES >> 20} MB")
    with open(fd, "rb", closefd=False) as file:
        return file.read(_MAX_FILE_BYTES + 1), stat.S_IMODE(status.st_mode) & 0o777


def _printable(path: str) -> str:
    return "".join(each if each.isprintable() else "\ufffd" for each in path[:100])


_BOM = b"\xef\xbb\xbf"


def decode_file(path: str, data: bytes) -> str:
    """Decode a file, which must be UTF-8 text. If all line endings are CRLF, they become LF. Raises StagingError."""
    try:
        text = data.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise StagingError(f"{path}: it is not UTF-8 text")
    return text.replace("\r\n", "\n") if _has_crlf(data) else text


def encode_like(text: str, old: bytes | None) -> bytes:
    data = text.encode()
    if old is None:
        return data
    if _has_crlf(old):
        data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return _BOM + data if old.startswith(_BOM) and not data.startswith(_BOM) else data


def _has_crlf(data: bytes) -> bool:
    ends = data.count(b"\n")
    return ends > 0 and data.count(b"\r\n") == ends
