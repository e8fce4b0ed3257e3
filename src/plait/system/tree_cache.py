"""A cache of the files that setup commands made: a folder and a lock per key.

Entries appear whole or not at all, and are always copied: agents change what they are given.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from plait.system.atomic_files import make_private_folder
from plait.system.copy_tree import TreeCopier, copy_metadata
from plait.system.disk import measure_tree, remove_tree, tree_size
from plait.system.locks import hold_lock, try_lock

_KEY = re.compile(r"[0-9a-f]{40}\Z")


class TreeCache:
    def __init__(self, folder: Path) -> None:
        make_private_folder(folder)
        self._folder = folder

    def lock(self, key: str, *, shared: bool = False, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Held alone, or shared with other readers. `on_wait` is called before waiting."""
        return hold_lock(self._lock_path(key), shared=shared, on_wait=on_wait)

    def try_lock(self, key: str) -> AbstractContextManager[bool]:
        return try_lock(self._lock_path(key))

    def _lock_path(self, key: str) -> Path:
        return self._folder / f"{key}.lock"

    def tree_path(self, key: str) -> Path:
        return self._folder / key / "tree"

    def is_complete(self, key: str) -> bool:
        """Whether it is there as it was stored: a power cut may have lost some of it."""
        entry = self._folder / key
        try:
            recorded = json.loads((entry / "size.json").read_bytes())
            size = measure_tree(entry / "tree")
            os.utime(entry)  # it was used
        except (OSError, ValueError):
            return False
        return bool(recorded == [size.files, size.bytes])

    def store(self, key: str, root: Path, paths: Sequence[str], copier: TreeCopier) -> bool:
        """With the exclusive lock held. False if something could not be read; nothing is stored then."""
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
        """With the exclusive lock held; an entry that is half removed is never taken for a complete one."""
        gone = self._folder / f"{key}.gone"
        remove_tree(gone)
        remove_tree(self._folder / f"{key}.new")
        with suppress(FileNotFoundError):
            (self._folder / key).rename(gone)
        remove_tree(gone)

    def remove(self, key: str) -> None:
        """Discard the entry and its lock file, with the exclusive lock held."""
        self.discard(key)
        self._lock_path(key).unlink(missing_ok=True)


def prune_tree_cache(folder: Path, max_bytes: int) -> int:
    """Remove the least recently used entries until at most `max_bytes` are left, except those in use. Bytes freed."""
    with suppress(FileNotFoundError):
        keys = {each.name.partition(".")[0] for each in os.scandir(folder)}
        cache = TreeCache(folder)
        sizes = {key: _entry_size(folder, key) for key in sorted(keys) if _KEY.match(key)}
        kept, freed = sum(sizes.values()), 0
        for key in sorted(sizes, key=lambda key: _last_used(folder / key)):
            if kept > max_bytes or not (folder / key).exists():
                with cache.try_lock(key) as mine:
                    if mine:
                        cache.remove(key)
                        kept, freed = kept - sizes[key], freed + sizes[key]
        return freed
    return 0


def _entry_size(folder: Path, key: str) -> int:
    return sum(tree_size(folder / f"{key}{suffix}") for suffix in ("", ".new", ".gone"))


def _last_used(entry: Path) -> float:
    """0 for leftovers that are no entry: they go first."""
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0
