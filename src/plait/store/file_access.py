"""Which files plait reads for a repository: those of its checkout, and others that the user named or allowed.

A link or a path in the repository's settings may lead anywhere, for example to a key file. What plait reads is shown on the
page and sent to models, so the repository alone can't choose it.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from plait.git.location import RepoLocation
from plait.store.trust_store import TrustStore, find_trust_root
from plait.system.atomic_files import open_regular_file

# The name of an allowed path in the trust store.
OUTSIDE_PATH = "path outside the repository"
_GET_PATH = 50  # F_GETPATH on macOS
_MAX_PATH_BYTES = 1024


class OutsideFileError(PermissionError):
    """The file is outside of the checkout, or belongs to git or plait, and the user hasn't allowed it."""


class FileAccess:
    """Decides which files may be read, during one reading of the sources: what is inside a folder is remembered.
    `roots` are real paths that may be read too.
    """

    def __init__(self, location: RepoLocation, roots: Iterable[str] = ()) -> None:
        self._top = os.path.realpath(location.top)
        self._state = os.path.realpath(location.state)
        self._roots = tuple(roots)
        self._folders: dict[str, bool] = {}
        self.refused: dict[str, str] = {}  # the real paths that were refused, by name

    def allows(self, path: Path | str) -> bool:
        """Whether the file may be read. Cheap for regular files, of which there may be thousands."""
        text = os.fspath(path)
        folder, name = os.path.split(text)
        if folder not in self._folders:
            self._folders[folder] = self._is_allowed(os.path.realpath(folder))
        if self._folders[folder] and _is_plain_file(text) and name.casefold() != ".git":
            return True
        real = os.path.realpath(text)
        if self._is_allowed(real):
            return True
        self.refused[text] = real
        return False

    def open(self, path: Path | str) -> int:
        """Return a descriptor for reading a regular file, once the file that was opened is allowed. Raises OSError."""
        if not self.allows(path):
            raise _make_error(path)
        fd = open_regular_file(path, follow_links=True)
        real = _find_real_path(fd, path)
        if real is not None and self._is_allowed(real):
            return fd
        os.close(fd)
        raise _make_error(path)  # a link was changed meanwhile

    def _is_allowed(self, real: str) -> bool:
        return self._is_inside(real) or any(_is_within(real, root) for root in self._roots)

    def _is_inside(self, real: str) -> bool:
        if not _is_within(real, self._top) or _is_within(real, self._state):
            return False
        return f"{os.sep}.git{os.sep}" not in f"{real[len(self._top) :]}{os.sep}".casefold()


def resolve_checkout_path(location: RepoLocation, path: Path) -> Path | None:
    """Return the real path of a file in the checkout; None if it is outside, or belongs to git or plait."""
    real = os.path.realpath(path)
    return Path(real) if FileAccess(location)._is_inside(real) else None  # noqa: SLF001 - the same module


def list_allowed_paths(location: RepoLocation) -> list[str]:
    """List the paths that the user has allowed for this repository on this machine."""
    commands = TrustStore(find_trust_root(), location.state).list_commands()
    return [command.value for command in commands if command.key == OUTSIDE_PATH]


def find_named_roots(location: RepoLocation, where: Path, names: Iterable[str]) -> Iterator[str]:
    """Yield the real paths that a user named outside of the checkout; a link inside it is not enough."""
    for name in names:
        plain = name
        while glob.has_magic(plain):
            plain = os.path.dirname(plain)  # noqa: PTH120 - text
        path = os.path.normpath(where.resolve() / plain)
        if not _is_within(path, str(location.top)) and not _is_within(path, os.path.realpath(location.top)):
            yield os.path.realpath(path)


def _is_plain_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip(os.sep)}{os.sep}")


def _find_real_path(fd: int, path: Path | str) -> str | None:
    """Return the path of an open file; None if it is unknown."""
    with suppress(OSError):  # no /proc
        if sys.platform == "darwin":
            return os.fsdecode(fcntl.fcntl(fd, _GET_PATH, bytes(_MAX_PATH_BYTES)).rstrip(b"\0"))
        return os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - there may be thousands of them
    with suppress(OSError):
        real = Path(os.path.realpath(path))
        return str(real) if os.path.samestat(os.fstat(fd), real.lstat()) else None
    return None


def _make_error(path: Path | str) -> OutsideFileError:
    return OutsideFileError(errno.EACCES, "it leads out of the repository", str(path))
