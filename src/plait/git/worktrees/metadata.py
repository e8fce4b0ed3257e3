"""What plait records about a worktree, in git's admin folder for it: no agent's change includes it, and it goes with it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.system.atomic_files import replace_file

_LEASE_FILE = "plait.json"
SETUP_METADATA_FILE = "plait-outfit"
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LeaseMetadata:
    """The batch and task that a worktree is leased to (a gate has no task), the commit it started from, and what was requested.

    `filled`: its submodules were populated, which can only be done in its final place.
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
    """None if it is missing or damaged."""
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
    replace_file(admin / _LEASE_FILE, json.dumps(asdict(lease)).encode(), mode=0o666)


@dataclass(frozen=True, slots=True)
class SetupMetadata:
    """`ours` are paths in the workspace that are no part of an agent's change, with everything below them.

    `fitted` identifies the options for which copies and links were made, `key` the setup that made `made`; empty if not
    completed. `used`: an agent has worked here since, so what a setup makes now may be the agent's doing.
    """

    key: str = ""
    ours: tuple[str, ...] = ()
    fitted: str = ""
    made: tuple[str, ...] = ()
    used: bool = False


def read_setup_metadata(workspace: Path) -> SetupMetadata:
    """Empty if it is missing or damaged: then setup runs again."""
    try:
        data = json.loads((find_admin_folder(workspace) / SETUP_METADATA_FILE).read_bytes())
        return SetupMetadata(
            str(data["key"]),
            _parse_strings(data["ours"]),
            str(data["fitted"]),
            _parse_strings(data["made"]),
            bool(data["used"]),
        )
    except (OSError, WorldError, ValueError, TypeError, KeyError, RecursionError):
        return SetupMetadata()


def read_setup_paths(admin: Path) -> tuple[str, ...]:
    """The paths that setup put into the worktree, by its admin: the workspace's own link may be an agent's."""
    try:
        paths = _parse_strings(json.loads((admin / SETUP_METADATA_FILE).read_bytes())["ours"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ()
    return tuple(path.strip("/") for path in paths if path.strip("/"))


def write_setup_metadata(workspace: Path, metadata: SetupMetadata) -> None:
    replace_file(find_admin_folder(workspace) / SETUP_METADATA_FILE, json.dumps(asdict(metadata)).encode())


def reset_setup_metadata(workspace: Path) -> None:
    """For the next task, in a workspace cleaned of all but what setup made: copies and links are due again."""
    metadata = read_setup_metadata(workspace)
    if metadata != SetupMetadata():
        write_setup_metadata(workspace, replace(metadata, fitted="", ours=metadata.made, used=False))


def find_admin_folder(workspace: Path) -> Path:
    """The admin that the workspace names."""
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
