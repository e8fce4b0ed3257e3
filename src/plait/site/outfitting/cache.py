"""What setups made, by their keys: a folder each, which is there whole or not at all, and a lock each.

A lock dies with its holder. Nothing in here is ever linked to: agents change what they are given.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from plait.site.folder import make_private
from plait.site.outfitting.copying import Copier, dress
from plait.site.outfitting.disk import measure, remove, tree_size

_KEY = re.compile(r"[0-9a-f]{40}\Z")
_LOCK = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Cache:
    def __init__(self, folder: Path) -> None:
        make_private(folder)
        self._folder = folder

    @contextmanager
    def locked(
        self, key: str, *, shared: bool = False, wait: Callable[[], None] | None = None
    ) -> Iterator[bool]:
        """Alone, or with others who only read. `wait` is called before waiting; without one, False instead of waiting."""
        path, how = self._folder / f"{key}.lock", fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        while True:
            fd = os.open(path, _LOCK, 0o600)
            try:
                if not _take(fd, how, wait):
                    yield False
                    return
                if _is_there(path, fd):
                    yield True
                    return
            finally:
                os.close(fd)

    def tree(self, key: str) -> Path:
        return self._folder / key / "tree"

    def whole(self, key: str) -> bool:
        """Whether it is there as it was stored: a machine that lost its power may have lost some of it."""
        entry = self._folder / key
        try:
            told = json.loads((entry / "size.json").read_bytes())
            size = measure(entry / "tree")
            os.utime(entry)  # it was used
        except (OSError, ValueError):
            return False
        return bool(told == [size.files, size.bytes])

    def store(self, key: str, root: Path, paths: Sequence[str], copier: Copier) -> bool:
        """By who holds the lock alone. False: something could not be read, and nothing is kept."""
        fresh = self._folder / f"{key}.new"
        self.discard(key)
        try:
            for path in paths:
                dest = fresh / "tree" / path
                make_private(dest.parent)
                status = copier.copy(str(root / path), str(dest))
                if status is not None:
                    dress(str(dest), status)
            if copier.left_out:
                return False
            size = measure(fresh / "tree")
            (fresh / "size.json").write_text(json.dumps([size.files, size.bytes]))
            fresh.rename(self._folder / key)
        finally:
            remove(fresh)
        return True

    def discard(self, key: str) -> None:
        """By who holds the lock alone; one that is half removed is not taken for whole."""
        gone = self._folder / f"{key}.gone"
        remove(gone)
        remove(self._folder / f"{key}.new")
        with suppress(FileNotFoundError):
            (self._folder / key).rename(gone)
        remove(gone)

    def forget(self, key: str) -> None:
        """With its lock, for who holds that alone."""
        self.discard(key)
        (self._folder / f"{key}.lock").unlink(missing_ok=True)


def prune_cache(folder: Path, keep_bytes: int) -> int:
    """Remove what was not used for longest until the rest takes no more than this; what is in use stays. Bytes freed."""
    with suppress(FileNotFoundError):
        keys = {name.partition(".")[0] for name in os.listdir(folder)}  # noqa: PTH208
        cache = Cache(folder)
        sizes = {key: _size(folder, key) for key in sorted(keys) if _KEY.match(key)}
        kept, freed = sum(sizes.values()), 0
        for key in sorted(sizes, key=lambda key: _used(folder / key)):
            if kept > keep_bytes or not (folder / key).exists():
                with cache.locked(key) as mine:
                    if mine:
                        cache.forget(key)
                        kept, freed = kept - sizes[key], freed + sizes[key]
        return freed
    return 0


def _size(folder: Path, key: str) -> int:
    return sum(tree_size(folder / f"{key}{suffix}") for suffix in ("", ".new", ".gone"))


def _used(entry: Path) -> float:
    """What is no entry, but was left by one, comes first."""
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0


def _take(fd: int, how: int, wait: Callable[[], None] | None) -> bool:
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        if wait is None:
            return False
        wait()
        fcntl.flock(fd, how)
    return True


def _is_there(path: Path, fd: int) -> bool:
    """A lock on a file that was removed keeps nobody out."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False
