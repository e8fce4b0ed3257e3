"""The files of a worktree as a tree, whatever its index says: what is tracked, and what is new and not ignored.

An index of our own is seeded from the worktree's, so that only what changed is read. A file that the index no longer
holds, and that is ignored, was untracked on purpose. Where a sparse checkout left files out, the index speaks for them.
The files of repositories inside (an agent's clone, or `git init`) are taken like any others; without that, git would
record a commit that exists nowhere else. What outfitting put there is left out, unless the base has it.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from plait.core.frozen import dataclass
from plait.site.capture.worktree import CHOICE, Worktree
from plait.site.git import Git

_TRACKED = b"H"
_SKIPPED = b"Ss"
# Stands for a folder with a repository in it, so that git looks inside; it is no file, and so goes again.
_INSIDE = ".plait-inside"
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`git` uses the index that holds it."""

    tree: str
    index: Path
    git: Git


def look(worktree: Worktree, room: Path, base: str) -> Snapshot:
    """The files as they are now. Neither the worktree's index nor any file is changed."""
    index = room / "index"
    git = worktree.git.with_(variables={"GIT_INDEX_FILE": str(index)})
    _hide_nothing(worktree.path, git, _seed(worktree, index, git, base))
    ours = outfitted(worktree.admin)
    new = [path for path in _untracked(git) if not _within(path, ours)]
    feed(git, [*_changed(worktree.path, git), *new], "--add", "--remove", "--replace")
    if ours:
        feed(git, _smuggled(git, ours, base), "--force-remove")
    return Snapshot(git.text("write-tree"), index, git)


def outfitted(admin: Path) -> tuple[str, ...]:
    """The paths that outfitting put into the worktree."""
    try:
        said = json.loads((admin / "plait-outfit").read_bytes())
    except (OSError, ValueError, RecursionError):
        return ()
    ours = said.get("ours") if isinstance(said, dict) else None
    paths = [path.strip("/") for path in ours if isinstance(path, str)] if isinstance(ours, list) else []
    return tuple(path for path in paths if path)


def feed(git: Git, paths: Iterable[str], *how: str) -> None:
    """Change the index at these paths."""
    told = "".join(f"{path}\0" for path in paths)
    if told:
        git.run("update-index", *how, "-z", "--stdin", feed=told.encode("utf-8", "surrogateescape"))


def _seed(worktree: Worktree, index: Path, git: Git, base: str) -> bytes:
    """What is in it. An index that can't be read tells nothing: the commit does."""
    listing = ("ls-files", "-v", "-z")
    with suppress(FileNotFoundError):
        # With its time: git looks again at files that are as new as the index.
        shutil.copy2(worktree.admin / "index", index)
        told = git.run(*listing, codes=(0, 128))
        if told.code == 0:
            return told.out
    index.unlink(missing_ok=True)
    git.run("read-tree", "--reset", worktree.commit("HEAD") or base)
    _leave_out(worktree, git)
    return git.run(*listing).out


def _leave_out(worktree: Worktree, git: Git) -> None:
    """What a sparse checkout does not want, as it says so: in the way in which ignored files are told."""
    wanted = worktree.admin / CHOICE
    sparse = git.run("config", "--type=bool", "--get", "core.sparseCheckout", codes=(0, 1, 128)).text
    if sparse == "true" and wanted.is_file():
        inside = set(git.run("ls-files", "-z", "--cached", "--ignored", f"--exclude-from={wanted}").words)
        feed(git, [path for path in git.run("ls-files", "-z").words if path not in inside], "--skip-worktree")


def _hide_nothing(top: Path, git: Git, told: bytes) -> None:
    """No file is exempt from being looked at; left out are only those of a sparse checkout, while they are not there."""
    marked = [line for line in told.split(b"\0") if line and not line.startswith(_TRACKED)]
    paths = [(line[:1], os.fsdecode(line[2:])) for line in marked]
    feed(git, [path for tag, path in paths if tag.islower()], "--no-assume-unchanged")
    feed(git, [path for tag, path in paths if tag in _SKIPPED and _there(top, path)], "--no-skip-worktree")


def _there(top: Path, path: str) -> bool:
    return os.path.lexists(top / path)


def _changed(top: Path, git: Git) -> list[str]:
    """The tracked files that differ from the index, once those that are not there any more are taken out of it."""
    found = dict.fromkeys(git.run("diff-files", "--name-only", "-z").words)
    held = [path for path in found if _holds(top, path)]
    feed(git, found.keys() - set(held), "--force-remove")
    return held


def _holds(top: Path, path: str) -> bool:
    """Whether git could hold what is there: no pipe, and nothing that is reached through a link."""
    file = top / path
    try:
        mode = file.lstat().st_mode
    except OSError:
        return False
    known = stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)
    return known and os.path.realpath(file.parent) == str(file.parent)


def _untracked(git: Git) -> list[str]:
    words = ("ls-files", "--others", "--exclude-standard", "-z")
    found = git.run(*words).words
    for _ in range(_DEEPEST):
        inside = [path for path in found if path.endswith("/")]
        if not inside:
            break
        blob = git.text("hash-object", "-t", "blob", "-w", "--stdin")
        rows = "".join(f"100644 {blob}\t{path}{_INSIDE}\0" for path in inside)
        git.run("update-index", "-z", "--index-info", feed=rows.encode("utf-8", "surrogateescape"))
        found = git.run(*words).words
    return [path for path in found if not path.endswith("/")]


def _within(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _smuggled(git: Git, ours: Sequence[str], base: str) -> list[str]:
    """What outfitting put there and an agent has committed, or staged."""
    held = git.run("ls-files", "-z", "--", *ours).words
    known = set(git.run("ls-tree", "-r", "-z", "--name-only", base, "--", *ours).words) if held else set()
    return [path for path in held if path not in known]
