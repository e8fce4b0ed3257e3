"""One worktree: its folder, and git's own folder about it (`admin`). Either may be missing, whoever removed it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.worktrees.metadata__stamp import replace_file
from plait.git.worktrees.worktree__layout import list_children
from plait.git.worktrees.worktree__repository import Repository
from plait.system.disk import remove_tree

_MAX_BYTES = 1 << 16  # bytes of one of git's small files
_VALID_HEAD = re.compile(r"(?:ref: refs/\S+|[0-9a-f]{40,64})\n?\Z")
# Of a worktree that is given back, this stays: all else (merges half done, reflogs, locks) was its last task's business.
_KEPT_ADMIN_FILES = frozenset({"HEAD", "commondir", "gitdir", "index", "plait.json", "plait-outfit"})


@dataclass(frozen=True, slots=True)
class Worktree:
    folder: Path
    admin: Path | None

    @property
    def valid_admin(self) -> Path | None:
        """Its admin, if git can work here: the folder and the admin are whole, and know each other."""
        if (
            self.admin is None
            or not is_real_folder(self.folder)
            or read_gitdir_link(self.folder) != self.admin
        ):
            return None
        whole = _VALID_HEAD.match(read_small_file(self.admin / "HEAD")) and read_small_file(
            self.admin / "index"
        ).startswith("DIRC")
        return self.admin if whole else None

    def move(self, to: Path) -> Worktree:
        """Under the repository's lock. As `git worktree move`, which won't move one that has submodules in it.

        The admin is told first: a folder in its old place that names an admin which names nobody is still a whole one.
        """
        to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.admin is not None:
            write_worktree_path(self.admin, to)
        self.folder.rename(to)
        return Worktree(to, self.admin)

    def reset_admin(self) -> None:
        """What its last task had begun is over: only what makes it a worktree stays."""
        assert self.admin is not None
        for each in list_children(self.admin):
            if each.name not in _KEPT_ADMIN_FILES:
                remove_tree(each)


def find_worktree(repository: Repository, folder: Path) -> Worktree | None:
    """What there is in this place: a worktree, or what is left of one. What a folder says of itself is an agent's word."""
    named = read_gitdir_link(folder)
    if named not in repository.admin_folders or not _ensure_admin_names(named, folder):
        named = next((each for each in repository.admin_folders if read_worktree_path(each) == folder), None)
    if named is not None:
        _repair(named, folder)
        return Worktree(folder, named)
    return Worktree(folder, None) if os.path.lexists(folder) else None


def _repair(admin: Path, folder: Path) -> None:
    """What has no content of its own, and some git or agent that died has lost."""
    if not read_small_file(admin / "commondir"):
        replace_file(admin / "commondir", b"../..\n")
    if is_real_folder(folder) and not os.path.lexists(folder / ".git"):
        replace_file(folder / ".git", f"gitdir: {admin}\n".encode("utf-8", "surrogateescape"))


def read_gitdir_link(folder: Path) -> Path | None:
    """The admin that the folder names."""
    word, _, path = read_small_file(folder / ".git").rstrip("\n").partition(": ")
    return Path(path) if word == "gitdir" and Path(path).is_absolute() else None


def read_worktree_path(admin: Path) -> Path | None:
    """The folder that the admin names."""
    path = read_small_file(admin / "gitdir").rstrip("\n")
    return Path(path).parent if path.endswith("/.git") else None


def write_worktree_path(admin: Path, folder: Path) -> None:
    replace_file(admin / "gitdir", f"{folder / '.git'}\n".encode("utf-8", "surrogateescape"))


def _ensure_admin_names(admin: Path, folder: Path) -> bool:
    """Whoever died between telling the admin and moving the folder left an admin that names nobody."""
    named = read_worktree_path(admin)
    if named == folder:
        return True
    if named is None or os.path.lexists(named / ".git"):
        return False
    write_worktree_path(admin, folder)
    return True


def read_small_file(path: Path) -> str:
    """One of git's small files, no link and nothing that blocks; empty if there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        return os.read(fd, _MAX_BYTES).decode("utf-8", "surrogateescape")
    finally:
        os.close(fd)


def is_real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
