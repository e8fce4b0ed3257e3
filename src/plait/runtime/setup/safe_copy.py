"""Selects ignored files of the checkout, and copies or links them into a workspace and nowhere else.

No link is followed, and files that git tracks stay untouched. Everything is created in a temporary folder first and
then renamed, so a file under its final name is complete.
"""

from __future__ import annotations

import errno
import os
import stat
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from plait.core.errors import WorldError
from plait.git.command import Git
from plait.runtime.setup.messages import WarningPrinter
from plait.system.copy_tree import TreeCopier, copy_metadata
from plait.system.disk import remove_tree

INCLUDE_FILE = ".worktreeinclude"
_MAX_BYTES = 1 << 20  # bytes of a file of patterns
_GLOB_CHARACTERS = frozenset("*?[!\\")


def find_checkout_top(top: Path) -> Path | None:
    """Return the top of the checkout that contains this folder; None in a bare repository, or without one."""
    result = Git(top).run("rev-parse", "--show-toplevel", codes=(0, 128))
    return Path(result.text) if result.code == 0 and result.text else None


def find_include_file(top: Path) -> Path | None:
    """Return `.worktreeinclude`, which other worktree tools read too, if it is a file."""
    path = top / INCLUDE_FILE
    try:
        status = path.lstat()
    except OSError:
        return None
    return path if stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_BYTES else None


def select_files(top: Path, patterns: Sequence[str], file: Path | None = None) -> list[str]:
    """List the paths from the top that match by gitignore's rules; one that ends in a slash is a folder with all that
    is in it.
    """
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
    """Yield why plain names among the patterns match nothing."""
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
    """List ignored paths. Git lists a folder that matches as a whole by itself, and one whose files all match before
    those files.
    """
    paths = Git(top).run("ls-files", "-z", "--others", "--ignored", "--directory", *flags).fields
    parents = {folder for path in paths for folder in _parent_folders(path)}
    return {path for path in paths if path not in parents}


def _parent_folders(path: str) -> Iterator[str]:
    """Yield all folders around a path, each with a slash at its end."""
    at = path.find("/")
    while 0 <= at < len(path) - 1:
        yield path[: at + 1]
        at = path.find("/", at + 1)


class TrackedFiles:
    """The tracked paths of a workspace, also those that a sparse checkout leaves out."""

    def __init__(self, workspace: Path) -> None:
        self._known = frozenset(Git(workspace).run("ls-files", "-z").fields)
        self._sorted: list[str] = []

    def contains(self, path: str) -> bool:
        """Whether it is tracked itself, or is inside a tracked link, file or submodule."""
        parts = path.split("/")
        return any("/".join(parts[:end]) in self._known for end in range(1, len(parts) + 1))

    def has_below(self, path: str) -> bool:
        """Whether something in this folder is tracked."""
        self._sorted = self._sorted or sorted(self._known)
        first = bisect_left(self._sorted, f"{path}/")
        return first < len(self._sorted) and self._sorted[first].startswith(f"{path}/")


