"""The data that workspaces, captures and merges receive and return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum

from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WorkspaceSetup:
    """What a workspace gets beyond its commit. `copy` and `link` are patterns of ignored files of the checkout.

    `setup` is run once in a new workspace. What it makes (paths in `makes`) is cached for workspaces whose files named in
    `reads` are the same. `sparse` are the folders that are checked out; empty: all.
    """

    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    setup: str | None = None
    reads: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    sparse: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergeRules:
    """How to merge files that many tasks change: `union` keeps the lines of both, `regenerate` are pairs of a pattern and the
    command that regenerates such a file.
    """

    union: tuple[str, ...] = ()
    regenerate: tuple[tuple[str, str], ...] = ()


class ChangeGoneError(WorldError):
    """A task's result is not in the repository any more, so there is nothing to merge."""


@dataclass(frozen=True, slots=True)
class CapturedChange:
    """What an attempt left in its workspace, as the commit `tip`.

    `files` are all that differ from its base; `empty`: none does. `reverted_sources` are sources in which only statuses
    differed, which only plait writes. `diffstat` is the number of files, lines added and lines removed. `pack` is a
    file with all that the commit has and the base has not, which may soon be deleted; empty: there is none.
    """

    tip: str
    files: tuple[str, ...] = ()
    diffstat: tuple[int, int, int] = (0, 0, 0)
    empty: bool = False
    reverted_sources: tuple[str, ...] = ()
    pack: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """The author and message of a task's commit. `trailers` name the batch, the task and the attempt."""

    message: str
    trailers: tuple[tuple[str, str], ...] = ()
    name: str = ""
    email: str = ""


# Takes the path of a file in the repository. None if it is no source; otherwise a function of its text at the base and of the
# agent's text, which is returned with the base's statuses.
FindStatusRestorer = Callable[[str], Callable[[bytes, bytes], bytes] | None]


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """How to commit a result.

    No file may be larger than `max_file_bytes`, unless that is 0. `on_packed` gets the result as soon as it has a pack,
    before refs and the worktree's index are changed. It may not be called at all, or again if the capture is repeated.
    It is for machines from which results are sent elsewhere.
    """

    author: CommitInfo
    find_restorer: FindStatusRestorer
    hooks: bool = False
    max_file_bytes: int = 0
    on_packed: Callable[[CapturedChange], None] | None = None


@dataclass(frozen=True, slots=True)
class MergeMessage:
    """The message of a merge commit. `edit_files` changes files in the merged tree, such as statuses that the branch
    stores.
    """

    message: str
    trailers: tuple[tuple[str, str], ...] = ()
    edit_files: Callable[[Callable[[str], bytes | None]], Mapping[str, bytes]] | None = None


@dataclass(frozen=True, slots=True)
class KnownMerge:
    """A merge that the journal records as this commit. It was made with one of the messages."""

    change: Change
    commit: str
    messages: tuple[MergeMessage, ...]


@dataclass(frozen=True, slots=True)
class PredictedConflict:
    """Two changes that would conflict if both were merged as they are now."""

    left: str
    right: str
    files: tuple[str, ...]


class ConflictKind(StrEnum):
    """What the two sides did to a file."""

    CONTENT = "content"
    ADD_ADD = "add/add"
    MODIFY_DELETE = "modify/delete"
    RENAME = "rename"
    BINARY = "binary"
    FOLDER = "file/directory"
    MODE = "mode"
    SUBMODULE = "submodule"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ConflictedFile:
    """A file in conflict: `base`, `ours` (the branch's), `theirs` (the task's), and `merged` with both between markers.

    None: missing on that side, binary, or (then its name is in `truncated`) too long. `message` is git's note; `changed_by`
    are the tasks whose change of it is on the branch, the newest first. `has_sides`: either can be taken; `editable`: what is
    shown as `merged` can be edited.
    """

    path: str
    kind: ConflictKind
    message: str = ""
    binary: bool = False
    base: str | None = None
    ours: str | None = None
    theirs: str | None = None
    merged: str | None = None
    truncated: tuple[str, ...] = ()
    changed_by: tuple[str, ...] = ()
    has_sides: bool = True
    editable: bool = True
