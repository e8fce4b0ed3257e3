from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

from plait.core.decisions import MergeStarted, RebuildStarted
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.reports import MergeConflicted, MergeDone, RebuildDone
from plait.core.task import Attempt


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
    """The result of a task is not in the repository any more, so there is nothing to merge."""


@dataclass(frozen=True, slots=True)
class CapturedChange:
    """What an attempt left in its workspace, as the commit `tip`. `files` are all that differ from its base.

    `empty`: none does. `reverted_sources` are sources in which only statuses differed, which are plait's to write. `diffstat`
    is the number of files, lines added and lines removed.
    """

    tip: str
    files: tuple[str, ...] = ()
    diffstat: tuple[int, int, int] = (0, 0, 0)
    empty: bool = False
    reverted_sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """Author and message of a task's commit. `trailers` name the batch, the task and the attempt."""

    message: str
    trailers: tuple[tuple[str, str], ...] = ()
    name: str = ""
    email: str = ""


# An agent's text of a source, by its path in the repository, as the base had it: the same text with the base's statuses.
RestoreStatuses = Callable[[str, bytes, bytes], bytes]


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """How to commit a result. No file may be larger than `max_file_bytes`, unless that is 0."""

    author: CommitInfo
    restore: RestoreStatuses
    hooks: bool = False
    max_file_bytes: int = 0


class Workspaces(Protocol):
    """The worktrees in which tasks work on this machine. Thread-safe.

    A workspace is leased to its task until it is released. Every operation can be repeated, also after a crash. An agent's
    work is never lost: it is in a commit under refs/plait before anything is reset or removed.
    """

    def path(self, batch: str, task: str) -> str:
        """Where the task works, or the gate (task ""), whether or not it is there yet."""

    def prepare(self, batch: str, task: str, base: str, setup: WorkspaceSetup, *, top: str) -> str:
        """The path of the task's worktree on its own branch: new from `base`, or as its last attempt left it.

        `top` is the checkout that ignored files are copied from.
        """

    def capture(self, attempt: Attempt, base: str, options: CaptureOptions) -> CapturedChange:
        """Commit everything an attempt left on the task's branch and under the attempt's ref."""

    def preview_commit(self, batch: str, task: str, base: str) -> str | None:
        """What the task would leave if it stopped now, as a commit that no ref holds; None if nothing yet."""

    def reset(self, attempt: Attempt, tip: str) -> None:
        """After a check: reset the workspace to what was captured. What the check left is saved if it is work."""

    def checkout(self, batch: str, commit: str, setup: WorkspaceSetup, *, top: str) -> str:
        """The path of the batch's own worktree, at exactly this commit, for its gate."""

    def release(self, batch: str, task: str) -> None:
        """The task has ended: save what is not in a ref, and give the folder back."""

    def release_gate(self, batch: str) -> None:
        """The batch has ended: give its own worktree back."""

    def measure_disk_usage(self) -> int:
        """The size on disk of all workspaces of this repository, in bytes."""

    def trim_pool(self, keep: int = 0) -> None:
        """Remove pooled worktrees down to `keep`."""


@dataclass(frozen=True, slots=True)
class MergeMessage:
    """The message of a merge commit. `edit_files` changes files in the merged tree: statuses, where the branch holds them."""

    message: str
    trailers: tuple[tuple[str, str], ...] = ()
    edit_files: Callable[[Callable[[str], bytes | None]], Mapping[str, bytes]] | None = None


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
    are the tasks whose change of it is on the branch, the newest first.
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


class BranchMerger(Protocol):
    """Builds batch branches in memory; no checkout is touched. One call at a time for each batch.

    Repeating a call after a crash gives the same commit.
    """

    def merge(
        self, order: MergeStarted, branch: str, message: MergeMessage, rules: MergeRules
    ) -> MergeDone | MergeConflicted:
        """Merge the task's change onto the batch branch, whose name is `branch`.

        Raises ChangeGoneError if the change is gone, another WorldError if merging fails.
        """

    def rebuild(
        self, order: RebuildStarted, branch: str, base: str, messages: Mapping[str, MergeMessage], rules: MergeRules
    ) -> RebuildDone:
        """Rebuild the branch; the old one is kept under refs/plait/lines."""

    def describe_conflict(self, order: MergeStarted, rules: MergeRules) -> str:
        """Both sides of a conflict as text of bounded length, for the agent that resolves it."""

    def predict_conflicts(
        self, onto: str, tips: Mapping[str, tuple[str, str]], rules: MergeRules
    ) -> list[PredictedConflict]:
        """Which of these changes (base and tip by task) would conflict, with each other or with the branch (`right` "")."""
