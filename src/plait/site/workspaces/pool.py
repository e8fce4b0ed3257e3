"""Worktrees on their way: made, taken again, given back, thrown away. Each step is a rename under the repository's lock.

Whoever dies in between leaves something in `making` or in `trash`, which the next one clears away: work is only in a task's
own place, and leaves it when it is saved.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plait.site.folder import make_private
from plait.site.outfitting.disk import remove
from plait.site.workspaces import branches, lock, stamp
from plait.site.workspaces.layout import Layout, children, new_id
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.stamp import Stamp
from plait.site.workspaces.worktree import Worktree, find, home, is_folder, point, pointer


class Pool:
    """At most `keep` worktrees wait for another task."""

    def __init__(self, repository: Repository, layout: Layout, keep: int) -> None:
        self._repository = repository
        self._layout = layout
        self._keep = keep

    @contextmanager
    def worktree(self, wanted: Stamp, commit: str, *, new: bool) -> Iterator[tuple[Worktree, bool]]:
        """One to lay files in, and whether it was used before. It is `place`d inside, or thrown away."""
        with self._repository.locked():
            taken = None if new else self._take(wanted)
            worktree, fd = taken or self._add(commit)
        try:
            yield worktree, taken is not None
        except BaseException:
            self.discard(worktree)
            raise
        finally:
            os.close(fd)

    def place(self, worktree: Worktree, place: Path) -> bool:
        """False if somebody else put one there meanwhile; then this one is thrown away."""
        with self._repository.locked():
            if not os.path.lexists(place):
                worktree.move(place)
                return True
        self.discard(worktree)
        return False

    def give_back(self, worktree: Worktree) -> None:
        """What was in it is saved. One that is damaged, or has submodules in it, is of no use to others."""
        if self._useful(worktree):
            with self._repository.locked():
                if worktree.sound is not None:  # nobody else gave it back meanwhile
                    worktree = worktree.move(self._layout.pool / worktree.sound.name)
                    branches.let_go(self._repository, worktree)
        else:
            self.discard(worktree)
        self.shrink(self._keep)

    def adopt(self, folder: Path, commit: str) -> Worktree:
        """A folder that git knows nothing of any more, as a worktree on this commit: then it can be told what is new in it."""
        with self._repository.locked():
            made, fd = self._add(commit)
            os.close(fd)
            assert made.admin is not None
            point(made.admin, folder)
            remove(made.folder)
        return Worktree(folder, made.admin)

    def shrink(self, keep: int) -> None:
        """The ones that waited longest go."""
        waiting = sorted(children(self._layout.pool), key=_since)
        for folder in waiting[: max(0, len(waiting) - keep)]:
            self.discard(Worktree(folder, self._named(folder)))

    def discard(self, worktree: Worktree) -> None:
        """Out of everybody's way at once, deleted later. It may be gone already, or in part."""
        with self._repository.locked():
            self._throw(worktree)

    def sweep(self) -> None:
        """Finish what the dead were at: making a worktree, giving one back, throwing one away."""
        with self._repository.locked():
            for folder in children(self._layout.making):
                if _abandoned(folder):
                    self._throw(Worktree(folder, self._named(folder)))
            for folder in children(self._layout.pool):
                branches.let_go(self._repository, Worktree(folder, self._named(folder)))
            for admin in self._repository.admins:
                if self._stray(admin):
                    self._throw(Worktree(admin / "gone", admin))

    def _stray(self, admin: Path) -> bool:
        """Its folder was on its way, and is not there: unless it is still where it came from."""
        place, told = home(admin), stamp.read(admin)
        passing = (self._layout.making, self._layout.pool, self._layout.trash)
        if place is None or place.parent not in passing or os.path.lexists(place):
            return False
        return told is None or pointer(self._layout.place(told.batch, told.task)) != admin

    def empty_trash(self) -> None:
        """Delete what was thrown away, as far as it can be deleted. What somebody else is deleting is left to them."""
        for trash in (self._layout.trash, self._repository.trash):
            for each in children(trash):
                with suppress(OSError):
                    _delete(each)

    def _useful(self, worktree: Worktree) -> bool:
        if worktree.sound is None or not self._keep or (worktree.sound / "modules").exists():
            return False
        branches.unlock(worktree)
        return self._repository.commit(branches.head(worktree)) is not None

    def _take(self, wanted: Stamp) -> tuple[Worktree, int] | None:
        """Best one whose setup made the same outputs, or else any with the same folders in it; the last given back first."""
        found = [find(self._repository, folder) for folder in children(self._layout.pool)]
        fit = [
            (told, each) for each in found if each and (told := _stamp(each)) and told.sparse == wanted.sparse
        ]
        ordered = sorted(fit, key=lambda pair: (pair[0].makes == wanted.makes, _since(pair[1].folder)))
        for _, worktree in reversed(ordered):
            fd = lock.claim(worktree.folder)
            if fd is not None:
                return worktree.move(self._layout.making / worktree.folder.name), fd
        return None

    def _add(self, commit: str) -> tuple[Worktree, int]:
        name = new_id()
        folder = self._layout.making / name
        make_private(folder)
        fd = lock.claim(folder)
        assert fd is not None
        try:
            words = ("worktree", "add", "--quiet", "--no-checkout", "--detach", str(folder), commit)
            self._repository.git.run(*words)
        except BaseException:
            os.close(fd)
            self._throw(Worktree(folder, self._named(folder)))
            raise
        return Worktree(folder, self._repository.admin(name)), fd

    def _named(self, folder: Path) -> Path | None:
        """On their way, a worktree's two folders have the same name."""
        admin = self._repository.admin(folder.name)
        return admin if admin.is_dir() else None

    def _throw(self, worktree: Worktree) -> None:
        name = worktree.admin.name if worktree.admin is not None else new_id()
        for path, trash in ((worktree.folder, self._layout.trash), (worktree.admin, self._repository.trash)):
            if path is not None and os.path.lexists(path):
                make_private(trash)
                path.rename(trash / (new_id() if os.path.lexists(trash / name) else name))


def _stamp(worktree: Worktree) -> Stamp | None:
    return stamp.read(worktree.sound) if worktree.sound is not None else None


def _since(folder: Path) -> float:
    """When it was given back: moving a folder changes it."""
    try:
        return folder.lstat().st_ctime
    except FileNotFoundError:
        return 0.0


def _delete(path: Path) -> None:
    fd = lock.claim(path) if is_folder(path) else -1
    if fd is None:
        return
    try:
        remove(path)
    finally:
        if fd >= 0:
            os.close(fd)


def _abandoned(folder: Path) -> bool:
    """Its maker holds it while it lives."""
    if not is_folder(folder):
        return True
    fd = lock.claim(folder)
    if fd is not None:
        os.close(fd)
    return fd is not None
