"""Describes what a sandboxed command finds at which path: pure data, from which each kind of sandbox builds its command
line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import PurePath

from plait.core.fast_dataclass import dataclass
from plait.runtime.sandbox.spec import SandboxLimits


class Access(Enum):
    """How a path appears in the sandbox. HIDDEN is an empty folder, or an empty file (EMPTY)."""

    HIDDEN = "hidden"
    EMPTY = "empty"
    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Mount:
    """A path in the sandbox. `source` is a path of this machine; "" means the same as `target`."""

    target: str
    access: Access
    source: str = ""

    @property
    def origin(self) -> str:
        return self.source or self.target


@dataclass(frozen=True, slots=True)
class SandboxLayout:
    """What a command finds in its sandbox. `mounts` in any order: a deeper path always counts more than those around
    it. Everything else on the disk is readable.

    Without `share_network`, there is no network but the loopback of the sandbox.
    """

    workspace: str
    mounts: tuple[Mount, ...]
    share_network: bool = True
    limits: SandboxLimits = SandboxLimits()

    @property
    def writable(self) -> list[str]:
        """List the places of this machine that the command can write to."""
        return [mount.origin for mount in self.mounts if mount.access is Access.WRITE]

    @property
    def ordered_mounts(self) -> list[Mount]:
        """Return the mounts with outer folders first; if several are for one path, the last one given. What is readable
        anyway is left out.
        """
        by_target = {mount.target: mount for mount in self.mounts}
        ordered = sorted(by_target.values(), key=lambda mount: (mount.target.rstrip("/").count("/"), mount.target))
        return [mount for mount in ordered if not _is_redundant(mount, by_target)]


def _is_redundant(mount: Mount, by_target: Mapping[str, Mount]) -> bool:
    """Whether the mount makes a path readable in a folder that is readable already. (It may be a link there, which
    nothing can be mounted on.)
    """
    if mount.access is not Access.READ or mount.origin != mount.target:
        return False
    around = next((by_target[str(path)] for path in PurePath(mount.target).parents if str(path) in by_target), None)
    return around is not None and around.access is Access.READ and around.origin == around.target


def is_inside(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
