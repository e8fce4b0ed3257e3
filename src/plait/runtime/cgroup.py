"""A cgroup (v2) for each attempt, where this process may make cgroups below its own.

No process leaves a cgroup by forking or by clearing its environment, so none can hide. No controller is enabled: the
cgroup limits nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

_PROCS_FILE = "cgroup.procs"
_KILL_FILE = "cgroup.kill"
_NAME_PREFIX = "plait-"


@cache
def parent_cgroup() -> str:
    """Return the folder of this process's own group if groups can be made in it; "" if not."""
    if sys.platform != "linux":
        return ""
    with suppress(OSError, ValueError):
        own = _parse_own_cgroup(Path("/proc/self/cgroup").read_text())
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, where, kind, *_ = line.split(" ")
            if kind == "cgroup2" and own:
                path = os.path.normpath(f"{where}/{own}")
                usable = os.access(path, os.W_OK) and os.access(f"{path}/{_PROCS_FILE}", os.W_OK)
                return path if usable else ""
    return ""


def make_cgroup(tag: str) -> str:
    """Make a cgroup for the attempt with this tag; "" if that is not possible."""
    above = parent_cgroup()
    if not above:
        return ""
    path = f"{above}/{_NAME_PREFIX}{tag}"
    try:
        Path(path).mkdir()
    except FileExistsError:
        pass  # an engine died before it used it
    except OSError:
        return ""
    if not Path(path, _KILL_FILE).exists():  # before Linux 5.14
        remove_cgroup(path)
        return ""
    return path


def add_processes(path: str, pids: Iterable[int]) -> None:
    """Add processes to a cgroup. Those that have exited, or may not be moved, are skipped."""
    for pid in pids:
        with suppress(OSError):
            Path(path, _PROCS_FILE).write_text(f"{pid}")


def list_members(path: str) -> list[int]:
    try:
        return [int(pid) for pid in Path(path, _PROCS_FILE).read_text().split()]
    except (OSError, ValueError):
        return []


def kill_members(path: str) -> None:
    """Kill all members at once, also those that are forked meanwhile."""
    with suppress(OSError):
        Path(path, _KILL_FILE).write_text("1")


def remove_cgroup(path: str) -> bool:
    """Remove a cgroup; False if it still has processes. True for "", which has none."""
    if not path:
        return True
    try:
        Path(path).rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def remove_stale_cgroups(prefix: str, wanted: Container[str]) -> None:
    """Remove empty cgroups that killed engines left, except those of wanted tags."""
    above = parent_cgroup()
    for path in Path(above).glob(f"{_NAME_PREFIX}{prefix}*") if above else ():
        if path.name.removeprefix(_NAME_PREFIX) not in wanted:
            remove_cgroup(str(path))


def write_cgroup_path(folder: Path, path: str) -> None:
    """Write the cgroup's path to a file for later engines, which may be in another cgroup."""
    (folder / "scope").write_text(path)


def read_cgroup_path(folder: Path) -> str:
    try:
        path = (folder / "scope").read_text()
    except OSError:
        return ""
    return path if Path(path, _PROCS_FILE).exists() else ""


def _parse_own_cgroup(text: str) -> str:
    """Parse the path in the line of version 2; "" if there is none, or if it is outside this namespace."""
    path = next((line[3:] for line in text.splitlines() if line.startswith("0::")), "")
    return "" if path.startswith("/..") else path
