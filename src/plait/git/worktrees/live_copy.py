"""Copies of files in a worktree whose agent is running, read without following any link.

Git looks at what a path is and opens it then. An agent that puts a link there in between has git read a file that it can't
read itself in its sandbox, and finds its content among the repository's objects. In the same way, a link could be copied before
a file below it, which would then be written to where the link leads.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK_BYTES = 1 << 20
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def copy_live_files(top: Path, paths: Iterable[str], target: Path) -> list[str]:
    """Copy files and links to the same paths in an empty folder.

    Returns the paths that are not folders, whether or not they exist. What can't be read, or is reached through a link,
    is not copied.
    """
    found, target = [], Path(os.path.realpath(target))
    with ExitStack() as stack:
        root = os.open(top, _FOLDER_FLAGS & ~os.O_NOFOLLOW)
        stack.callback(os.close, root)
        for path in paths:
            is_folder = False
            with suppress(OSError):
                is_folder = _copy(root, path, target / path)
            if not is_folder:
                found.append(path)
    return found


def _copy(root: int, path: str, target: Path) -> bool:
    """Copy one file or link. True if the path is a folder, and nothing was copied. Raises OSError."""
    *folders, name = path.split("/")
    with ExitStack() as stack:
        at = root
        for folder in folders:
            at = os.open(folder, _FOLDER_FLAGS, dir_fd=at)
            stack.callback(os.close, at)
        mode = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            return True
        if os.path.realpath(target.parent) != str(target.parent):
            raise OSError(errno.ELOOP, "it is below a link that was copied", path)
        if stat.S_ISLNK(mode):
            link = os.readlink(name, dir_fd=at)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(link)
        elif stat.S_ISREG(mode):
            fd = os.open(name, _READ_FLAGS, dir_fd=at)
            with open(fd, "rb"):  # noqa: PTH123 - opened without following links
                status = os.fstat(fd)
                if stat.S_ISREG(status.st_mode):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("xb") as file:
                        _copy_data(fd, file.fileno(), status.st_size)
                    target.chmod(0o700 if status.st_mode & stat.S_IXUSR else 0o600)
    return False


def _copy_data(source: int, target: int, size: int) -> None:
    """Copy a file's data without its holes: an agent's file could fill the disk with them. Raises OSError."""
    at = 0
    while at < size:
        try:
            at = os.lseek(source, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # there is only a hole
        end = min(size, os.lseek(source, at, os.SEEK_HOLE))
        while at < end and (data := os.pread(source, min(_CHUNK_BYTES, end - at), at)):
            at += os.pwrite(target, data, at)
        if at < end:
            break  # it was cut off meanwhile
    os.ftruncate(target, size)
