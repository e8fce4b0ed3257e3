"""One worktree: its folder, and git's own folder about it (`admin`). Either may be missing, whoever removed it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from plait.core.frozen import dataclass
from plait.site.outfitting.disk import remove
from plait.site.workspaces.layout import children
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.stamp import replace_file

_MOST = 1 << 16  # bytes of one of git's small files
_HEAD = re.compile(r"(?:ref: refs/\S+|[0-9a-f]{40,64})\n?\Z")
# Of a worktree that is given back, this stays: all else (merges half done, reflogs, locks) was its last task's business.
_STAYS = frozenset({"HEAD", "commondir", "gitdir", "index", "plait.json", "plait-outfit"})


@dataclass(frozen=True, slots=True)
class Worktree:
    folder: Path
    admin: Path | None

    @property
    def sound(self) -> Path | None:
        """Its admin, if git can work here: the folder and the admin are whole, and know each other."""
        if self.admin is None or not is_folder(self.folder) or pointer(self.folder) != self.admin:
            return None
        whole = _HEAD.match(small(self.admin / "HEAD")) and small(self.admin / "index").startswith("DIRC")
        return self.admin if whole else None

    def move(self, to: Path) -> Worktree:
        """Under the repository's lock. As `git worktree move`, which won't move one that has submodules in it.

        The admin is told first: a folder in its old place that names an admin which names nobody is still a whole one.
        """
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.admin is not None:
            point(self.admin, to)
        self.folder.rename(to)
        return Worktree(to, self.admin)

    def forget(self) -> None:
        """What its last task had begun is over: only what makes it a worktree stays."""
        assert self.admin is not None
        for each in children(self.admin):
            if each.name not in _STAYS:
                remove(each)


def find(repository: Repository, folder: Path) -> Worktree | None:
    """What there is in this place: a worktree, or what is left of one. What a folder says of itself is an agent's word."""
    named = pointer(folder)
    if named not in repository.admins or not _at_home(named, folder):
        named = next((each for each in repository.admins if home(each) == folder), None)
    if named is not None:
        _mend(named, folder)
        return Worktree(folder, named)
    return Worktree(folder, None) if os.path.lexists(folder) else None


def _mend(admin: Path, folder: Path) -> None:
    """What has no content of its own, and some git or agent that died has lost."""
    if not small(admin / "commondir"):
        replace_file(admin / "commondir", b"../..\n")
    if is_folder(folder) and not os.path.lexists(folder / ".git"):
        replace_file(folder / ".git", f"gitdir: {admin}\n".encode("utf-8", "surrogateescape"))


def pointer(folder: Path) -> Path | None:
    """The admin that the folder names."""
    word, _, path = small(folder / ".git").rstrip("\n").partition(": ")
    return Path(path) if word == "gitdir" and Path(path).is_absolute() else None


def home(admin: Path) -> Path | None:
    """The folder that the admin names."""
    path = small(admin / "gitdir").rstrip("\n")
    return Path(path).parent if path.endswith("/.git") else None


def point(admin: Path, folder: Path) -> None:
    replace_file(admin / "gitdir", f"{folder / '.git'}\n".encode("utf-8", "surrogateescape"))


def _at_home(admin: Path, folder: Path) -> bool:
    """Whoever died between telling the admin and moving the folder left an admin that names nobody."""
    named = home(admin)
    if named == folder:
        return True
    if named is None or os.path.lexists(named / ".git"):
        return False
    point(admin, folder)
    return True


def small(path: Path) -> str:
    """One of git's small files, no link and nothing that blocks; empty if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        return os.read(fd, _MOST).decode("utf-8", "surrogateescape")
    finally:
        os.close(fd)


def is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
