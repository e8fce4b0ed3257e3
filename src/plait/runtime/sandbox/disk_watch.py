"""What a strict attempt has written to the disk: the kernel limits the size of each file, and not how many there are.

What is free is asked for often, which takes no time. The attempt's files are only looked at when that has become less by what
it may still write: another process may have taken it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from plait.runtime.sandbox.layout import is_inside

CHECK_SECONDS = 1.0
FILES_FACTOR = 4  # all its files may take as many times the limit of one
_WATCH_FILE = "watched"  # in the attempt's private folder; no file of the attempt is older
_BLOCK_BYTES = 512  # of st_blocks
_LISTABLE = stat.S_IRUSR | stat.S_IXUSR
_TOO_MUCH = 1 << 62
_MAX_FOLDERS = 2_000_000  # no work has more, and an attempt that makes new ones meanwhile would never be done with


def write_watch(private: Path, disk: int, folders: Iterable[str]) -> None:
    """Write, before the attempt starts, what to watch: `disk` is the limit of one file, `folders` are those that it can
    write to.
    """
    lines = [str(disk * FILES_FACTOR), *dict.fromkeys(path for path in folders if "\n" not in path)]
    (private / _WATCH_FILE).write_text("\n".join(lines), "utf-8", "surrogateescape")


class DiskWatch:
    """Watches what an attempt writes. `root` is the first process of the attempt's sandbox."""

    def __init__(self, limit: int, folders: Iterable[str], since_ns: int, root: int = 0) -> None:
        self.limit, self._since_ns, self._root = limit, since_ns, root
        self._folders = [path for path in folders if os.path.isdir(path)]  # noqa: PTH112 - they are names, no more
        self._places = {os.stat(path).st_dev: path for path in self._folders}  # noqa: PTH116
        self._look_below = {device: free - limit for device, free in self._read_free().items()}

    @classmethod
    def load(cls, private: Path, root: int) -> DiskWatch | None:
        """Load what was written for an attempt; None if there is no limit."""
        with suppress(OSError, ValueError):
            limit, *folders = (private / _WATCH_FILE).read_text("utf-8", "surrogateescape").split("\n")
            return cls(int(limit), folders, (private / _WATCH_FILE).stat().st_ctime_ns, root)
        return None

    def is_exceeded(self) -> bool:
        free = self._read_free()
        if all(left >= self._look_below.get(device, 0) for device, left in free.items()):
            return False
        written = measure_new_files(self._folders, self._since_ns)
        written.update(measure_deleted_files(self._root, {*self._places}))
        total = sum(written.values())
        self._look_below = {device: left - (self.limit - total) for device, left in free.items()}
        return total > self.limit

    def _read_free(self) -> Mapping[int, int]:
        found = {}
        for device, path in self._places.items():
            with suppress(OSError):
                status = os.statvfs(path)
                found[device] = status.f_bavail * status.f_frsize
        return found


Sizes = dict[tuple[int, int], int]  # bytes on the disk, by device and inode


def measure_new_files(folders: Iterable[str], since_ns: int) -> Sizes:
    """Return the sizes of files that were changed since then, by a time that programs can't set.

    An attempt can't hide any: a folder that its owner may not read is made readable; a folder whose path is too long
    for the system, or an endless number of folders, counts as too much.
    """
    found: Sizes = {}
    waiting = [*folders]
    tops = [os.path.realpath(folder) for folder in waiting]
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            return found
        folder = waiting.pop()
        try:
            with _open_folder(folder, tops) as fd, os.scandir(fd) as entries:
                for entry in entries:
                    with suppress(OSError):
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(f"{folder}/{entry.name}")
                        elif (status := entry.stat(follow_symlinks=False)).st_ctime_ns >= since_ns:
                            found[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK_BYTES
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                found[0, 0] = _TOO_MUCH
    found[0, 0] = _TOO_MUCH
    return found


@contextmanager
def _open_folder(folder: str, tops: Sequence[str]) -> Iterator[int]:
    """Yield a descriptor to list a folder. Raises OSError."""
    with ExitStack() as stack:
        place = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        stack.callback(os.close, place)
        path = f"/proc/self/fd/{place}"
        status = os.fstat(place)
        is_hidden = status.st_uid == os.geteuid() and status.st_mode & _LISTABLE != _LISTABLE
        if is_hidden and is_inside(str(Path(path).readlink()), tops):  # otherwise a link was put on the way to it
            os.chmod(path, stat.S_IMODE(status.st_mode) | _LISTABLE)  # noqa: PTH101 - a descriptor
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, fd)
        yield fd


def measure_deleted_files(root: int, devices: set[int]) -> Sizes:
    """Return the sizes of deleted files on these devices that the descendants of a process have open."""
    found: Sizes = {}
    for pid in list_descendants(root):
        with suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208 - faster
                with suppress(OSError):
                    status = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116 - faster
                    if stat.S_ISREG(status.st_mode) and not status.st_nlink and status.st_dev in devices:
                        found[status.st_dev, status.st_ino] = status.st_blocks * _BLOCK_BYTES
    return found


def list_descendants(root: int) -> Iterator[int]:
    """Yield the process and all below it. In a namespace none can leave them: its first process adopts orphans."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if root else ():  # noqa: PTH208 - faster
        with suppress(OSError, ValueError, IndexError):
            parent = int(Path(f"/proc/{int(name)}/stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    waiting = [root] if root else []
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting += children.get(pid, ())
