"""What plait records about a worktree, in git's admin folder for it: no agent's change includes it, and it goes with it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.system.atomic_files import replace_file

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
            data = json.loads(file.read(_MAX_BYTES))
        return LeaseMetadata(
            str(data["batch"]),
            str(data["task"]),
            str(data["base"]),
            tuple(str(each) for each in data["makes"]),
            tuple(str(each) for each in data["sparse"]),
            bool(data["filled"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def write_lease(admin: Path, lease: LeaseMetadata) -> None:
    fields = {name: getattr(lease, name) for name in ("batch", "task", "base", "makes", "sparse", "filled")}
    replace_file(admin / _LEASE_FILE, json.dumps(fields).encode(), mode=0o666)


SETUP_FILE = "plait-outfit"


@dataclass(frozen=True, slots=True)
class SetupMetadata:
    """`ours` are paths from the workspace's top that are no part of an agent's change, folders with all that is in them.

    `fitted` tells for which wishes copies and links were made, `key` for which setup `made` was made; empty: not yet, or
    not to the end. `used`: an agent has worked here since, and what a setup makes now may be its doing.
    """

    key: str = ""
    ours: tuple[str, ...] = ()
    fitted: str = ""
    made: tuple[str, ...] = ()
    used: bool = False


_SETUP_FIELDS = tuple(field.name for field in fields(SetupMetadata))


def read_setup_metadata(workspace: Path) -> SetupMetadata:
    """An empty one where there is none, or none that can be read: then everything is done again."""
    try:
        data = json.loads((find_admin_folder(workspace) / SETUP_FILE).read_bytes())
        return SetupMetadata(
            str(data["key"]),
            _parse_strings(data["ours"]),
            str(data["fitted"]),
            _parse_strings(data["made"]),
            bool(data["used"]),
        )
    except (OSError, WorldError, ValueError, TypeError, KeyError, RecursionError):
        return SetupMetadata()


def write_setup_metadata(workspace: Path, metadata: SetupMetadata) -> None:
    data = {name: getattr(metadata, name) for name in _SETUP_FIELDS}
    replace_file(find_admin_folder(workspace) / SETUP_FILE, json.dumps(data).encode())


def reset_setup_metadata(workspace: Path) -> None:
    """The workspace, cleaned of all but what setup made, goes to another task: copies and links are due again."""
    metadata = read_setup_metadata(workspace)
    if metadata != SetupMetadata():
        write_setup_metadata(workspace, replace(metadata, fitted="", ours=metadata.made, used=False))


def find_admin_folder(workspace: Path) -> Path:
    """Git's folder for this worktree."""
    dot = workspace / ".git"
    with suppress(IsADirectoryError):
        try:
            word, _, path = dot.read_bytes().partition(b" ")
        except (FileNotFoundError, NotADirectoryError) as error:
            raise WorldError(f"{workspace} is not a worktree") from error
        if word != b"gitdir:":
            raise WorldError(f"{dot} can't be read")
        return workspace / os.fsdecode(path.rstrip(b"\r\n"))
    return dot


def _parse_strings(data: object) -> tuple[str, ...]:
    if not isinstance(data, list):
        raise TypeError(data)
    return tuple(str(each) for each in data)
