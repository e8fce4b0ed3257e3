"""Control groups that limit the memory and the processes of a strict attempt as a whole, where this user can make some.

Elsewhere the limits are those of each process (`ulimit`), and root's processes are not counted by the kernel at all.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from plait.runtime.sandbox.spec import SandboxLimits

_LIST_FILE = "limits"  # in the attempt's private folder: the groups that were made
_PROCS_FILE = "cgroup.procs"


def build_limit_line(name: str, limits: SandboxLimits, private: Path) -> str:
    """Build a line for a shell that puts it into groups of its own; "" if none can be made."""
    groups = _make_groups(name, limits) if limits.memory or limits.processes else []
    if not groups:
        return ""
    (private / _LIST_FILE).write_text("\n".join(groups))
    enter = "; ".join(f"echo $$ >{shlex.quote(f'{group}/{_PROCS_FILE}')}" for group in groups)
    return f"{{ {enter}; }} 2>/dev/null"


def remove_limit_groups(private: Path) -> None:
    """Remove an attempt's groups when no process is left in them."""
    with suppress(OSError):
        for group in (private / _LIST_FILE).read_text().splitlines():
            with suppress(OSError):
                Path(group).rmdir()


def _make_groups(name: str, limits: SandboxLimits) -> list[str]:
    made = []
    for parent, files in _find_parents(limits):
        group = Path(parent, f"plait-{name}")
        try:
            group.mkdir(exist_ok=True)
            for file, value in files.items():
                (group / file).write_text(str(value))
        except OSError:
            with suppress(OSError):
                group.rmdir()
            continue
        made.append(str(group))
    return made


def _find_parents(limits: SandboxLimits) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield the folders of this process's own groups, and the files of a group in each that set a limit."""
    mounts = _read_mounts()
    wanted = {"memory": limits.memory, "pids": limits.processes}
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers and "" in mounts:  # version 2
                files = {f"{controller}.max": value for controller, value in wanted.items() if value}
                yield os.path.normpath(f"{mounts['']}/{path}"), files
            elif controllers in wanted and controllers in mounts and wanted[controllers]:
                file = "memory.limit_in_bytes" if controllers == "memory" else "pids.max"
                yield os.path.normpath(f"{mounts[controllers]}/{path}"), {file: wanted[controllers]}


def _read_mounts() -> dict[str, str]:
    """Return where the controllers of version 1 are mounted, and version 2 as ""."""
    found = {}
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            _, where, kind, options, *_ = line.split(" ")
            if kind == "cgroup2":
                found[""] = where
            elif kind == "cgroup":
                found |= {name: where for name in options.split(",") if name in {"memory", "pids"}}
    return found
