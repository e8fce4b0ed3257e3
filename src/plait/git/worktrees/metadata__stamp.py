"""What plait knows of a worktree, in git's own folder about it: out of the agent's way, and gone with the worktree."""

from __future__ import annotations

import json
from pathlib import Path
from threading import get_native_id

from plait.core.fast_dataclass import dataclass

_LEASE_FILE = "plait.json"
SETUP_METADATA_FILE = "plait-outfit"  # written by whoever fits workspaces out, when that is done
_MAX_BYTES = 1 << 20  # bytes; none of ours comes near it


@dataclass(frozen=True, slots=True)
class LeaseMetadata:
    """Who a worktree is leased to (a gate's has no task), the commit it began with, and what was asked for.

    `filled`: its submodules have been seen to, which can only be done in its place.
    """

    batch: str
    task: str
    base: str
    makes: tuple[str, ...] = ()
    sparse: tuple[str, ...] = ()
    filled: bool = False

    def has_same_start(self, wanted: LeaseMetadata) -> bool:
        return (self.batch, self.task, self.base) == (wanted.batch, wanted.task, wanted.base)


def read_lease(admin: Path) -> LeaseMetadata | None:
    """None if there is none, or none that can be read."""
    try:
        with (admin / _LEASE_FILE).open("rb") as file:
            told = json.loads(file.read(_MAX_BYTES))
        return LeaseMetadata(
            str(told["batch"]),
            str(told["task"]),
            str(told["base"]),
            tuple(str(each) for each in told["makes"]),
            tuple(str(each) for each in told["sparse"]),
            bool(told["filled"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write_lease(admin: Path, lease: LeaseMetadata) -> None:
    fields = {name: getattr(lease, name) for name in ("batch", "task", "base", "makes", "sparse", "filled")}
    replace_file(admin / _LEASE_FILE, json.dumps(fields).encode(), suffix=f".{get_native_id()}")


def replace_file(path: Path, data: bytes, suffix: str = "") -> None:
    """Whoever reads it meets the old text or the new one. Where several may write at once, each says which `writer` it is."""
    beside = path.with_name(f"{path.name}{suffix}.new")
    beside.write_bytes(data)
    beside.replace(path)