STAGING_FOLDER = ".plait-outfit"
_COPY, _LINK = "copy", "link"
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FilePlacer:
    """Copies and links files into a workspace. `ours` are the paths that an earlier, perhaps interrupted process
    created; they may be replaced.
    """

    def __init__(
        self,
        workspace: Path,
        tracked: TrackedFiles,
        ours: Collection[str],
        copier: TreeCopier,
        warnings: WarningPrinter,
    ) -> None:
        self._workspace = workspace
        self._tracked = tracked
        self._ours = ours
        self._copier = copier
        self._warnings = warnings
        self._stage = workspace / STAGING_FOLDER

    def __enter__(self) -> Self:
        if self._tracked.contains(STAGING_FOLDER) or self._tracked.has_below(STAGING_FOLDER):
            raise WorldError(f"the repository has a file {STAGING_FOLDER} of its own, which plait needs the name of")
        self._clear()
        self._stage.mkdir(0o700)
        # A crash here leaves a folder that git doesn't see.
        (self._stage / ".gitignore").write_text("*\n", "ascii")
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def copy(self, root: Path, path: str) -> None:
        """Copy a file or folder of `root` to the same path. Existing files stay; missing ones are added to a folder."""
        waiting = [path.rstrip("/")]
        while waiting:
            each = waiting.pop()
            waiting += self._with_parent(root, each, partial(self._copy_one, root, each))

    def link(self, root: Path, path: str) -> None:
        """Make a link to a path of `root`."""
        path = path.rstrip("/")
        target = str(root / path)

        def linked(folder: int, name: str) -> list[str]:
            there = _lstat(name, folder)
            if self._tracked.has_below(path):
                self._warnings.add(f"{path} is not linked: git tracks files in it")
                return []
            if there is not None and not self._is_replaceable(path, there, stat.S_IFLNK):
                if not (stat.S_ISLNK(there.st_mode) and os.readlink(name, dir_fd=folder) == target):
                    self._warnings.add(f"{path} is there already and is not linked")
                return []
            staged = self._stage / _LINK
            staged.symlink_to(target)
            os.rename(staged, name, dst_dir_fd=folder)
            return []

        self._with_parent(root, path, linked)

    def _clear(self) -> None:
        """Remove the temporary folder. The file that hides it from git is deleted last."""
        there = _lstat(str(self._stage))
        if there is not None and stat.S_ISDIR(there.st_mode):
            remove_tree(self._stage / _COPY)
        remove_tree(self._stage)

    def _with_parent(self, root: Path, path: str, then: Callable[[int, str], list[str]]) -> list[str]:
        """Call `then` with the parent folder's descriptor, unless git tracks something in the way, or a link leads out."""
        if self._tracked.contains(path):
            return []
        above, _, name = path.rpartition("/")
        try:
            folder = self._open_folder(root, above.split("/") if above else [])
        except OSError as error:
            if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                raise
            self._warnings.add(f"{path} is left out: something else than a folder is where {above} should be")
            return []
        try:
            return then(folder, name)
        finally:
            os.close(folder)

    def _copy_one(self, root: Path, path: str, folder: int, name: str) -> list[str]:
        """Copy one path; returns the paths in it if the folder exists and must be filled one by one."""
        source = str(root / path)
        status, there = _lstat(source), _lstat(name, folder)
        if status is None:
            return []
        if stat.S_ISDIR(status.st_mode) and (
            self._tracked.has_below(path) if there is None else stat.S_ISDIR(there.st_mode)
        ):
            if there is None:
                os.mkdir(name, dir_fd=folder)
            return [f"{path}/{each}" for each in os.listdir(source)]  # noqa: PTH208 - the quick one
        if self._tracked.has_below(path) or (there is not None and _is_same(status, there)):
            return []
        if there is None or self._is_replaceable(path, there, stat.S_IFMT(status.st_mode)):
            self._put(source, folder, name)
        else:
            self._warnings.add(f"{path} is there already and is left as it is")
        return []

    def _put(self, source: str, folder: int, name: str) -> None:
        staged = self._stage / _COPY
        status = self._copier.copy(source, str(staged))
        try:
            os.rename(staged, name, dst_dir_fd=folder)
        except FileNotFoundError:  # it can't be read, or is no regular file
            return
        if status is not None:
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
            try:
                copy_metadata(inner, status)
            finally:
                os.close(inner)

    def _is_replaceable(self, path: str, there: os.stat_result, kind: int) -> bool:
        return is_covered(self._ours, path) and not stat.S_ISDIR(kind) and stat.S_IFMT(there.st_mode) == kind

    def _open_folder(self, root: Path, parts: list[str]) -> int:
        """Return a descriptor of the folder; missing folders are created with the modes they have in `root`."""
        folder, at = str(root), os.open(self._workspace, _FOLDER_FLAGS & ~os.O_NOFOLLOW)
        for part in parts:
            folder = f"{folder}/{part}"
            try:
                status = _lstat(part, at)
                if status is None:
                    os.mkdir(part, _folder_mode(folder), dir_fd=at)
                inner = os.open(part, _FOLDER_FLAGS, dir_fd=at)
            finally:
                os.close(at)
            at = inner
        return at


def _folder_mode(original: str) -> int:
    status = _lstat(original)
    return stat.S_IMODE(status.st_mode) & 0o777 | 0o700 if status else 0o777


def _lstat(path: str, folder: int | None = None) -> os.stat_result | None:
    try:
        return os.stat(path, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_same(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether they look the same without reading their content."""
    return (one.st_mode, one.st_size, one.st_mtime_ns) == (other.st_mode, other.st_size, other.st_mtime_ns)
