"""Overlap of files, folders and globs, put as tokens: two touches overlap exactly when they share one.

A path stands for one file; if it ends in a slash, or the plan names something beneath it, it is a folder and stands
for all that lies in it. A glob stands for what it matches. The wider takes the tokens of the narrower, never the other
way round: two files of one folder must not meet. Two globs count as overlapping unless their prefixes exclude each
other; they meet in tokens of their own (`src/a*/`: no path is spelled like that), for a prefix says nothing about
files and folders.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator

from plait.core.globs import Glob, is_glob, parse_glob

FILE_PREFIX = "file:"
ROOT = "."


def normalize_touch(said: str) -> str | None:
    """One spelling for each path; a folder keeps its slash. None if it is empty or lies outside the repository."""
    names: list[str] = []
    for name in said.split("/"):
        if name == "..":
            if not names:
                return None
            names.pop()
        elif name not in {"", "."}:
            names.append(name)
    if not said or said.startswith("/"):
        return None
    folder = said.endswith(("/", "/.", "/.."))
    path = "/".join(names)
    if not folder:
        return path or f"{ROOT}/"
    return f"{path}/**" if is_glob(path) else f"{path or ROOT}/"


def find_file_locks(touches: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The tokens of each touch, all of them in their normal spelling."""
    globs = [parse_glob(touch) for touch in touches if is_glob(touch)]
    paths = {touch.removesuffix("/") for touch in touches if not is_glob(touch)}
    inside = _find_contained(paths, globs)
    taken = {
        path: [FILE_PREFIX + path, *(FILE_PREFIX + touch for touch in touches)]
        for path, touches in inside.items()
    }
    if globs:
        folders = inside.keys() | {touch[:-1] for touch in touches if touch.endswith("/")}
        taken |= _find_glob_locks(globs, sorted(paths - folders), sorted(folders))
    return {
        touch: tuple(taken[path]) if (path := touch.removesuffix("/")) in taken else (FILE_PREFIX + path,)
        for touch in touches
    }


def _find_contained(paths: Collection[str], globs: list[Glob]) -> dict[str, list[str]]:
    """For each named path that turns out to be a folder, the named paths and globs that lie in it."""
    inside: dict[str, list[str]] = {}
    named: dict[str, list[str]] = {}  # the named paths among a folder and the folders around it
    for touch, folder in _list_parents(paths, globs):
        if folder not in named:
            named[folder] = [around for around in list_enclosing_folders(folder) if around in paths]
        for around in named[folder]:
            inside.setdefault(around, []).append(touch)
    return inside


def _list_parents(paths: Collection[str], globs: list[Glob]) -> Iterator[tuple[str, str]]:
    for path in paths:
        if path != ROOT:
            yield path, path.rpartition("/")[0]
    for glob in globs:
        yield glob.text, glob.folder


def list_enclosing_folders(folder: str) -> Iterator[str]:
    """The folder, and those that it lies in."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ROOT


def _find_glob_locks(globs: list[Glob], files: list[str], folders: list[str]) -> dict[str, list[str]]:
    prefixes = sorted({glob.prefix for glob in globs})
    return {
        glob.text: [
            FILE_PREFIX + glob.text,
            *(FILE_PREFIX + path for path in _list_with_prefix(glob.prefix, files) if glob.matches(path)),
            # A folder that the whole glob lies in holds the glob's token already.
            *(FILE_PREFIX + path for path in folders if not _is_inside(glob, path) and glob.reaches(path)),
            *(f"{FILE_PREFIX}{prefix}*/" for prefix in _list_with_prefix(glob.prefix, prefixes)),
        ]
        for glob in globs
    }


def _list_with_prefix(prefix: str, names: list[str]) -> Iterator[str]:
    for place in range(bisect_left(names, prefix), len(names)):
        if not names[place].startswith(prefix):
            return
        yield names[place]


def _is_inside(glob: Glob, folder: str) -> bool:
    return folder == ROOT or f"{glob.folder}/".startswith(f"{folder}/")
