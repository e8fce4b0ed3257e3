"""What an agent began with git and did not finish: a merge, a rebase, a cherry-pick, a revert, a bisection."""

from __future__ import annotations

import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from plait.core.errors import AgentError
from plait.site.capture.worktree import Worktree

_FOLDERS = {"rebase-merge": "rebase", "rebase-apply": "rebase", "sequencer": "cherry-pick"}
_FILES = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "REBASE_HEAD": "rebase",
    "BISECT_LOG": "bisection",
}
_TRACES = ("MERGE_MODE", "MERGE_MSG", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE", "SQUASH_MSG")
# Where commits are named that nothing else may reach: what a rebase started from, and what was put aside for it.
_PUT_ASIDE = (
    "MERGE_AUTOSTASH",
    "rebase-merge/autostash",
    "rebase-merge/orig-head",
    "rebase-apply/autostash",
    "rebase-apply/orig-head",
)
_MARKER = re.compile(rb"^(?:<{7,}|>{7,})(?: |\r?$)", re.MULTILINE)
_BINARY = 8000  # bytes that git looks at to tell
_SIDES = {"2", "3"}
_NAMED = 5


class UnfinishedError(AgentError):
    """The agent left conflicts; what it made is saved, and its workspace is as it left it."""


def operation(worktree: Worktree) -> str:
    """What is under way; empty if nothing is."""
    names = {**_FOLDERS, **_FILES}
    return next((what for name, what in names.items() if (worktree.admin / name).exists()), "")


def conflicts(worktree: Worktree) -> list[str]:
    """The files that git calls unmerged and that nobody has resolved."""
    said = worktree.git.run("ls-files", "--unmerged", "-z", codes=(0, 128))
    stages: dict[str, dict[str, str]] = {}
    for row in said.words if said.code == 0 else ():
        about, _, path = row.partition("\t")
        _, blob, stage = about.split()
        stages.setdefault(path, {})[stage] = blob
    return [path for path, blobs in stages.items() if _open(worktree, path, blobs)]


def edited_modules(worktree: Worktree) -> list[str]:
    """The submodules in which tracked files are changed and not committed: no commit of this repository can hold that."""
    if not (worktree.path / ".gitmodules").is_file():
        return []
    words = ("status", "--porcelain=v2", "-z", "--ignore-submodules=none", "--untracked-files=no")
    rows = worktree.git.run(*words, codes=(0, 128)).words
    found = (row.split(" ", 8) for row in rows if row.startswith("1 "))
    return [row[8] for row in found if len(row) == 9 and row[2].startswith("S") and "M" in row[2]]


def modules_error(modules: Sequence[str], saved: str | None) -> UnfinishedError:
    shown = ", ".join(modules[:_NAMED])
    kept = f" What it made is saved as {saved}." if saved else ""
    return UnfinishedError(
        f"what was changed in the submodule {shown} is not committed there, so it can't be part of the result",
        hint=f"Commit it in the submodule, where it can be pushed from.{kept}",
    )


def error(worktree: Worktree, files: Sequence[str], saved: str | None) -> UnfinishedError:
    shown = ", ".join(files[:_NAMED]) + (f" and {len(files) - _NAMED} more" if len(files) > _NAMED else "")
    what = operation(worktree) or "merge"
    hint = f"What it left is in {saved}." if saved else ""
    return UnfinishedError(f"the agent left a {what} unfinished, with conflicts in {shown}", hint=hint)


def merged(worktree: Worktree) -> list[str]:
    """The commits that an unfinished merge is with."""
    try:
        said = (worktree.admin / "MERGE_HEAD").read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError):
        return []
    return [commit for word in said if (commit := worktree.commit(word)) is not None]


def put_aside(worktree: Worktree) -> list[str]:
    """The commits that only the records of an unfinished operation name."""
    said = [worktree.line(name) for name in _PUT_ASIDE]
    return [commit for word in said if word and (commit := worktree.commit(word)) is not None]


def forget(worktree: Worktree) -> None:
    """Nothing is under way any more; files and index stay."""
    for path in _records(worktree.admin):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _records(admin: Path) -> Iterator[Path]:
    yield from (admin / name for name in (*_FOLDERS, *_FILES, *_TRACES))
    yield from admin.glob("BISECT_*")
    yield admin / "refs" / "bisect"


def _open(worktree: Worktree, path: str, blobs: Mapping[str, str]) -> bool:
    """Markers are left; or it is as one side had it, where git can't mark what is to be chosen: binary, or deleted there."""
    try:
        if not stat.S_ISREG((worktree.path / path).lstat().st_mode):
            return False
        data = (worktree.path / path).read_bytes()
    except OSError:
        return False  # deleted, or something else by now
    if _MARKER.search(data):
        return True
    if blobs.keys() >= _SIDES and b"\0" not in data[:_BINARY]:
        return False
    return worktree.git.text("hash-object", "--", path) in blobs.values()
