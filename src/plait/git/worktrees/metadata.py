"""The small files in git's own folder for a worktree, its gitdir (.git/worktrees/<id>): git's own, and what plait records there.

No agent's change includes them, and they are removed with the worktree.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.refs import has_ref_files
from plait.system.atomic_files import read_regular_file, replace_file

if TYPE_CHECKING:
    from plait.git.command import Git

_LEASE_FILE = "plait.json"
SETUP_METADATA_FILE = "plait-outfit"
_MAX_BYTES = 1 << 20
_DECODE_ERRORS = (OSError, ValueError, KeyError, TypeError, RecursionError)
_MAX_GIT_BYTES = 1 << 16  # bytes of one of git's small files


def write_gitdir_link(folder: Path, gitdir: Path) -> None:
    """Write the `.git` of a worktree in place, in one write: after a crash, a temporary file in the workspace would be
    captured as the agent's work.
    """
    link = folder / ".git"
    link.unlink(missing_ok=True)
    fd = os.open(link, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        os.write(fd, f"gitdir: {gitdir}\n".encode("utf-8", "surrogateescape"))
    finally:
        os.close(fd)


def read_gitdir_link(folder: Path) -> Path | None:
    """Return the gitdir that the folder names; None if it names none."""
    key, _, path = read_small_file(folder / ".git").rstrip("\r\n").partition(": ")
    return Path(os.path.normpath(folder / path)) if key == "gitdir" and path else None


def read_worktree_path(gitdir: Path) -> Path | None:
    """Return the worktree's folder that the gitdir names; None if it names none."""
    path = read_small_file(gitdir / "gitdir").rstrip("\r\n")
    return Path(os.path.normpath(gitdir / path)).parent if path.endswith("/.git") else None


def write_worktree_path(gitdir: Path, folder: Path) -> None:
    replace_file(gitdir / "gitdir", f"{folder / '.git'}\n".encode("utf-8", "surrogateescape"), mode=0o666)


def read_small_file(path: Path) -> str:
    """Read one of git's small files; empty if it is missing, a symlink or not a regular file."""
    try:
        return read_regular_file(path, _MAX_GIT_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def is_real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def read_head(git_dir: Path, gitdir: Path) -> str:
    """Read HEAD in a gitdir of this repository: a ref, or a commit; empty if it is neither."""
    if has_ref_files(git_dir):
        return read_small_file(gitdir / "HEAD").rstrip("\n").removeprefix("ref: ")
    git = _git_at(gitdir)
    return git.run("symbolic-ref", "--quiet", "HEAD", codes=(0, 1, 128)).text or git.resolve_commit("HEAD") or ""


def format_head(head: str) -> str:
    """Format the content of the file HEAD."""
    return f"ref: {head}\n" if head.startswith("refs/") else f"{head}\n"


def find_checkouts(git_dir: Path, ref: str) -> Iterator[Path]:
    """Yield the folders in which a branch is checked out; if a worktree's folder is unknown, its gitdir."""
    if not has_ref_files(git_dir):
        folder = ""
        for row in _git_at(git_dir).run("worktree", "list", "--porcelain", "-z").fields:
            folder = row.removeprefix("worktree ") if row.startswith("worktree ") else folder
            if row == f"branch {ref}":
                yield Path(folder)
        return
    gitdirs, main = [git_dir], git_dir.parent if git_dir.name == ".git" else git_dir
    with suppress(OSError):
        gitdirs += sorted((git_dir / "worktrees").iterdir())
    for gitdir in gitdirs:
        with suppress(OSError):
            if (gitdir / "HEAD").read_text(errors="replace").strip() == f"ref: {ref}":
                yield main if gitdir == git_dir else read_worktree_path(gitdir) or gitdir


def _git_at(gitdir: Path) -> Git:
    """Open git for what can't be read from files. It has a work tree, since the configuration may name one that no
    longer exists.
    """
    from plait.git.command import Git  # few repositories need it

    return Git(gitdir, variables={"GIT_DIR": str(gitdir), "GIT_WORK_TREE": str(gitdir)})


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

    def has_same_start(self, other: LeaseMetadata) -> bool:
        return (self.batch, self.task, self.base) == (other.batch, other.task, other.base)


def read_lease(gitdir: Path) -> LeaseMetadata | None:
    """Read a worktree's lease; None if it is missing or damaged."""
    try:
        with (gitdir / _LEASE_FILE).open("rb") as file:
            data = json.loads(file.read(_MAX_BYTES))
        return LeaseMetadata(
            str(data["batch"]),
            str(data["task"]),
            str(data["base"]),
            _parse_strings(data["makes"]),
            _parse_strings(data["sparse"]),
            bool(data["filled"]),
        )
    except _DECODE_ERRORS:
        return None


def write_lease(gitdir: Path, lease: LeaseMetadata) -> None:
    replace_file(gitdir / _LEASE_FILE, json.dumps(asdict(lease)).encode(), mode=0o666)


@dataclass(frozen=True, slots=True)
class SetupMetadata:
    """What setup did in a workspace.

    `ours` are paths in the workspace that are no part of an agent's change, with everything below them. `fitted`
    identifies the options for which copies and links were made, `key` the setup that made `made`; empty if not
    completed. `used`: an agent has worked here since, so what a setup makes now may be the agent's doing.
    """

    key: str = ""
    ours: tuple[str, ...] = ()
    fitted: str = ""
    made: tuple[str, ...] = ()
    used: bool = False


def read_setup_metadata(workspace: Path) -> SetupMetadata:
    """Read the setup metadata; empty if it is missing or damaged: setup runs again then."""
    try:
        data = json.loads((find_gitdir(workspace) / SETUP_METADATA_FILE).read_bytes())
        ours, made = _parse_strings(data["ours"]), _parse_strings(data["made"])
        return SetupMetadata(str(data["key"]), ours, str(data["fitted"]), made, bool(data["used"]))
    except (WorldError, *_DECODE_ERRORS):
        return SetupMetadata()


def read_setup_paths(gitdir: Path) -> tuple[str, ...]:
    """Read the paths that setup put into the worktree. The gitdir is given because an agent may have written the
    workspace's own link.
    """
    try:  # whatever else is wrong with the record: secrets may be among them
        ours = _parse_strings(json.loads((gitdir / SETUP_METADATA_FILE).read_bytes())["ours"])
    except _DECODE_ERRORS:
        return ()
    return tuple(path for each in ours if (path := each.strip("/")))


def write_setup_metadata(workspace: Path, metadata: SetupMetadata) -> None:
    replace_file(find_gitdir(workspace) / SETUP_METADATA_FILE, json.dumps(asdict(metadata)).encode())


def reset_setup_metadata(workspace: Path) -> None:
    """Reset the metadata for the next task in a workspace where only setup's outputs are left: copies and links have to
    be made again.
    """
    metadata = read_setup_metadata(workspace)
    if metadata != SetupMetadata():
        write_setup_metadata(workspace, replace(metadata, fitted="", ours=metadata.made, used=False))


def find_gitdir(workspace: Path) -> Path:
    """Return the gitdir that the workspace names; for a whole repository, its git folder. Raises WorldError if there is
    none.
    """
    if (workspace / ".git").is_dir():
        return workspace / ".git"
    gitdir = read_gitdir_link(workspace)
    if gitdir is None:
        raise WorldError(f"{workspace} is not a worktree")
    return gitdir


def _parse_strings(data: object) -> tuple[str, ...]:
    if not isinstance(data, list):
        raise TypeError(data)
    return tuple(str(each) for each in data)
