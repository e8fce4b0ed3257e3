"""Copies trees with modes, times, symlinks and holes, sharing blocks with the original where the file system can.

Also a cache of the files that setup commands made: a folder and a lock per key. Its entries appear whole or not at all, and
are always copied: agents change what they are given.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from plait.system.atomic_files import make_private_folder
from plait.system.disk import DiskBudget, copied_size, measure_tree, remove_tree, tree_size
from plait.system.flock import hold_lock, try_lock

_FICLONE = 0x40049409
_AT_FDCWD = -2  # AT_FDCWD of macOS


def clone_content(source: int, dest: int) -> bool:
    """Share the content (Linux); False if the file system cannot, so that the new file is still empty."""
    try:
        fcntl.ioctl(dest, _FICLONE, source)
    except OSError:  # elsewhere too: no other system knows this number
        return False
    return True


def clone_file(source: int, path: str) -> bool:
    """Clone content, mode and times to a new file (macOS); False if the file system cannot."""
    if sys.platform == "darwin":
        import ctypes  # the system's own call, which Python does not have

        return bool(ctypes.CDLL(None).fclonefileat(source, _AT_FDCWD, os.fsencode(path), 0) == 0)
    return False


_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK_BYTES = 1 << 20
# The same would happen with the next file.
_FATAL_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE})


class TreeCopier:
    """Copies trees. It skips what cannot be read with a warning, and sockets, FIFOs and devices without one.

    `is_excluded`: whether a file or folder of the source is not copied.
    """

    def __init__(
        self,
        budget: DiskBudget,
        warn: Callable[[str], None],
        is_excluded: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._budget = budget
        self._warn = warn
        self._is_excluded = is_excluded
        self._can_clone = True  # until the first one that can't be
        self.skipped_count = 0

    def copy(self, source: str, dest: str) -> os.stat_result | None:
        """Copy a tree to a new path; return its top's status, whose metadata the caller copies last, or None."""
        folders: list[tuple[str, os.stat_result]] = []
        waiting = [(source, dest)]
        while waiting:
            source_path, dest_path = waiting.pop()
            try:
                inner = self._copy_entry(source_path, dest_path, folders)
            except OSError as error:
                self._skip(source_path, error)
            else:
                waiting += [(f"{source_path}/{name}", f"{dest_path}/{name}") for name in inner]
        for folder, status in reversed(folders[1:]):
            copy_metadata(folder, status)
        return folders[0][1] if folders else None

    def _copy_entry(self, source: str, dest: str, folders: list[tuple[str, os.stat_result]]) -> list[str]:
        """Copy one entry; of a folder, return the names in it."""
        if self._is_excluded(source):
            return []
        status = os.lstat(source)
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(source), dest)  # noqa: PTH115, PTH211 - bytes that are no text, too
            os.utime(dest, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)
        elif stat.S_ISREG(status.st_mode):
            self._copy_file(source, dest)
        elif stat.S_ISDIR(status.st_mode):
            return self._make_folder(source, dest, status, folders)
        return []

    def _make_folder(
        self, source: str, dest: str, status: os.stat_result, folders: list[tuple[str, os.stat_result]]
    ) -> list[str]:
        names = os.listdir(source)  # noqa: PTH208 - the quick one
        if ".git" in names and os.path.isfile(f"{source}/.git"):  # noqa: PTH113
            self._warn(f"{source} is a worktree of its own and is not copied")
            return []
        os.mkdir(dest, 0o700)  # noqa: PTH102 - writable, until all is in it
        folders.append((dest, status))
        return names

    def _copy_file(self, source: str, dest: str) -> None:
        source_fd = os.open(source, _READ_FLAGS)
        try:
            if clone_file(source_fd, dest):
                return
            dest_fd = os.open(dest, _CREATE_FLAGS, 0o600)
            try:
                self._copy_content(source_fd, dest_fd)
            except BaseException:
                os.unlink(dest)  # noqa: PTH108
                raise
            finally:
                os.close(dest_fd)
        finally:
            os.close(source_fd)

    def _copy_content(self, source: int, dest: int) -> None:
        status = os.fstat(source)
        self._can_clone = self._can_clone and clone_content(source, dest)
        if not self._can_clone:
            self._budget.reserve(copied_size(status))
            _copy_data(source, dest, status)
        os.fchmod(dest, stat.S_IMODE(status.st_mode) & 0o777)
        os.utime(dest, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _skip(self, path: str, error: OSError) -> None:
        if error.errno in _FATAL_ERRORS:
            raise error
        self.skipped_count += 1
        self._warn(f"{path} is not copied: {error.strerror or error}")


def copy_metadata(folder: str | int, status: os.stat_result) -> None:
    """Copy mode and times; done last, because writing into a folder changes its times."""
    os.chmod(folder, stat.S_IMODE(status.st_mode) & 0o777)  # noqa: PTH101
    os.utime(folder, ns=(status.st_atime_ns, status.st_mtime_ns))


def _copy_data(source: int, dest: int, status: os.stat_result) -> None:
    for start, end in _find_data_ranges(source, status):
        offset = start
        while offset < end and (moved := _copy_range(source, dest, offset, end - offset)):
            offset += moved
    if copied_size(status) < status.st_size:
        os.ftruncate(dest, status.st_size)  # it may end in a hole


def _find_data_ranges(source: int, status: os.stat_result) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a file that are not holes."""
    size, offset = status.st_size, 0
    if copied_size(status) == size:
        yield 0, size
        return
    while offset < size:
        try:
            start = os.lseek(source, offset, os.SEEK_DATA)
            offset = os.lseek(source, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:  # nothing but a hole from here on
                yield offset, size
            return
        yield start, min(offset, size)


def _copy_range(source: int, dest: int, offset: int, count: int) -> int:
    """Copy a range; return the number of bytes copied, which is 0 if the file has become shorter."""
    if hasattr(os, "copy_file_range"):
        try:
            if moved := os.copy_file_range(source, dest, count, offset, offset):
                return moved
        except OSError as error:
            if error.errno in _FATAL_ERRORS:
                raise
    data = os.pread(source, min(count, _CHUNK_BYTES), offset)
    return os.pwrite(dest, data, offset)


_CACHE_KEY = re.compile(r"[0-9a-f]{40}\Z")


class TreeCache:
    def __init__(self, folder: Path) -> None:
        make_private_folder(folder)
        self._folder = folder

    def lock(self, key: str, *, shared: bool = False, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Lock an entry, alone or shared with other readers. `on_wait` is called before waiting."""
        return hold_lock(self.lock_path(key), shared=shared, on_wait=on_wait)

    def lock_path(self, key: str) -> Path:
        return self._folder / f"{key}.lock"

    def tree_path(self, key: str) -> Path:
        return self._folder / key / "tree"

    def is_complete(self, key: str) -> bool:
        """Whether the entry is there as it was stored: a power cut may have lost some of it."""
        entry = self._folder / key
        try:
            recorded = json.loads((entry / "size.json").read_bytes())
            size = measure_tree(entry / "tree")
            os.utime(entry)  # it was used
        except (OSError, ValueError):
            return False
        return bool(recorded == [size.files, size.bytes])

    def store(self, key: str, root: Path, paths: Sequence[str], copier: TreeCopier) -> bool:
        """Store an entry, with the exclusive lock held; False, with nothing stored, if a file can't be read."""
        fresh = self._folder / f"{key}.new"
        self.discard(key)
        try:
            for path in paths:
                dest = fresh / "tree" / path
                make_private_folder(dest.parent)
                status = copier.copy(str(root / path), str(dest))
                if status is not None:
                    copy_metadata(str(dest), status)
            if copier.skipped_count:
                return False
            size = measure_tree(fresh / "tree")
            (fresh / "size.json").write_text(json.dumps([size.files, size.bytes]))
            fresh.rename(self._folder / key)
        finally:
            remove_tree(fresh)
        return True

    def discard(self, key: str) -> None:
        """Remove an entry, with the exclusive lock held; renamed first, so that it never looks complete."""
        trash = self._folder / f"{key}.gone"
        remove_tree(trash)
        remove_tree(self._folder / f"{key}.new")
        with suppress(FileNotFoundError):
            (self._folder / key).rename(trash)
        remove_tree(trash)


def prune_tree_cache(folder: Path, max_bytes: int) -> int:
    """Remove the least recently used entries above `max_bytes`, except those in use; return the bytes freed."""
    with suppress(FileNotFoundError):
        keys = {entry.name.partition(".")[0] for entry in os.scandir(folder)}
        cache = TreeCache(folder)
        sizes = {key: _entry_size(folder, key) for key in sorted(keys) if _CACHE_KEY.match(key)}
        total, freed = sum(sizes.values()), 0
        for key in sorted(sizes, key=lambda key: _last_used(folder / key)):
            if total > max_bytes or not (folder / key).exists():
                with try_lock(cache.lock_path(key)) as is_locked:
                    if is_locked:
                        cache.discard(key)
                        cache.lock_path(key).unlink(missing_ok=True)
                        total, freed = total - sizes[key], freed + sizes[key]
        return freed
    return 0


def _entry_size(folder: Path, key: str) -> int:
    return sum(tree_size(folder / f"{key}{suffix}") for suffix in ("", ".new", ".gone"))


def _last_used(entry: Path) -> float:
    """Return when an entry was last used; 0 for leftovers that are no entry, so that they are removed first."""
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0
