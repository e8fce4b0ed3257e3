"""Two files change places.

In one step where the system has one (Linux: renameat2, macOS: renamex_np): then whatever was at the path, however late it
was put there, is kept under the other name. Elsewhere in three steps, with a smaller promise: the path always has a whole
file, and a version that is written into in place is kept, but one that is put there between two of our steps is lost.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

_UNSUPPORTED_ERRNOS = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
_AT_FDCWD = -100
_SWAP = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS


def exchange_files(temp: Path, path: Path) -> None:
    """Put `one` at `path`, where there must be a file; afterwards `one` names what was there."""
    if not _exchange_atomically(temp, path):
        _exchange_in_steps(temp, path)


def link_new_file(temp: Path, path: Path) -> None:
    """Put `one` at `path`, where there must not be a file, not even one made at this moment: FileExistsError."""
    try:
        os.link(temp, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        temp.replace(path)


def finish_exchange(one: Path) -> None:
    """Bring to its end what a crash may have left of the three steps."""
    aside = _backup_path(one)
    if aside.exists():
        if one.exists():
            aside.unlink()
        else:
            aside.rename(one)


def _exchange_atomically(one: Path, path: Path) -> bool:
    """Return False where this can't be done at all."""
    call = _system_call()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(path)) == 0:
        return True
    error = ctypes.get_errno()
    if error in _UNSUPPORTED_ERRNOS:
        return False
    raise OSError(error, os.strerror(error), str(path))


@cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        return lambda one, path: libc.renamex_np(one, path, _SWAP)
    if not hasattr(libc, "renameat2"):
        return None
    return lambda one, path: libc.renameat2(_AT_FDCWD, one, _AT_FDCWD, path, _SWAP)


def _exchange_in_steps(one: Path, path: Path) -> None:
    aside = _backup_path(one)
    try:
        os.link(path, aside)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        shutil.copy2(path, aside)
    try:
        one.replace(path)
    except BaseException:
        aside.unlink()
        raise
    aside.rename(one)


def _backup_path(one: Path) -> Path:
    return one.with_name(f"{one.name}~")
