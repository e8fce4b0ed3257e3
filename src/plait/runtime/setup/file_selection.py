"""Which files of the checkout are copied or linked into a workspace: ignored ones that a pattern matches.

Files that git tracks in the workspace are never overwritten.
"""

from __future__ import annotations

import stat
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from plait.git.command import Git

INCLUDE_FILE = ".worktreeinclude"
_MAX_BYTES = 1 << 20  # bytes of a file of patterns
_GLOB_CHARACTERS = frozenset("*?[!\\")


def find_checkout_top(top: Path) -> Path | None:
    """The top of the checkout that contains this folder; None in a bare repository, or without one."""
    result = Git(top).run("rev-parse", "--show-toplevel", codes=(0, 128))
    return Path(result.text) if result.code == 0 and result.text else None


def find_include_file(top: Path) -> Path | None:
    """`.worktreeinclude`, which other worktree tools read too, if it is a file."""
    path = top / INCLUDE_FILE
    try:
        status = path.lstat()
    except OSError:
        return None
    return path if stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_BYTES else None


def select_files(top: Path, patterns: Sequence[str], file: Path | None = None) -> list[str]:
    """Paths from the top, as gitignore's rules match them; one that ends in a slash is a folder with all that is in it."""
    named = [*(["--exclude-from", str(file)] if file else []), *(f"--exclude={each}" for each in patterns)]
    if not named:
        return []
    wanted, ignored = _list_ignored(top, *named), _list_ignored(top, "--exclude-standard")
    both = {each for each in wanted if is_covered(ignored, each)} | {
        each for each in ignored if is_covered(wanted, each)
    }
    return sorted(both)


def is_covered(paths: Collection[str], path: str) -> bool:
    """Whether the path or a folder around it was selected."""
    return path in paths or any(folder in paths for folder in _parent_folders(path))


def explain_missed(top: Path, patterns: Sequence[str], found: Sequence[str]) -> Iterator[str]:
    """Why plain names among the patterns match nothing."""
    for each in patterns:
        name = each.strip("/")
        if _GLOB_CHARACTERS & {*each} or not name or any(name == path.strip("/") for path in found):
            continue
        if ".." in name.split("/"):
            yield f"{each} is outside of the checkout"
        elif not (top / name).exists():
            yield f"{each} is not in the checkout"
        elif not any(f"/{path.strip('/')}/".find(f"/{name}/") >= 0 for path in found):
            yield f"{each} is not ignored by git: what the commit holds is there already"


def _list_ignored(top: Path, *flags: str) -> set[str]:
    """Git lists a folder matched as a whole alone, and a folder of which all files match before those files."""
    words = Git(top).run("ls-files", "-z", "--others", "--ignored", "--directory", *flags).fields
    parents = {folder for word in words for folder in _parent_folders(word)}
    return {word for word in words if word not in parents}


def _parent_folders(path: str) -> Iterator[str]:
    """All folders around it, each with a slash at its end."""
    at = path.find("/")
    while 0 <= at < len(path) - 1:
        yield path[: at + 1]
        at = path.find("/", at + 1)


class TrackedFiles:
    """Paths from the top, also those that a sparse checkout leaves out."""

    def __init__(self, workspace: Path) -> None:
        self._known = frozenset(Git(workspace).run("ls-files", "-z").fields)
        self._sorted: list[str] = []

    def contains(self, path: str) -> bool:
        """It is tracked itself, or is inside a tracked link, file or submodule."""
        parts = path.split("/")
        return any("/".join(parts[:end]) in self._known for end in range(1, len(parts) + 1))

    def has_below(self, path: str) -> bool:
        """Something in this folder is tracked."""
        self._sorted = self._sorted or sorted(self._known)
        first = bisect_left(self._sorted, f"{path}/")
        return first < len(self._sorted) and self._sorted[first].startswith(f"{path}/")
