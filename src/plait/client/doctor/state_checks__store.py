"""Folders that plait keeps things in: whether they can be used, and how much lies there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from plait.client.doctor.check import DoctorCheck, format_bytes, ok, problem, warning

_MAX_FILES = 200_000  # files that are counted; nobody waits for more


def check_state_folder(folder: Path) -> DoctorCheck:
    wrong = find_write_problem(folder)
    if wrong:
        return problem(
            "state", f"{folder}: {wrong}", "Batches can't be run as long as plait can't write there."
        )
    if not folder.exists():
        return ok("state", f"{folder}, made when the first batch is submitted")
    parts = ", ".join(f"{name} {format_bytes(count)}" for name, count in _measure_parts(folder))
    return ok("state", f"{folder}: {parts or 'nothing yet'}")


def check_shared_state(folder: Path) -> DoctorCheck:
    """What all engines of one user share."""
    wrong = find_write_problem(folder)
    if wrong:
        hint = "Without it, engines of several repositories do not know of each other's slots and ports."
        return warning("commons", f"{folder}: {wrong}", hint)
    return ok("commons", str(folder) if folder.exists() else f"{folder}, made when an engine starts")


def find_write_problem(folder: Path) -> str:
    """Why nothing can be written there; a folder that is not there yet is made in the nearest one that is."""
    for each in (folder, *folder.parents):
        if os.path.lexists(each):
            if not each.is_dir():
                return "it is no folder" if each == folder else f"{each} is no folder"
            return "" if os.access(each, os.W_OK | os.X_OK) else "it can't be written to"
    return ""


def _measure_parts(folder: Path) -> Iterator[tuple[str, int]]:
    """The journal and its like with the files that belong to them, then the folders."""
    sizes: dict[str, int] = {}
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        name = f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name.partition(".")[0]
        sizes[name] = sizes.get(name, 0) + _measure_entry(entry)
    yield from ((name, count) for name, count in sizes.items() if count)


def _measure_entry(entry: os.DirEntry[str]) -> int:
    return measure_disk_use([entry.path])[0]


def measure_disk_use(paths: Sequence[str]) -> tuple[int, bool]:
    """What they take on disk, and whether that is all: a transcript may have a hole in it, and nobody waits for ever."""
    total, waiting, seen = 0, list(paths), 0
    while waiting and seen < _MAX_FILES:
        seen += 1
        path = waiting.pop()
        try:
            found = os.lstat(path)
            total += found.st_blocks * 512
            if stat.S_ISDIR(found.st_mode):
                waiting += [each.path for each in os.scandir(path)]
        except OSError:  # it went away meanwhile
            continue
    return total, not waiting
