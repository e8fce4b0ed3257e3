"""Disk space: the size of trees, what is left, removing trees, and punching holes into files."""

from __future__ import annotations

import fcntl
import os
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import cast

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass

_BLOCK = 512
_MOVED_PREFIX = "moved-"
_REFRESH_BYTES = 64 << 20  # bytes copied between two checks of the disk, which others fill too


@dataclass(frozen=True, slots=True)
class TreeSize:
    """The size of a tree. `disk` is the size in blocks; a file with several names counts once."""

    files: int = 0
    bytes: int = 0
    disk: int = 0


def measure_tree(path: Path) -> TreeSize:
    """Measure a tree; skips what cannot be read, and follows no links."""
    files = length = blocks = 0
    counted: set[tuple[int, int]] = set()
    waiting = [str(path)]
    while waiting:
        current = waiting.pop()
        try:
            status = os.lstat(current)
            if stat.S_ISDIR(status.st_mode):
                waiting += [entry.path for entry in os.scandir(current)]
            else:
                files, length = files + 1, length + status.st_size
        except OSError:
            continue
        identity = (status.st_dev, status.st_ino)
        if status.st_nlink == 1 or identity not in counted:
            blocks += status.st_blocks
            counted.add(identity)
    return TreeSize(files, length, blocks * _BLOCK)


def tree_size(path: Path) -> int:
    """Return the bytes that a tree takes on disk."""
    return measure_tree(path).disk


def copied_size(status: os.stat_result) -> int:
    """Return the size of a copy of the file: holes stay holes."""
    return min(status.st_size, status.st_blocks * _BLOCK)


class DiskBudget:
    """The bytes that may still be written to a folder's disk while `spare` bytes stay free."""

    def __init__(self, folder: Path, spare: int) -> None:
        self._folder = folder
        self._spare = spare
        self._left = 0
        self._until_refresh = 0

    def reserve(self, size: int) -> None:
        """Reserve some of the budget; raises WorldError if less is left."""
        self._left -= size
        self._until_refresh -= size
        if self._until_refresh < 0 or self._left < 0:
            self._refresh()
            self._left -= size
        if self._left < 0:
            raise WorldError(
                f"there is no room to copy more to {self._folder}: less than {self._spare / 1e9:.1f} GB would be left",
                hint="free some space on this disk, or copy less into workspaces",
            )

    def _refresh(self) -> None:
        status = os.statvfs(self._folder)
        is_known = status.f_blocks > 0  # some file systems do not know their size
        self._left = status.f_bavail * status.f_frsize - self._spare if is_known else 1 << 62
        self._until_refresh = _REFRESH_BYTES


def remove_tree(path: Path) -> None:
    """Remove a tree, also read-only folders in it, as some package caches have them, however deep they are."""
    from shutil import rmtree  # seldom needed

    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return
    except FileNotFoundError:
        return
    try:
        rmtree(path)
    except (OSError, RecursionError):
        _remove_unusual_tree(path)


def _remove_unusual_tree(path: Path) -> None:
    """Remove a tree with read-only or very deep folders. Inner folders are moved up first, so that no path gets too
    long, and no descriptor is held for each level.
    """
    path.chmod(0o700)
    folders, moved = [path], 0
    while folders:
        folder = folders.pop()
        with os.scandir(folder) as entries:
            found = list(entries)
        for entry in found:
            inner = Path(entry.path)
            if not entry.is_dir(follow_symlinks=False):
                inner.unlink()
                continue
            inner.chmod(0o700)
            place = inner
            while folder != path and os.path.lexists(place):
                moved += 1
                place = path / f"{_MOVED_PREFIX}{moved}"
            folders.append(inner.rename(place) if place != inner else inner)
        if folder != path:
            folder.rmdir()
    path.rmdir()


REMEASURE_FACTOR = 50.0  # a folder is measured again after so many times the time that measuring it took


class DiskUsageCache:
    """Remembers sizes of folders, by inode, so that a rename changes nothing. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[tuple[int, int], tuple[int, float]] = {}  # size, and until when that holds

    def total(self, folders: Iterable[Path]) -> int:
        known, measured = self._known, dict[tuple[int, int], tuple[int, float]]()
        total = 0
        for folder in folders:
            try:
                status = folder.lstat()
            except FileNotFoundError:
                continue
            key = (status.st_dev, status.st_ino)
            size, until = known.get(key, (0, 0.0))
            if self._clock() >= until:
                began = self._clock()
                size = tree_size(folder)
                until = (now := self._clock()) + REMEASURE_FACTOR * (now - began)
            measured[key] = size, until
            total += size
        self._known = measured
        return total


HOLE_BLOCK_BYTES = 1 << 16  # a hole begins and ends at a multiple of it: whole blocks of any file system
_KEEP_SIZE, _PUNCH_HOLE = 1, 2
_F_PUNCHHOLE = 99


def punch_hole(path: Path, start: int, length: int) -> bool:
    """Free part of a file on disk without changing any offset; False if the file system cannot."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _punch_descriptor(fd, start, length)
    finally:
        os.close(fd)


def _punch_descriptor(fd: int, start: int, length: int) -> bool:
    if sys.platform == "darwin":
        try:
            # struct fpunchhole: flags, reserved, offset, length
            fcntl.fcntl(fd, _F_PUNCHHOLE, struct.pack("=IIqq", 0, 0, start, length))
        except OSError:
            return False
        return True
    fallocate = _load_fallocate()
    return fallocate is not None and fallocate(fd, _KEEP_SIZE | _PUNCH_HOLE, start, length) == 0


@cache
def _load_fallocate() -> Callable[[int, int, int, int], int] | None:
    import ctypes  # few transcripts grow so long

    try:
        library = ctypes.CDLL(None)
        call = getattr(library, "fallocate64", None) or library.fallocate
    except (AttributeError, OSError):
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return cast("Callable[[int, int, int, int], int]", call)
